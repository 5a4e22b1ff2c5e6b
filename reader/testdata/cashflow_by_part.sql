SELECT 'active', _part, '', '', toInt64(0), ''
FROM (SELECT _part, count() FROM sums GROUP BY _part)
UNION ALL
SELECT 'sums', _part, '', '', toInt64(0), arrayStringConcat(groupArray(formatRow('RowBinary', keys, value, gross, pending, count)))
FROM sums
WHERE tenant = {tenant:String} AND project = {project:String} AND keys >= 'budget\0' AND keys < 'lines\x01' AND _part NOT IN {known:Array(String)}
GROUP BY _part
UNION ALL
SELECT 'months', part, '', '', toInt64(0), arrayStringConcat(groupArray(formatRow('RowBinary', line, months, nets)))
FROM (
  SELECT _part AS part, left(keys, -7) AS line, groupArray(reinterpretAsUInt64(substring(keys, -7))) AS months, groupArray(net + count) AS nets
  FROM sums
  WHERE tenant = {tenant:String} AND project = {project:String} AND ((startsWith(keys, 'payments\0')) OR (startsWith(keys, 'recognized\0')) AND left(keys, -7) IN {expecting:Array(String)}) AND _part NOT IN {known:Array(String)}
  GROUP BY part, line
)
GROUP BY part
-- expecting = "[recognized\x00\x00a\x00\x00\x00]"
-- known = "[]"
-- project = "P1"
-- tenant = "acme"
