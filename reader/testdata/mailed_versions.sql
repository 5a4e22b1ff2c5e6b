SELECT toInt64(row_version), of = 'readings', toUnixTimestamp64Micro(at), gone = 1, status, intake_status, confirmed_by
FROM history FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND id = {id:String}
ORDER BY row_version DESC, of DESC
LIMIT {most:UInt32}
-- id = "mail-1"
-- most = "200"
-- project = "P1"
-- tenant = "acme"
