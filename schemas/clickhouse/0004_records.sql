-- Records (invoices and accruals).

CREATE TABLE IF NOT EXISTS records {{onCluster}}
(
    tenant              LowCardinality(String),
    project             String,
    id                  String,
    row_version         UInt64,
    deleted             Bool,
    at                  DateTime64(6, 'UTC'),
    source              LowCardinality(String),
    direction           LowCardinality(String),
    status              LowCardinality(String),   -- setup, approvalPending, paymentPending, paid, rejected
    workflow_step       Nullable(String),
    contractor_id       String,                   -- '' when none
    counterparty_name   Nullable(String),         -- as captured; the contractor's own name goes before it
    invoice_number      Nullable(String),
    recognition_date    Nullable(Date32),
    due_date            Nullable(Date32),
    paid_at             Nullable(DateTime64(6, 'UTC')),
    given_cash_date     Nullable(Date32),         -- as delivered
    cash_date           Nullable(Date32),         -- the payment date in Vienna, only when paid
    currency            LowCardinality(String),   -- '' when none
    net                 Nullable(Int64),
    tax                 Nullable(Int64),
    gross               Nullable(Int64),          -- as delivered
    allocation_node     Array(String),            -- '' when the allocation names none
    allocation_net      Array(Int64),             -- 0 while net is null
    contract_id         String,                   -- '' when none
    certified           Bool,
    certified_codes     String,                   -- JSON array as in the event
    certified_keys      Array(String),            -- 'system:code' of each certified code
    documents           String,                   -- JSON array as in the event
    channel             LowCardinality(String),
    intake_status       LowCardinality(String),   -- '' when nothing needed processing
    received_at         Nullable(DateTime64(6, 'UTC')),
    src_partition       UInt32,
    src_offset          UInt64,
    batch_first         UInt64,
    key_hash            UInt32,
    content_hash        UInt64,
    moved               Bool,
    delta Array(Tuple(
        tenant String, project String, keys String,
        amount1 Int64, amount2 Int64, amount3 Int64, amount4 Int64)),
    INDEX invoice_number_bloom invoice_number TYPE bloom_filter(0.01) GRANULARITY 1,
    PROJECTION by_id (SELECT tenant, id, project, row_version ORDER BY tenant, id),
    CONSTRAINT position_row_moves_its_view CHECK tenant != '' OR notEmpty(delta) AND delta[1].project = concat('#records/', substring(project, 2)),
    CONSTRAINT only_position_rows_carry_sums CHECK tenant = '' OR empty(delta)
)
ENGINE = {{engine "ReplacingMergeTree" "row_version"}}
ORDER BY (tenant, project, id)
SETTINGS {{durable}}, old_parts_lifetime = 60, max_parts_to_merge_at_once = 15, index_granularity_bytes = 1048576, index_granularity = 1024,
    min_bytes_for_wide_part = 268435456, merge_selector_base = 10, deduplicate_merge_projection_mode = 'rebuild';

CREATE MATERIALIZED VIEW IF NOT EXISTS records_sums {{onCluster}} TO sums AS
SELECT
    d.tenant AS tenant,
    d.project AS project,
    d.keys AS keys,
    if(d.tenant = '', toInt128(row_version) - toInt128(batch_first), d.amount1) AS amount1,
    if(d.tenant = '', toInt128(row_version) * row_version - toInt128(batch_first) * batch_first, d.amount2) AS amount2,
    d.amount3 AS amount3,
    d.amount4 AS amount4
FROM (SELECT row_version, batch_first, arrayJoin(delta) AS d FROM records WHERE tenant = '');
