-- Records (invoices and accruals). before.* and after.* are what the record put into the views before this change (sums negated) and
-- what it puts there after it: one entry per allocation, one for a record that is not allocated.

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
    `before.position`          Array(Int64),
    `before.node`              Array(String),
    `before.contract`          Array(String),
    `before.contractor`        Array(String),
    `before.currency`          Array(String),
    `before.status`            Array(String),
    `before.source`            Array(String),
    `before.direction`         Array(String),
    `before.cash_month`        Array(String),   -- YYYY-MM, '' when none
    `before.recognition_month` Array(String),   -- YYYY-MM, '' when none
    `before.net`               Array(Int64),
    `before.tax`               Array(Int64),
    `before.gross`             Array(Int64),
    `before.count`             Array(Int64),
    `before.allocations`       Array(Int64),
    `after.position`           Array(Int64),
    `after.node`               Array(String),
    `after.contract`           Array(String),
    `after.contractor`         Array(String),
    `after.currency`           Array(String),
    `after.status`             Array(String),
    `after.source`             Array(String),
    `after.direction`          Array(String),
    `after.cash_month`         Array(String),
    `after.recognition_month`  Array(String),
    `after.net`                Array(Int64),
    `after.tax`                Array(Int64),
    `after.gross`              Array(Int64),
    `after.count`              Array(Int64),
    `after.allocations`        Array(Int64),
    INDEX id_bloom id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX invoice_number_bloom invoice_number TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {{engine "ReplacingMergeTree" "row_version"}}
ORDER BY (tenant, project, id)
SETTINGS {{durable}}, {{small}}, index_granularity = 1024;
