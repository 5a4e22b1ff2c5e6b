SELECT id, toInt64(row_version), action, sender, requested_by, toUnixTimestamp64Micro(assumeNotNull(requested_at)), outcome, detail, toUnixTimestamp64Micro(answered_at)
FROM intake_requests FINAL
WHERE tenant = {tenant:String} AND project = '' AND startsWith(id, 'sender:') AND NOT deleted AND action = {allow:String}
ORDER BY requested_at, id
LIMIT {most:UInt32}
-- allow = "allow"
-- most = "1000"
-- tenant = "acme"
