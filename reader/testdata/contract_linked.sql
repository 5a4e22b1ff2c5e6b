SELECT node, currency, status, record, if(roll = 'lines', concat(reinterpretAsFixedString(toInt128(sum(net))), reinterpretAsFixedString(toInt128(sum(gross))), reinterpretAsFixedString(toInt128(sum(count))), ''), '')
FROM sums
WHERE tenant = {tenant:String} AND project = {project:String} AND roll IN {rolls:Array(String)} AND contract = {id:String}
GROUP BY roll, node, currency, status, record
HAVING if(roll = 'lines', sum(allocations), sum(count)) != 0 AND (roll = 'lines' OR node NOT IN {lines:Array(String)})
-- id = "C1"
-- lines = "[a b]"
-- project = "P1"
-- rolls = "[lines links]"
-- tenant = "acme"
