SELECT 'sums', '', '', '', toInt64(0), arrayStringConcat(groupArray(row))
FROM (
  SELECT formatRow('RowBinary', keys, sum(value), sum(gross), sum(pending), sum(count)) AS row
  FROM sums
WHERE tenant = {tenant:String} AND project = {project:String} AND keys >= 'budget\0' AND keys < 'lines\x01'
  GROUP BY keys
)
UNION ALL
SELECT 'months', '', '', '', toInt64(0), arrayStringConcat(groupArray(formatRow('RowBinary', line, months, nets)))
FROM (
  SELECT left(keys, -7) AS line, groupArray(reinterpretAsUInt64(substring(keys, -7))) AS months, groupArray(net + count) AS nets
  FROM sums
  WHERE tenant = {tenant:String} AND project = {project:String} AND ((startsWith(keys, 'payments\0')))
  GROUP BY line
)
-- project = "P1"
-- tenant = "acme"
