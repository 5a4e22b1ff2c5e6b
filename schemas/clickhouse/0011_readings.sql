-- What was read of mails: one row for each mailed record, and one for each mail of a project that became none. Nothing here is part of a
-- sum. newest is the arrival with its sign turned, so that the newest mail is the first; by_arrival has what the inbox looks for, in that
-- order. Rows that a merge has not yet replaced are in it, too: whoever finds an id there reads the row itself.

CREATE TABLE IF NOT EXISTS readings {{onCluster}}
(
    tenant          LowCardinality(String),
    project         String,                 -- '' for a mail that no project's address is known of
    id              String,                 -- the record's, or the mail's
    row_version     UInt64,
    deleted         Bool,
    at              DateTime64(6, 'UTC'),
    state           LowCardinality(String), -- read, doubtful, duplicate, failed, quarantined, withoutRecord; '' when it isn't shown
    reason          LowCardinality(String), -- '' when there is none
    newest          Int64,                  -- microseconds from the mail's arrival to 1970; 0 when it isn't known
    sender          String,
    subject         String,
    message_id      String,
    mail_sha256     String,                 -- of the original; '' when it isn't kept
    document_sha256 Array(String),
    number          String,                 -- as it was read; '' when nothing is certain, as of the next two
    supplier        String,
    currency        LowCardinality(String),
    gross           Nullable(Int64),
    repeats         Array(String),          -- earlier records that it may be a repetition of
    confirmed_by    String,                 -- the user; '' when nobody did
    reading         String CODEC(ZSTD(3)),  -- JSON as in the event
    src_partition   UInt32,
    src_offset      UInt64,
    batch_first     UInt64,
    key_hash        UInt32,
    content_hash    UInt64,
    moved           Bool,
    PROJECTION by_arrival (
        SELECT tenant, newest, project, id, row_version, deleted, state, sender, number, supplier, currency, gross
        ORDER BY tenant, newest, id)
)
ENGINE = {{engine "ReplacingMergeTree" "row_version"}}
ORDER BY (tenant, project, id)
SETTINGS {{durable}}, old_parts_lifetime = 60, index_granularity = 128, deduplicate_merge_projection_mode = 'rebuild';
