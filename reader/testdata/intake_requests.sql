SELECT id, toInt64(row_version), action, sender, requested_by, toUnixTimestamp64Micro(assumeNotNull(requested_at)), outcome, detail, toUnixTimestamp64Micro(answered_at)
FROM intake_requests FINAL
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND id IN {ids:Array(String)} AND NOT deleted
-- ids = "[i3 sender:a@b.example]"
-- projects = "[ P1]"
-- tenant = "acme"
