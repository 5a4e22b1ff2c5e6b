-- What an operator without Tallyhouse would make: ClickHouse's own consumer, a table with the columns and the key of
-- records, and sums of all changes. It decodes a message less strictly, sends no dead letters, counts an update beside
-- what it replaces, and a restart may count messages twice.

CREATE DATABASE plain;

CREATE TABLE plain.stream
(
    id       String,
    tenantId String,
    version  UInt64,
    op       LowCardinality(String),
    at       DateTime64(6, 'UTC'),
    data     Tuple(
        projectId        String,
        source           LowCardinality(String),
        direction        LowCardinality(String),
        stepKind         LowCardinality(String),
        workflowStep     Nullable(String),
        contractorId     String,
        counterpartyName Nullable(String),
        invoiceNumber    Nullable(String),
        recognitionDate  Nullable(Date32),
        dueDate          Nullable(Date32),
        paidAt           Nullable(DateTime64(6, 'UTC')),
        cashDate         Nullable(Date32),
        currency         LowCardinality(String),
        net              Nullable(Int64),
        tax              Nullable(Int64),
        gross            Nullable(Int64),
        allocations      Array(Tuple(nodeId String, net Int64)),
        contractId       String,
        certifiedCodes   String,
        documents        String,
        intake           Tuple(
            channel    LowCardinality(String),
            status     LowCardinality(String),
            receivedAt Nullable(DateTime64(6, 'UTC'))))
)
ENGINE = Kafka
SETTINGS kafka_broker_list = '{{.Broker}}', kafka_topic_list = '{{.Topic}}', kafka_group_name = 'plain', kafka_format = 'JSONEachRow',
    kafka_num_consumers = {{.Consumers}}, kafka_thread_per_consumer = 1, kafka_max_block_size = 100000, kafka_poll_timeout_ms = 50,
    date_time_input_format = 'best_effort';

CREATE TABLE plain.records
(
    {{.Columns}}
)
ENGINE = ReplacingMergeTree(row_version)
ORDER BY (tenant, project, id)
SETTINGS index_granularity = 1024, min_bytes_for_wide_part = 268435456;

CREATE TABLE plain.sums
(
    tenant   LowCardinality(String),
    project  String,
    contract String,
    node     String,
    currency LowCardinality(String),
    status   LowCardinality(String),
    changes  Int64,
    net      Int64,
    gross    Int64
)
ENGINE = SummingMergeTree
ORDER BY (tenant, project, contract, node, currency, status);

CREATE MATERIALIZED VIEW plain.records_sums TO plain.sums AS
SELECT tenant, project, contract_id AS contract, node, currency, status,
    sum(place = 1) AS changes, sum(allocated) AS net, sum(if(place = 1, ifNull(records.gross, 0), 0)) AS gross
FROM plain.records
ARRAY JOIN allocation_node AS node, allocation_net AS allocated, arrayEnumerate(allocation_node) AS place
GROUP BY tenant, project, contract, node, currency, status;

CREATE MATERIALIZED VIEW plain.stream_records TO plain.records AS
SELECT
    tenantId AS tenant,
    data.projectId AS project,
    id,
    version AS row_version,
    op = 'delete' AS deleted,
    at,
    data.source AS source,
    data.direction AS direction,
    transform(data.stepKind, ['approval', 'payment'], ['approvalPending', 'paymentPending'], data.stepKind) AS status,
    data.workflowStep AS workflow_step,
    data.contractorId AS contractor_id,
    data.counterpartyName AS counterparty_name,
    data.invoiceNumber AS invoice_number,
    data.recognitionDate AS recognition_date,
    data.dueDate AS due_date,
    data.paidAt AS paid_at,
    data.cashDate AS given_cash_date,
    data.cashDate AS cash_date,
    data.currency AS currency,
    data.net AS net,
    data.tax AS tax,
    data.gross AS gross,
    data.allocations.nodeId AS allocation_node,
    data.allocations.net AS allocation_net,
    data.contractId AS contract_id,
    data.certifiedCodes AS certified_codes,
    data.documents AS documents,
    data.intake.channel AS channel,
    data.intake.status AS intake_status,
    data.intake.receivedAt AS received_at,
    _partition AS src_partition,
    _offset AS src_offset
FROM plain.stream;
