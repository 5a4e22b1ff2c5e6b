SELECT project, contract, node, toString(currency), record
FROM sums
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND roll = 'links' AND contract IN {contracts:Array(String)}
  AND contractor = '' AND line = '' AND node IN {nodes:Array(String)}
GROUP BY project, contract, node, currency, record
HAVING sum(count) != 0
ORDER BY record
-- contracts = "[C1 C2]"
-- nodes = "[m n]"
-- projects = "[P1]"
-- tenant = "acme"
