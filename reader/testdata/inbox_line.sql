SELECT newest, id, project, toInt64(row_version), toUnixTimestamp64Micro(at), state, reading
FROM readings FINAL
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND id = {id:String} AND NOT deleted AND state != ''
LIMIT 1
-- id = "i3"
-- projects = "[P1 P2]"
-- tenant = "acme"
