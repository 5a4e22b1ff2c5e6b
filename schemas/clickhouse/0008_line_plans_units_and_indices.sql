-- How budget lines are spread over time, what is let, and the indices that rents follow. Decimals are texts as `1.5` is written; a month is
-- YYYY-MM. An optional text is '' when there is none, unless it is Nullable.

CREATE TABLE IF NOT EXISTS line_plans {{onCluster}}
(
    tenant                 LowCardinality(String),
    project                String,
    id                     String,
    row_version            UInt64,
    deleted                Bool,
    at                     DateTime64(6, 'UTC'),
    node_id                String,
    start_date             Nullable(Date32),
    end_date               Nullable(Date32),
    method                 LowCardinality(String), -- linearDays, linearMonths, sCurve, custom
    custom_month           Array(String),          -- in the order of the event
    custom_value           Array(Int64),
    recurring_every_months Int64,                  -- 0 when no invoices are expected regularly
    recurring_from         LowCardinality(String),
    recurring_to           LowCardinality(String), -- '' without an end
    src_partition          UInt32,
    src_offset             UInt64,
    batch_first            UInt64,
    key_hash               UInt32,
    content_hash           UInt64,
    moved                  Bool
)
ENGINE = {{engine "ReplacingMergeTree" "row_version"}}
ORDER BY (tenant, project, id)
SETTINGS {{durable}}, old_parts_lifetime = 60, index_granularity = 1024;

CREATE TABLE IF NOT EXISTS units {{onCluster}}
(
    tenant               LowCardinality(String),
    project              String,
    id                   String,
    row_version          UInt64,
    deleted              Bool,
    at                   DateTime64(6, 'UTC'),
    site_id              String,
    site_name            String,
    building_id          String,
    label                String,
    type                 LowCardinality(String),
    floor                Nullable(String),
    area_m2              Nullable(String),       -- decimal
    spaces               Nullable(Int64),
    scope                LowCardinality(String), -- scheme, currentUse
    asking_rate_value    Nullable(Int64),
    asking_rate_currency LowCardinality(String),
    src_partition        UInt32,
    src_offset           UInt64,
    batch_first          UInt64,
    key_hash             UInt32,
    content_hash         UInt64,
    moved                Bool
)
ENGINE = {{engine "ReplacingMergeTree" "row_version"}}
ORDER BY (tenant, project, id)
SETTINGS {{durable}}, old_parts_lifetime = 60, index_granularity = 1024;

CREATE TABLE IF NOT EXISTS index_values {{onCluster}}
(
    tenant        LowCardinality(String),
    project       String, -- always ''; the id is series:month
    id            String,
    row_version   UInt64,
    deleted       Bool,
    at            DateTime64(6, 'UTC'),
    series        LowCardinality(String),
    month         LowCardinality(String),
    value         String, -- decimal, above 0
    src_partition UInt32,
    src_offset    UInt64,
    batch_first   UInt64,
    key_hash      UInt32,
    content_hash  UInt64,
    moved         Bool
)
ENGINE = {{engine "ReplacingMergeTree" "row_version"}}
ORDER BY (tenant, project, id)
SETTINGS {{durable}}, old_parts_lifetime = 60;
