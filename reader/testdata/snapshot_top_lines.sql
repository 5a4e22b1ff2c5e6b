SELECT id, arrayFilter((value, parent) -> parent = '', line_budget, line_parent), arrayFilter((value, parent) -> parent = '', line_committed, line_parent), arrayFilter((value, parent) -> parent = '', line_pending_changes, line_parent), arrayFilter((value, parent) -> parent = '', line_uncommitted, line_parent), arrayFilter((value, parent) -> parent = '', line_uncommitted_defaulted, line_parent), arrayFilter((value, parent) -> parent = '', line_invoiced, line_parent), arrayFilter((value, parent) -> parent = '', line_paid, line_parent)
FROM forecast_snapshots FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND id IN {ids:Array(String)}
  AND row_version = {versions:Array(UInt64)}[indexOf({ids:Array(String)}, id)]
-- ids = "[F1]"
-- project = "P1"
-- tenant = "acme"
-- versions = "[1]"
