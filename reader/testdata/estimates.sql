SELECT '' AS of_project, 'nodes' AS part, '' AS node, project AS id, '' AS currency, toInt64(max(row_version)) AS value, '' AS texts
FROM budget_nodes
WHERE tenant = ''
GROUP BY project
UNION ALL
SELECT project, '', '', '', '', toInt64(0), arrayStringConcat(groupArray(concat(reinterpretAsFixedString(length(keys)), keys, reinterpretAsFixedString(length(packed)), packed)))
FROM (
  SELECT project, keys, concat(reinterpretAsFixedString(toInt128(sum(value))), reinterpretAsFixedString(toInt128(sum(gross))), reinterpretAsFixedString(toInt128(sum(pending))), reinterpretAsFixedString(toInt128(sum(count))), '') AS packed
  FROM sums
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND (startsWith(keys, 'budget\0') OR startsWith(keys, 'claims\0') OR startsWith(keys, 'contracts\0') OR startsWith(keys, 'transfers\0'))
  GROUP BY project, keys
)
GROUP BY project
UNION ALL
SELECT project, 'entries', node_id, id, toString(currency), ifNull(value, 0), ''
FROM uncommitted_entries FINAL
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND NOT deleted AND value IS NOT NULL
-- projects = "[P1 P2]"
-- tenant = "acme"
