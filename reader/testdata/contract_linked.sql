SELECT node, currency, status, record, concat(reinterpretAsFixedString(toInt128(sum(net))), reinterpretAsFixedString(toInt128(sum(gross))), reinterpretAsFixedString(toInt128(sum(count))), ''), concat(reinterpretAsFixedString(toInt128(if(record = '', sum(allocations), sum(count)))), '')
FROM sums
WHERE tenant = {tenant:String} AND project = {project:String} AND (startsWith(keys, concat('lines\0', {id:String}, '\0')) OR startsWith(keys, concat('links\0', {id:String}, '\0')))
  AND (record = '' OR node NOT IN {lines:Array(String)})
GROUP BY node, currency, status, record
-- id = "C1"
-- lines = "[a b]"
-- project = "P1"
-- tenant = "acme"
