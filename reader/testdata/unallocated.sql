SELECT id, invoice_number, toInt32(recognition_date), status, assumeNotNull(value)
FROM (
  SELECT *, if(empty(allocation_node), net, arraySum(arrayFilter((v, n) -> n NOT IN line_nodes, allocation_net, allocation_node))) AS value
  FROM records FINAL
  WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted AND source != 'accrual' AND status != 'rejected'
    AND currency = {currency:String} AND net IS NOT NULL
    AND (empty(allocation_node) OR arrayExists(n -> n NOT IN line_nodes, allocation_node))
)
ORDER BY recognition_date DESC, id
LIMIT {most:UInt32}
-- currency = "EUR"
-- most = "500"
-- project = "P1"
-- tenant = "acme"
-- table line_nodes, 2 rows
