SELECT node, currency, status, record, concat(reinterpretAsFixedString(toInt128(sum(net))), reinterpretAsFixedString(toInt128(sum(gross))), reinterpretAsFixedString(toInt128(sum(count))), ''), concat(reinterpretAsFixedString(toInt128(if(record = '', sum(allocations), sum(count)))), '')
FROM sums
WHERE tenant = {tenant:String} AND project = {project:String} AND roll IN {rolls:Array(String)} AND contract = {id:String}
  AND (record = '' OR node NOT IN {lines:Array(String)})
GROUP BY node, currency, status, record
-- id = "C1"
-- lines = "[a b]"
-- project = "P1"
-- rolls = "[lines links]"
-- tenant = "acme"
