SELECT arrayStringConcat(groupArray(formatRow('RowBinary', id, line_node, line_parent, line_level, line_code, line_name, line_budget, line_committed, line_pending_changes, line_uncommitted, line_uncommitted_defaulted, line_invoiced, line_paid, explanation_node, explanation_reason)))
FROM forecast_snapshots FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND id IN {ids:Array(String)}
  AND row_version = {versions:Array(UInt64)}[indexOf({ids:Array(String)}, id)]
-- ids = "[F1 F2]"
-- project = "P1"
-- tenant = "acme"
-- versions = "[1 2]"
