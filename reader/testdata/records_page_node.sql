SELECT id, project, currency, net, tax, gross
FROM records FINAL
WHERE tenant = {tenant:String} AND project = {project0:String} AND id > {after:String} AND NOT deleted AND cash_date IS NULL AND has(allocation_node, {nodeId:String})
ORDER BY tenant, project, id
LIMIT {limit:UInt32}
-- after = "R1"
-- limit = "51"
-- nodeId = "a"
-- project0 = "P1"
-- tenant = "acme"
