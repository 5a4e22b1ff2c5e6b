-- Roll-ups of the records. A record without net counts in no amount: its currency here is '' and its sums are 0.

CREATE TABLE IF NOT EXISTS record_sums {{onCluster}}
(
    tenant      LowCardinality(String),
    project     String,
    contract    String,
    contractor  String,
    node        String,
    currency    LowCardinality(String),
    status      LowCardinality(String),
    source      LowCardinality(String),
    cash_month  LowCardinality(String),
    position    Int128,
    net         Int128,
    tax         Int128,
    gross       Int128,
    count       Int128,      -- records, each on its first allocation
    allocations Int128       -- allocations, or 1 for a record without any
)
ENGINE = {{engine "SummingMergeTree" "(position, net, tax, gross, count, allocations)"}}
ORDER BY (tenant, project, contract, contractor, node, currency, status, source, cash_month)
SETTINGS {{durable}}, {{small}};

CREATE TABLE IF NOT EXISTS record_months {{onCluster}}
(
    tenant            LowCardinality(String),
    project           String,
    node              String,
    currency          LowCardinality(String),
    status            LowCardinality(String),
    source            LowCardinality(String),
    recognition_month LowCardinality(String),
    position          Int128,
    net               Int128,
    tax               Int128,
    gross             Int128,
    count             Int128,
    allocations       Int128
)
ENGINE = {{engine "SummingMergeTree" "(position, net, tax, gross, count, allocations)"}}
ORDER BY (tenant, project, node, currency, status, source, recognition_month)
SETTINGS {{durable}}, {{small}};

{{view "record_sums"}}

{{view "record_months"}}
