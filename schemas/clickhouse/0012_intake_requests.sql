-- What people ask the intake of mail for: one row for each mail and for each sender, with the newest request and its answer. Nothing here is
-- part of a sum.

CREATE TABLE IF NOT EXISTS intake_requests {{onCluster}}
(
    tenant          LowCardinality(String),
    project         String,                 -- '' for a sender, and for a mail that no project's address is known of
    id              String,                 -- of the mail's reading, or sender: and the address
    row_version     UInt64,
    deleted         Bool,
    at              DateTime64(6, 'UTC'),
    action          LowCardinality(String), -- retry, release, allow, disallow; '' when deleted
    sender          String,                 -- '' when it is about a mail
    requested_by    String,                 -- the user; '' where a command asked
    requested_at    Nullable(DateTime64(6, 'UTC')),
    outcome         LowCardinality(String), -- '' while nobody has heeded it
    detail          String,
    answered_at     Nullable(DateTime64(6, 'UTC')),
    src_partition   UInt32,
    src_offset      UInt64,
    batch_first     UInt64,
    key_hash        UInt32,
    content_hash    UInt64,
    moved           Bool
)
ENGINE = {{engine "ReplacingMergeTree" "row_version"}}
ORDER BY (tenant, project, id)
SETTINGS {{durable}}, old_parts_lifetime = 60, index_granularity = 128;
