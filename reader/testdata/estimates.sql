SELECT '' AS of_project, 'nodes' AS part, '' AS node, project AS id, '' AS line, '' AS currency, '' AS kind, concat(reinterpretAsFixedString(toInt128(max(row_version))), '') AS sums
FROM budget_nodes
WHERE tenant = ''
GROUP BY project
UNION ALL
SELECT project, roll, node, contract, line, currency, status, concat(reinterpretAsFixedString(toInt128(sum(value))), reinterpretAsFixedString(toInt128(sum(committed))), reinterpretAsFixedString(toInt128(sum(pending))), reinterpretAsFixedString(toInt128(sum(count))), '')
FROM sums
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND (startsWith(keys, 'budget\0') OR startsWith(keys, 'claims\0') OR startsWith(keys, 'contracts\0') OR startsWith(keys, 'transfers\0'))
GROUP BY project, roll, node, contract, line, currency, status
UNION ALL
SELECT project, 'entries', node_id, id, '', toString(currency), '', concat(reinterpretAsFixedString(toInt128(ifNull(value, 0))), '')
FROM uncommitted_entries FINAL
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND NOT deleted AND value IS NOT NULL
-- projects = "[P1 P2]"
-- tenant = "acme"
