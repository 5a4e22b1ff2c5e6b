SELECT 'nodes' AS part, '' AS node, project AS id, '' AS currency, toInt64(max(row_version)) AS value, '' AS texts
FROM budget_nodes
WHERE tenant = ''
GROUP BY project
UNION ALL
SELECT '', '', '', '', toInt64(0), arrayStringConcat(groupArray(concat(reinterpretAsFixedString(length(keys)), keys, reinterpretAsFixedString(length(packed)), packed)))
FROM (
  SELECT keys, concat(reinterpretAsFixedString(toInt128(sum(value))), reinterpretAsFixedString(toInt128(sum(gross))), reinterpretAsFixedString(toInt128(sum(pending))), reinterpretAsFixedString(toInt128(sum(count))), '') AS packed
  FROM sums
WHERE tenant = {tenant:String} AND project = {project:String} AND (startsWith(keys, 'budget\0') OR startsWith(keys, 'claims\0') OR startsWith(keys, 'contracts\0') OR startsWith(keys, 'lines\0') OR startsWith(keys, 'transfers\0'))
  GROUP BY keys
)
UNION ALL
SELECT 'entries', node_id, id, toString(currency), ifNull(value, 0), ''
FROM uncommitted_entries FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted AND value IS NOT NULL
UNION ALL
SELECT '', '', '', '', toInt64(0), arrayStringConcat(groupArray(concat(reinterpretAsFixedString(length(line)), line, reinterpretAsFixedString(length(months)), months)))
FROM (
  SELECT substring(keys, 1, length(keys) - 7) AS line, arrayStringConcat(groupArray(concat(substring(keys, length(keys) - 6), reinterpretAsFixedString(net + count)))) AS months
  FROM sums
  WHERE tenant = {tenant:String} AND project = {project:String} AND ((startsWith(keys, 'cash\0')) OR (startsWith(keys, 'recognized\0')) AND substring(keys, length(keys) - 6) >= {since:String})
  GROUP BY line
)
-- project = "P1"
-- since = "2026-02"
-- tenant = "acme"
