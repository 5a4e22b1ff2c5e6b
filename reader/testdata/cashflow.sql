SELECT 'nodes' AS part, '' AS node, project AS id, '' AS currency, toInt64(max(row_version)) AS value, '' AS rows
FROM budget_nodes
WHERE tenant = ''
GROUP BY project
UNION ALL
SELECT 'sums', '', '', '', toInt64(0), arrayStringConcat(groupArray(row))
FROM (
  SELECT formatRow('RowBinary', keys, sum(value), sum(gross), sum(pending), sum(count)) AS row
  FROM sums
WHERE tenant = {tenant:String} AND project = {project:String} AND keys >= 'budget\0' AND keys < 'lines\x01'
  GROUP BY keys
)
UNION ALL
SELECT 'entries', node_id, id, toString(currency), ifNull(value, 0), ''
FROM uncommitted_entries FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted AND value IS NOT NULL
UNION ALL
SELECT 'months', '', '', '', toInt64(0), arrayStringConcat(groupArray(formatRow('RowBinary', line, months, nets)))
FROM (
  SELECT left(keys, -7) AS line, groupArray(reinterpretAsUInt64(substring(keys, -7))) AS months, groupArray(net + count) AS nets
  FROM sums
  WHERE tenant = {tenant:String} AND project = {project:String} AND ((startsWith(keys, 'payments\0')) OR (startsWith(keys, 'recognized\0')) AND left(keys, -7) IN {expecting:Array(String)})
  GROUP BY line
)
-- expecting = "[recognized\x00\x00a\x00\x00\x00 recognized\x00\x00b\x00\x00\x00]"
-- project = "P1"
-- tenant = "acme"
