SELECT id, row_version, month, version, status, toUnixTimestamp64Micro(submitted_at), toUnixTimestamp64Micro(decided_at)
FROM forecast_snapshots FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted
-- project = "P1"
-- tenant = "acme"
