-- Contracts with their change orders. What a contract puts into the sums are its lines and what is pending.

CREATE TABLE IF NOT EXISTS contracts {{onCluster}}
(
    tenant           LowCardinality(String),
    project          String,
    id               String,
    row_version      UInt64,
    deleted          Bool,
    at               DateTime64(6, 'UTC'),
    name             Nullable(String),
    contractor_id    String,                   -- '' when none
    status           LowCardinality(String),
    start_date       Nullable(Date32),
    end_date         Nullable(Date32),
    currency         LowCardinality(String),
    allocation_node  Array(String),            -- the base contract
    allocation_value Array(Int64),
    amendment_id     Array(String),            -- in the order of the event
    amendment_node   Array(String),            -- '' when none
    amendment_value  Array(Int64),
    amendment_status Array(String),
    amendment_date   Array(Nullable(Date32)),
    amendment_title  Array(Nullable(String)),
    src_partition    UInt32,
    src_offset       UInt64,
    batch_first      UInt64,
    key_hash         UInt32,
    content_hash     UInt64,
    moved            Bool,
    delta Array(Tuple(
        tenant String, project String, keys String,
        amount1 Int64, amount2 Int64, amount3 Int64, amount4 Int64)),
    PROJECTION by_id ( -- all that one contract is read with
        SELECT tenant, id, project, row_version, deleted, name, contractor_id, status, start_date, end_date, currency, allocation_node, allocation_value,
            amendment_id, amendment_node, amendment_value, amendment_status, amendment_date, amendment_title
        ORDER BY tenant, id),
    CONSTRAINT position_row_moves_its_view CHECK tenant != '' OR notEmpty(delta) AND delta[1].project = concat('#contracts/', substring(project, 2)),
    CONSTRAINT only_position_rows_carry_sums CHECK tenant = '' OR empty(delta)
)
ENGINE = {{engine "ReplacingMergeTree" "row_version"}}
ORDER BY (tenant, project, id)
SETTINGS {{durable}}, old_parts_lifetime = 60, max_parts_to_merge_at_once = 15, index_granularity_bytes = 1048576, index_granularity = 128,
    deduplicate_merge_projection_mode = 'rebuild';

CREATE MATERIALIZED VIEW IF NOT EXISTS contracts_sums {{onCluster}} TO sums AS
SELECT
    d.tenant AS tenant,
    d.project AS project,
    d.keys AS keys,
    if(d.tenant = '', toInt128(row_version) - toInt128(batch_first), d.amount1) AS amount1,
    if(d.tenant = '', toInt128(row_version) * row_version - toInt128(batch_first) * batch_first, d.amount2) AS amount2,
    d.amount3 AS amount3,
    d.amount4 AS amount4
FROM (SELECT row_version, batch_first, arrayJoin(delta) AS d FROM contracts WHERE tenant = '');
