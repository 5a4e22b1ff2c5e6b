-- Leases. What a lease puts into the sums are the runs of months in which its terms stay the same (roll rent), so that the rent roll of a
-- month reads those that touch it. Which lease, up to which month and how long it is secured tell these sums apart.

CREATE TABLE IF NOT EXISTS leases {{onCluster}}
(
    tenant                  LowCardinality(String),
    project                 String,
    id                      String,
    row_version             UInt64,
    deleted                 Bool,
    at                      DateTime64(6, 'UTC'),
    category                LowCardinality(String), -- main, other
    counterparty_name       Nullable(String),
    status                  LowCardinality(String), -- draft, signed, active, ended
    unit_ids                Array(String),
    start_date              Date32,
    end_date                Nullable(Date32),       -- null: indefinite
    effective_end           Nullable(Date32),       -- end_date, or the break that was exercised before it
    currency                LowCardinality(String),
    monthly_rent            Int64,
    step_from               Array(Date32),          -- in the order of the event, as all lists
    step_monthly_rent       Array(Int64),
    rent_free_from          Array(Date32),
    rent_free_to            Array(Date32),
    break_date              Array(Date32),
    break_party             Array(String),          -- tenant, landlord, both
    break_state             Array(String),          -- open, exercised, waived
    indexation_type         LowCardinality(String), -- none, fixed, cpi; '' when not given
    indexation_rate_bp      String,                 -- decimals, here and below; '' when the type has none
    indexation_first_on     Nullable(Date32),
    indexation_every_months Int64,                  -- 0 when the type has none
    indexation_series       LowCardinality(String),
    indexation_base_month   LowCardinality(String),
    indexation_threshold_bp String,
    indexation_lag_months   Int64,
    indexation_share_bp     String,
    indexation_cap_bp       Nullable(String),
    indexation_floor_bp     Nullable(String),
    indexation_text         Nullable(String),
    src_partition           UInt32,
    src_offset              UInt64,
    batch_first             UInt64,
    key_hash                UInt32,
    content_hash            UInt64,
    moved                   Bool,
    delta Array(Tuple(
        tenant String, project String, keys String,
        amount1 Int64, amount2 Int64, amount3 Int64, amount4 Int64)),
    CONSTRAINT position_row_moves_its_view CHECK tenant != '' OR notEmpty(delta) AND delta[1].project = concat('#leases/', substring(project, 2)),
    CONSTRAINT only_position_rows_carry_sums CHECK tenant = '' OR empty(delta)
)
ENGINE = {{engine "ReplacingMergeTree" "row_version"}}
ORDER BY (tenant, project, id)
SETTINGS {{durable}}, old_parts_lifetime = 60, max_parts_to_merge_at_once = 15, index_granularity_bytes = 1048576, index_granularity = 1024;

CREATE MATERIALIZED VIEW IF NOT EXISTS leases_sums {{onCluster}} TO sums AS
SELECT
    d.tenant AS tenant,
    d.project AS project,
    d.keys AS keys,
    if(d.tenant = '', toInt128(row_version) - toInt128(batch_first), d.amount1) AS amount1,
    if(d.tenant = '', toInt128(row_version) * row_version - toInt128(batch_first) * batch_first, d.amount2) AS amount2,
    d.amount3 AS amount3,
    d.amount4 AS amount4
FROM (SELECT row_version, batch_first, arrayJoin(delta) AS d FROM leases WHERE tenant = '');
