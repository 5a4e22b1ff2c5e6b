SELECT project, contract, node, toString(currency), toString(status), concat(reinterpretAsFixedString(toInt128(sum(net))), reinterpretAsFixedString(toInt128(sum(gross))), reinterpretAsFixedString(toInt128(sum(count))), '')
FROM sums
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND roll = 'lines' AND contract IN {contracts:Array(String)}
GROUP BY project, contract, node, currency, status
HAVING sum(allocations) != 0
-- contracts = "[C1 C2]"
-- projects = "[P1]"
-- tenant = "acme"
