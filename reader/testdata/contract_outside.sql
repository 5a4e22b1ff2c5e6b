SELECT project, contract_id, id
FROM records FINAL
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND NOT deleted AND net IS NOT NULL
  AND id GLOBAL IN (
    SELECT id
    FROM records
    WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND contract_id IN {contracts:Array(String)})
  AND arrayExists(node -> (project, contract_id, node, toString(currency), toString(status), toString(source)) IN outside, allocation_node)
ORDER BY id
-- contracts = "[C1 C2]"
-- projects = "[P1]"
-- tenant = "acme"
-- table outside, 2 rows
