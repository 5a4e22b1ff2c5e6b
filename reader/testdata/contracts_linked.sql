SELECT id, project, name, contractor_id, status, toInt32(start_date), toInt32(end_date), currency, allocation_node, allocation_value, amendment_id, amendment_node, amendment_value, amendment_status, arrayMap(d -> ifNull(toInt32(d), toInt32({undated:Int32})), amendment_date), amendment_title, arrayFilter(l -> l.4 = '' OR notEmpty(allocation_node) AND NOT has(allocation_node, l.1), linked).1, arrayFilter(l -> l.4 = '' OR notEmpty(allocation_node) AND NOT has(allocation_node, l.1), linked).2, arrayFilter(l -> l.4 = '' OR notEmpty(allocation_node) AND NOT has(allocation_node, l.1), linked).3, arrayFilter(l -> l.4 = '' OR notEmpty(allocation_node) AND NOT has(allocation_node, l.1), linked).4, arrayFilter(l -> l.4 = '' OR notEmpty(allocation_node) AND NOT has(allocation_node, l.1), linked).5
FROM (SELECT *
FROM contracts FINAL
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND id > {after:String} AND NOT deleted
ORDER BY id, project
LIMIT {limit:UInt32}) AS c
LEFT JOIN (
  SELECT project AS of_project, contract AS of_contract, groupArray((node, currency, status, record, sums)) AS linked
  FROM (
    SELECT project, contract, node, currency, status, record, if(roll = 'lines', concat(reinterpretAsFixedString(toInt128(sum(net))), reinterpretAsFixedString(toInt128(sum(gross))), reinterpretAsFixedString(toInt128(sum(count))), ''), '') AS sums
    FROM sums
    WHERE tenant = {tenant:String} AND project GLOBAL IN (SELECT project
FROM contracts FINAL
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND id > {after:String} AND NOT deleted
ORDER BY id, project
LIMIT {limit:UInt32}) AND (keys > concat('lines\0', {after:String}, '\x01') AND keys < concat('lines\0', (SELECT max(id) FROM (SELECT id
FROM contracts FINAL
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND id > {after:String} AND NOT deleted
ORDER BY id, project
LIMIT {limit:UInt32})), '\x01') OR keys > concat('links\0', {after:String}, '\x01') AND keys < concat('links\0', (SELECT max(id) FROM (SELECT id
FROM contracts FINAL
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND id > {after:String} AND NOT deleted
ORDER BY id, project
LIMIT {limit:UInt32})), '\x01'))
    GROUP BY project, roll, contract, node, currency, status, record
    HAVING if(roll = 'lines', sum(allocations), sum(count)) != 0
  )
  GROUP BY project, contract
) AS l ON c.project = l.of_project AND c.id = l.of_contract
ORDER BY id, project
-- after = "C1"
-- limit = "51"
-- projects = "[P1 P2]"
-- tenant = "acme"
-- undated = "120530"
