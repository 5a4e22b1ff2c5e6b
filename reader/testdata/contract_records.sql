SELECT project, contract, node, toString(currency), toString(status), toString(source), concat(reinterpretAsFixedString(toInt128(sum(net))), reinterpretAsFixedString(toInt128(sum(gross))), reinterpretAsFixedString(toInt128(sum(count))), '')
FROM record_lines
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND contract IN {contracts:Array(String)}
GROUP BY project, contract, node, currency, status, source
HAVING sum(allocations) != 0
-- contracts = "[C1 C2]"
-- projects = "[P1]"
-- tenant = "acme"
