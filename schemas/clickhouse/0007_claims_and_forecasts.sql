-- Expected claims, and the forecasts frozen at a month's end.

CREATE TABLE IF NOT EXISTS claims {{onCluster}}
(
    tenant         LowCardinality(String),
    project        String,
    id             String,
    row_version    UInt64,
    deleted        Bool,
    at             DateTime64(6, 'UTC'),
    contract_id    String,                  -- '' when none
    node_id        String,                  -- '' when none
    currency       LowCardinality(String),
    value          Int64,
    probability_bp String,                  -- decimal, 0 to 10000
    status         LowCardinality(String),  -- open, closed
    src_partition  UInt32,
    src_offset     UInt64,
    batch_first    UInt64,
    key_hash       UInt32,
    content_hash   UInt64,
    moved          Bool,
    `before.position` Array(Int64),
    `before.node`     Array(String),
    `before.currency` Array(String),
    `before.pending`  Array(Int64),
    `before.count`    Array(Int64),
    `after.position`  Array(Int64),
    `after.node`      Array(String),
    `after.currency`  Array(String),
    `after.pending`   Array(Int64),
    `after.count`     Array(Int64)
)
ENGINE = {{engine "ReplacingMergeTree" "row_version"}}
ORDER BY (tenant, project, id)
SETTINGS {{durable}}, {{small}};

-- Open claims.
CREATE TABLE IF NOT EXISTS claim_sums {{onCluster}}
(
    tenant   LowCardinality(String),
    project  String,
    node     String,                        -- '' when none
    currency LowCardinality(String),
    position Int128,
    pending  Int128,                        -- amount times probability, rounded claim by claim
    count    Int128                         -- claims
)
ENGINE = {{engine "SummingMergeTree" "(position, pending, count)"}}
ORDER BY (tenant, project, node, currency)
SETTINGS {{durable}}, {{small}};

{{view "claim_sums"}}

-- Lists read the heads of a project's snapshots; only the lines of those that are shown.
CREATE TABLE IF NOT EXISTS forecast_snapshots {{onCluster}}
(
    tenant                     LowCardinality(String),
    project                    String,
    id                         String,
    row_version                UInt64,
    deleted                    Bool,
    at                         DateTime64(6, 'UTC'),
    month                      LowCardinality(String),  -- YYYY-MM
    version                    Int64,                   -- of the snapshot within its month, not of the entity
    status                     LowCardinality(String),
    submitted_at               Nullable(DateTime64(6, 'UTC')),
    decided_at                 Nullable(DateTime64(6, 'UTC')),
    line_node                  Array(String),
    line_parent                Array(String),           -- '' for a top line
    line_level                 Array(String),
    line_code                  Array(String),
    line_name                  Array(String),
    line_budget                Array(Int64),
    line_committed             Array(Int64),
    line_pending_changes       Array(Int64),
    line_uncommitted           Array(Int64),
    line_uncommitted_defaulted Array(Bool),
    line_invoiced              Array(Int64),
    line_paid                  Array(Int64),
    explanation_node           Array(String),
    explanation_reason         Array(String),
    src_partition              UInt32,
    src_offset                 UInt64,
    batch_first                UInt64,
    key_hash                   UInt32,
    content_hash               UInt64,
    moved                      Bool
)
ENGINE = {{engine "ReplacingMergeTree" "row_version"}}
ORDER BY (tenant, project, id)
SETTINGS {{durable}}, {{small}};
