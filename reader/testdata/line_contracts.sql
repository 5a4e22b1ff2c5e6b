SELECT 'sums', '', '', '', toInt64(0), arrayStringConcat(groupArray(row))
FROM (
  SELECT formatRow('RowBinary', keys, sum(value), sum(gross), sum(pending), sum(count)) AS row
  FROM sums
  WHERE tenant = {tenant:String} AND project = {project:String} AND keys >= 'contracts\0' AND keys < 'contracts\x01'
  GROUP BY keys
)
-- project = "P1"
-- tenant = "acme"
