-- The approved budget and what a person entered as still to be contracted.

CREATE TABLE IF NOT EXISTS budget_rows {{onCluster}}
(
    tenant        LowCardinality(String),
    project       String,
    id            String,
    row_version   UInt64,
    deleted       Bool,
    at            DateTime64(6, 'UTC'),
    kind          LowCardinality(String),   -- initial, addendum
    node_id       String,                   -- '' when none
    currency      LowCardinality(String),
    value         Int64,
    status        LowCardinality(String),   -- draft, approved, rejected
    src_partition UInt32,
    src_offset    UInt64,
    batch_first   UInt64,
    key_hash      UInt32,
    content_hash  UInt64,
    moved         Bool,
    `before.position` Array(Int64),
    `before.node`     Array(String),
    `before.currency` Array(String),
    `before.value`    Array(Int64),
    `before.count`    Array(Int64),
    `after.position`  Array(Int64),
    `after.node`      Array(String),
    `after.currency`  Array(String),
    `after.value`     Array(Int64),
    `after.count`     Array(Int64)
)
ENGINE = {{engine "ReplacingMergeTree" "row_version"}}
ORDER BY (tenant, project, id)
SETTINGS {{durable}}, {{small}};

CREATE TABLE IF NOT EXISTS budget_transfers {{onCluster}}
(
    tenant        LowCardinality(String),
    project       String,
    id            String,
    row_version   UInt64,
    deleted       Bool,
    at            DateTime64(6, 'UTC'),
    from_node_id  String,                   -- '' when none
    to_node_id    String,                   -- '' when none
    currency      LowCardinality(String),
    value         Int64,
    status        LowCardinality(String),   -- draft, approved, rejected
    src_partition UInt32,
    src_offset    UInt64,
    batch_first   UInt64,
    key_hash      UInt32,
    content_hash  UInt64,
    moved         Bool,
    `before.position` Array(Int64),
    `before.node`     Array(String),
    `before.currency` Array(String),
    `before.value`    Array(Int64),
    `before.count`    Array(Int64),
    `after.position`  Array(Int64),
    `after.node`      Array(String),
    `after.currency`  Array(String),
    `after.value`     Array(Int64),
    `after.count`     Array(Int64)
)
ENGINE = {{engine "ReplacingMergeTree" "row_version"}}
ORDER BY (tenant, project, id)
SETTINGS {{durable}}, {{small}};

CREATE TABLE IF NOT EXISTS uncommitted_entries {{onCluster}}
(
    tenant        LowCardinality(String),
    project       String,
    id            String,
    row_version   UInt64,
    deleted       Bool,
    at            DateTime64(6, 'UTC'),
    node_id       String,
    currency      LowCardinality(String),   -- '' when withdrawn
    value         Nullable(Int64),          -- null when withdrawn
    src_partition UInt32,
    src_offset    UInt64,
    batch_first   UInt64,
    key_hash      UInt32,
    content_hash  UInt64,
    moved         Bool
)
ENGINE = {{engine "ReplacingMergeTree" "row_version"}}
ORDER BY (tenant, project, id)
SETTINGS {{durable}}, {{small}};

-- Approved budget rows.
CREATE TABLE IF NOT EXISTS budget_sums {{onCluster}}
(
    tenant   LowCardinality(String),
    project  String,
    node     String,                        -- '' when none
    currency LowCardinality(String),
    position Int128,
    value    Int128,
    count    Int128                         -- rows
)
ENGINE = {{engine "SummingMergeTree" "(position, value, count)"}}
ORDER BY (tenant, project, node, currency)
SETTINGS {{durable}}, {{small}};

-- Approved transfers: each takes from one node and gives to another.
CREATE TABLE IF NOT EXISTS transfer_sums {{onCluster}}
(
    tenant   LowCardinality(String),
    project  String,
    node     String,                        -- '' for a side that names none
    currency LowCardinality(String),
    position Int128,
    value    Int128,
    count    Int128                         -- sides of transfers
)
ENGINE = {{engine "SummingMergeTree" "(position, value, count)"}}
ORDER BY (tenant, project, node, currency)
SETTINGS {{durable}}, {{small}};

{{view "budget_sums"}}

{{view "transfer_sums"}}
