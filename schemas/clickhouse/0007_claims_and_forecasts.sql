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
    delta Array(Tuple(
        tenant String, project String, keys String,
        amount1 Int64, amount2 Int64, amount3 Int64, amount4 Int64)),
    CONSTRAINT position_row_moves_its_view CHECK tenant != '' OR notEmpty(delta) AND delta[1].project = concat('#claims/', substring(project, 2)),
    CONSTRAINT only_position_rows_carry_sums CHECK tenant = '' OR empty(delta)
)
ENGINE = {{engine "ReplacingMergeTree" "row_version"}}
ORDER BY (tenant, project, id)
SETTINGS {{durable}}, old_parts_lifetime = 60, max_parts_to_merge_at_once = 15, index_granularity_bytes = 1048576;

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
    totals                     Array(Int128) MATERIALIZED arrayMap( -- of the top lines, so that a list of snapshots reads no lines
        amounts -> arraySum(arrayMap((value, parent) -> if(parent = '', toInt128(value), toInt128(0)), amounts, line_parent)),
        [line_budget, line_committed, line_pending_changes, line_uncommitted, line_invoiced, line_paid]),
    src_partition              UInt32,
    src_offset                 UInt64,
    batch_first                UInt64,
    key_hash                   UInt32,
    content_hash               UInt64,
    moved                      Bool
)
ENGINE = {{engine "ReplacingMergeTree" "row_version"}}
ORDER BY (tenant, project, id)
SETTINGS {{durable}}, old_parts_lifetime = 60;

CREATE MATERIALIZED VIEW IF NOT EXISTS claims_sums {{onCluster}} TO sums AS
SELECT
    d.tenant AS tenant,
    d.project AS project,
    d.keys AS keys,
    if(d.tenant = '', toInt128(row_version) - toInt128(batch_first), d.amount1) AS amount1,
    if(d.tenant = '', toInt128(row_version) * row_version - toInt128(batch_first) * batch_first, d.amount2) AS amount2,
    d.amount3 AS amount3,
    d.amount4 AS amount4
FROM (SELECT row_version, batch_first, arrayJoin(delta) AS d FROM claims WHERE tenant = '');
