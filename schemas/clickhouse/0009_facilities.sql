-- Loans. A loan may finance several projects, so it belongs to none of them: its project is ''. Fixings and entries are read by their
-- loan: there the column project holds the facilityId, also in what entries put into the sums.

CREATE TABLE IF NOT EXISTS facilities {{onCluster}}
(
    tenant                LowCardinality(String),
    project               String,                 -- always ''
    id                    String,
    row_version           UInt64,
    deleted               Bool,
    at                    DateTime64(6, 'UTC'),
    project_ids           Array(String),          -- those that it finances
    lender                String,
    type                  LowCardinality(String),
    currency              LowCardinality(String),
    commitment            Int64,
    revolving             Bool,
    availability_from     Date32,
    availability_to       Date32,
    maturity              Date32,
    day_count             LowCardinality(String), -- ACT/360, ACT/365, 30/360
    reference_rate        String,
    margin_bp             String,                 -- decimals, here and below
    floor_bp              Nullable(String),
    floor_on              LowCardinality(String), -- '' when not given
    fixed_rate_bp         Nullable(String),
    margin_step_from      Array(Date32),          -- in the order of the event
    margin_step_margin_bp Array(String),
    commitment_fee_bp     String,
    interest_treatment    LowCardinality(String),
    first_ipd             Nullable(Date32),
    ipd_every_months      Int64,                  -- 0 when not given
    has_ipds              Bool,                   -- whether dates are given, and be it none
    ipds                  Array(Date32),
    src_partition         UInt32,
    src_offset            UInt64,
    batch_first           UInt64,
    key_hash              UInt32,
    content_hash          UInt64,
    moved                 Bool
)
ENGINE = {{engine "ReplacingMergeTree" "row_version"}}
ORDER BY (tenant, project, id)
SETTINGS {{durable}}, old_parts_lifetime = 60;

CREATE TABLE IF NOT EXISTS fixings {{onCluster}}
(
    tenant        LowCardinality(String),
    project       String, -- the facility
    id            String,
    row_version   UInt64,
    deleted       Bool,
    at            DateTime64(6, 'UTC'),
    period_start  Date32,
    reference_bp  String, -- decimal
    src_partition UInt32,
    src_offset    UInt64,
    batch_first   UInt64,
    key_hash      UInt32,
    content_hash  UInt64,
    moved         Bool
)
ENGINE = {{engine "ReplacingMergeTree" "row_version"}}
ORDER BY (tenant, project, id)
SETTINGS {{durable}}, old_parts_lifetime = 60, index_granularity = 1024;

CREATE TABLE IF NOT EXISTS facility_entries {{onCluster}}
(
    tenant        LowCardinality(String),
    project       String,                 -- the facility
    id            String,                 -- the entryId
    row_version   UInt64,
    deleted       Bool,
    at            DateTime64(6, 'UTC'),
    kind          LowCardinality(String), -- drawdown, interest, repayment
    status        LowCardinality(String), -- planned, requested, funded
    date          Date32,                 -- the value date
    value         Int64,                  -- minor units of the facility's currency, above 0
    src_partition UInt32,
    src_offset    UInt64,
    batch_first   UInt64,
    key_hash      UInt32,
    content_hash  UInt64,
    moved         Bool,
    delta Array(Tuple(
        tenant String, project String, keys String,
        amount1 Int64, amount2 Int64, amount3 Int64, amount4 Int64)),
    CONSTRAINT position_row_moves_its_view CHECK tenant != '' OR notEmpty(delta) AND delta[1].project = concat('#facility_entries/', substring(project, 2)),
    CONSTRAINT only_position_rows_carry_sums CHECK tenant = '' OR empty(delta)
)
ENGINE = {{engine "ReplacingMergeTree" "row_version"}}
ORDER BY (tenant, project, id)
SETTINGS {{durable}}, old_parts_lifetime = 60, max_parts_to_merge_at_once = 15, index_granularity_bytes = 1048576, index_granularity = 1024;

CREATE MATERIALIZED VIEW IF NOT EXISTS facility_entries_sums {{onCluster}} TO sums AS
SELECT
    d.tenant AS tenant,
    d.project AS project,
    d.keys AS keys,
    if(d.tenant = '', toInt128(row_version) - toInt128(batch_first), d.amount1) AS amount1,
    if(d.tenant = '', toInt128(row_version) * row_version - toInt128(batch_first) * batch_first, d.amount2) AS amount2,
    d.amount3 AS amount3,
    d.amount4 AS amount4
FROM (SELECT row_version, batch_first, arrayJoin(delta) AS d FROM facility_entries WHERE tenant = '');
