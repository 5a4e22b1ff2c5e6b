-- Contracts with their change orders. What a contract puts into the views are its lines and what is pending.

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
    `before.position`   Array(Int64),
    `before.contract`   Array(String),
    `before.line`       Array(String),
    `before.node`       Array(String),
    `before.currency`   Array(String),
    `before.status`     Array(String),
    `before.base`       Array(Int64),
    `before.committed`  Array(Int64),
    `before.pending`    Array(Int64),
    `before.lines`      Array(Int64),
    `after.position`    Array(Int64),
    `after.contract`    Array(String),
    `after.line`        Array(String),
    `after.node`        Array(String),
    `after.currency`    Array(String),
    `after.status`      Array(String),
    `after.base`        Array(Int64),
    `after.committed`   Array(Int64),
    `after.pending`     Array(Int64),
    `after.lines`       Array(Int64),
    INDEX id_bloom id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {{engine "ReplacingMergeTree" "row_version"}}
ORDER BY (tenant, project, id)
SETTINGS {{durable}}, {{small}}, index_granularity = 1024;

-- The lines of contracts, and what is pending on nodes.
CREATE TABLE IF NOT EXISTS contract_sums {{onCluster}}
(
    tenant    LowCardinality(String),
    project   String,
    contract  String,
    line      String,                          -- place among the contract's lines, 00001 and on; '' for what is pending
    node      String,                          -- '' when none
    currency  LowCardinality(String),
    status    LowCardinality(String),          -- of the contract
    position  Int128,
    base      Int128,                          -- base allocations
    committed Int128,                          -- base allocations and approved amendments
    pending   Int128,                          -- increases of pending amendments
    lines     Int128                           -- 1 for a line, also when its sums are 0
)
ENGINE = {{engine "SummingMergeTree" "(position, base, committed, pending, lines)"}}
ORDER BY (tenant, project, contract, line, node, currency, status)
SETTINGS {{durable}}, {{small}};

{{view "contract_sums"}}

-- What a contract is invoiced, and what is invoiced on a budget line: the same for 10,000 and 1,000,000 records.
CREATE TABLE IF NOT EXISTS record_lines {{onCluster}}
(
    tenant      LowCardinality(String),
    project     String,
    contract    String,                        -- '' when none
    node        String,                        -- '' when none
    currency    LowCardinality(String),        -- '' without a net
    status      LowCardinality(String),
    source      LowCardinality(String),
    position    Int128,
    net         Int128,
    tax         Int128,
    gross       Int128,
    count       Int128,                        -- records, each on its first allocation
    allocations Int128                         -- allocations, or 1 for a record without any
)
ENGINE = {{engine "SummingMergeTree" "(position, net, tax, gross, count, allocations)"}}
ORDER BY (tenant, project, contract, node, currency, status, source)
SETTINGS {{durable}}, {{small}};

{{view "record_lines"}}

-- Which contractors records refer to.
CREATE TABLE IF NOT EXISTS record_contractors {{onCluster}}
(
    tenant     LowCardinality(String),
    project    String,
    contractor String,                         -- '' when none
    position   Int128,
    count      Int128                          -- records
)
ENGINE = {{engine "SummingMergeTree" "(position, count)"}}
ORDER BY (tenant, project, contractor)
SETTINGS {{durable}}, {{small}};

{{view "record_contractors"}}

-- Finds the records of one contract.
ALTER TABLE records {{onCluster}} ADD INDEX IF NOT EXISTS contract_bloom contract_id TYPE bloom_filter(0.01) GRANULARITY 1;
