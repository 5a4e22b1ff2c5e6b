SELECT '' AS of_project, 'nodes' AS part, '' AS node, project AS id, '' AS currency, toInt64(max(row_version)) AS value, '' AS rows
FROM budget_nodes
WHERE tenant = ''
GROUP BY project
UNION ALL
SELECT project, 'sums', '', '', '', toInt64(0), arrayStringConcat(groupArray(row))
FROM (
  SELECT project, formatRow('RowBinary', keys, sum(value), sum(gross), sum(pending), sum(count)) AS row
  FROM sums
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND keys >= 'budget\0' AND keys < 'contracts\x01'
  GROUP BY project, keys
)
GROUP BY project
UNION ALL
SELECT project, 'entries', node_id, id, toString(currency), ifNull(value, 0), ''
FROM uncommitted_entries FINAL
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND NOT deleted AND value IS NOT NULL
-- projects = "[P1 P2]"
-- tenant = "acme"
