SELECT id, contract_id, node_id, value, currency, probability_bp, status
FROM claims FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted AND status = 'open' AND currency = {currency:String}
  AND value > 0 AND node_id IN line_nodes
ORDER BY id
LIMIT {most:UInt32}
-- currency = "EUR"
-- most = "501"
-- project = "P1"
-- tenant = "acme"
-- table line_nodes, 2 rows
