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
    delta Array(Tuple(
        tenant String, project String, keys String,
        amount1 Int64, amount2 Int64, amount3 Int64, amount4 Int64)),
    CONSTRAINT position_row_moves_its_view CHECK tenant != '' OR notEmpty(delta) AND delta[1].project = concat('#budget_rows/', substring(project, 2)),
    CONSTRAINT only_position_rows_carry_sums CHECK tenant = '' OR empty(delta)
)
ENGINE = {{engine "ReplacingMergeTree" "row_version"}}
ORDER BY (tenant, project, id)
SETTINGS {{durable}}, old_parts_lifetime = 60, max_parts_to_merge_at_once = 15, index_granularity_bytes = 1048576;

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
    delta Array(Tuple(
        tenant String, project String, keys String,
        amount1 Int64, amount2 Int64, amount3 Int64, amount4 Int64)),
    CONSTRAINT position_row_moves_its_view CHECK tenant != '' OR notEmpty(delta) AND delta[1].project = concat('#budget_transfers/', substring(project, 2)),
    CONSTRAINT only_position_rows_carry_sums CHECK tenant = '' OR empty(delta)
)
ENGINE = {{engine "ReplacingMergeTree" "row_version"}}
ORDER BY (tenant, project, id)
SETTINGS {{durable}}, old_parts_lifetime = 60, max_parts_to_merge_at_once = 15, index_granularity_bytes = 1048576;

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
SETTINGS {{durable}}, old_parts_lifetime = 60, index_granularity = 128;

CREATE MATERIALIZED VIEW IF NOT EXISTS budget_rows_sums {{onCluster}} TO sums AS
SELECT
    d.tenant AS tenant,
    d.project AS project,
    d.keys AS keys,
    if(d.tenant = '', toInt128(row_version) - toInt128(batch_first), d.amount1) AS amount1,
    if(d.tenant = '', toInt128(row_version) * row_version - toInt128(batch_first) * batch_first, d.amount2) AS amount2,
    d.amount3 AS amount3,
    d.amount4 AS amount4
FROM (SELECT row_version, batch_first, arrayJoin(delta) AS d FROM budget_rows WHERE tenant = '');

CREATE MATERIALIZED VIEW IF NOT EXISTS budget_transfers_sums {{onCluster}} TO sums AS
SELECT
    d.tenant AS tenant,
    d.project AS project,
    d.keys AS keys,
    if(d.tenant = '', toInt128(row_version) - toInt128(batch_first), d.amount1) AS amount1,
    if(d.tenant = '', toInt128(row_version) * row_version - toInt128(batch_first) * batch_first, d.amount2) AS amount2,
    d.amount3 AS amount3,
    d.amount4 AS amount4
FROM (SELECT row_version, batch_first, arrayJoin(delta) AS d FROM budget_transfers WHERE tenant = '');
