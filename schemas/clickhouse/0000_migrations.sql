-- What a migration itself stands on: it is applied under a hold and written down. So these statements run before every migration,
-- without a hold, and do nothing where their tables exist.

-- A fence row says who may write a partition: of a partition's rows the greatest (epoch, owner) counts. Memory on purpose: a restart
-- of the server takes all fences down, so every writer recovers after it.
CREATE TABLE IF NOT EXISTS fences {{onCluster}}
(
    topic     LowCardinality(String),
    partition UInt32,
    epoch     UInt64,
    owner     String,                 -- a random id of one attempt; '<holder>/<attempt>' when held
    held      Bool,
    since     DateTime64(3, 'UTC')
)
ENGINE = Memory;

-- The steps of the schema that this database has taken. All of them, once each, in the order of their versions.
CREATE TABLE IF NOT EXISTS migrations {{onCluster}}
(
    version    UInt32,
    name       String,
    sha256     String,                -- of its statements, hex: a released one never changes
    applied_at DateTime64(3, 'UTC')
)
ENGINE = {{engine "ReplacingMergeTree"}}
ORDER BY (version, sha256)
SETTINGS {{durable}};
