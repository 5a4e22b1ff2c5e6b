-- Every version of mailed records and of their readings: one row for each that counted when it came. Nothing here is part of a sum. Rows are
-- written before the position passes their message, so none is lost; one that is written again replaces itself. One that says that a version is gone
-- goes before all others, whatever log they came from.

CREATE TABLE IF NOT EXISTS history {{onCluster}}
(
    tenant          LowCardinality(String),
    project         String,
    id              String,                 -- the record's, which its reading has, too
    row_version     UInt64,
    of              LowCardinality(String), -- the table that the version went to: records, readings
    at              DateTime64(6, 'UTC'),
    gone            UInt8,                  -- 1: deleted, or moved to another project
    status          LowCardinality(String), -- as that table has it; of a reading completed or failed; '' when gone
    intake_status   LowCardinality(String), -- of a record, as its table has it
    confirmed_by    String                  -- of a reading: the user; '' when nobody did
)
ENGINE = {{engine "ReplacingMergeTree" "gone"}}
ORDER BY (tenant, project, id, row_version, of)
SETTINGS {{durable}}, index_granularity = 1024;
