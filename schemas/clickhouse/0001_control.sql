-- What the ingest protocol needs beside the ledger's own tables (docs/architecture.md).

-- Which stream this database follows, per topic. The row of the greatest revision counts.
CREATE TABLE IF NOT EXISTS streams {{onCluster}}
(
    topic      LowCardinality(String),
    revision   UInt64,
    cluster_id String,                -- of the Kafka cluster
    topic_id   String,                -- Kafka's UUID: a topic made anew has another
    partitions UInt32,
    begins     Array(UInt64),         -- where each partition's log began when the database began to follow it
    server     String,                -- serverUUID() of the ClickHouse server that holds this database
    shard      UInt32,                -- this shard's number, from 0
    shards     UInt32,
    schema     UInt32,                -- the newest migration when this was written
    formula    String,                -- digest of the rule by which contributions are computed, '' for a table without any
    life       String,                -- random; new with every rebuild, resize, adoption and change of formula
    work       String,                -- the command in progress, '' when none
    worker     String,                -- whose
    since      DateTime64(3, 'UTC')   -- since when
)
ENGINE = {{engine "MergeTree"}}
ORDER BY (topic, revision)
SETTINGS {{durable}};

-- Offsets that the log no longer had when a writer came to them.
CREATE TABLE IF NOT EXISTS gaps {{onCluster}}
(
    topic       LowCardinality(String),
    partition   UInt32,
    from_offset UInt64,               -- the position before the gap
    to_offset   UInt64,               -- the log's start behind it
    found_at    DateTime64(3, 'UTC')
)
ENGINE = {{engine "ReplacingMergeTree" "found_at"}}
ORDER BY (topic, partition, from_offset, to_offset)
SETTINGS {{durable}};

-- Keys that encrypt the cursors of lists: made once, shared by every instance of the API.
CREATE TABLE IF NOT EXISTS cursor_keys {{onCluster}}
(
    id         UInt32,
    secret     String,                -- 32 bytes, hex
    created_at DateTime64(3, 'UTC')
)
ENGINE = {{engine "ReplacingMergeTree"}}
ORDER BY (id, secret)
SETTINGS {{durable}};
