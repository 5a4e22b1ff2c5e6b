SELECT id, row_version, month, version, status, toUnixTimestamp64Micro(submitted_at), toUnixTimestamp64Micro(decided_at), concat(reinterpretAsFixedString(toInt128(totals[1])), reinterpretAsFixedString(toInt128(totals[2])), reinterpretAsFixedString(toInt128(totals[3])), reinterpretAsFixedString(toInt128(totals[4])), reinterpretAsFixedString(toInt128(totals[5])), reinterpretAsFixedString(toInt128(totals[6])), '')
FROM forecast_snapshots FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted
-- project = "P1"
-- tenant = "acme"
