SELECT arrayStringConcat(groupArray(formatRow('RowBinary', id, row_version, month, version, status, submitted_at, decided_at, totals)))
FROM forecast_snapshots FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted
-- project = "P1"
-- tenant = "acme"
