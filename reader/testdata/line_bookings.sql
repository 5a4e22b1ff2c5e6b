SELECT id, kind, other, value, toUnixTimestamp64Micro(at)
FROM (
  SELECT id, toString(kind) AS kind, '' AS other, value, at
  FROM budget_rows FINAL
  WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted AND status = 'approved' AND currency = {currency:String} AND node_id IN line_nodes
  UNION ALL
  SELECT id, 'transferIn' AS kind, from_node_id AS other, value, at
  FROM budget_transfers FINAL
  WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted AND status = 'approved' AND currency = {currency:String} AND to_node_id IN line_nodes
  UNION ALL
  SELECT id, 'transferOut' AS kind, to_node_id AS other, -value AS value, at
  FROM budget_transfers FINAL
  WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted AND status = 'approved' AND currency = {currency:String} AND from_node_id IN line_nodes
)
ORDER BY at, id, kind
LIMIT {most:UInt32}
-- currency = "EUR"
-- most = "501"
-- project = "P1"
-- tenant = "acme"
-- table line_nodes, 2 rows
