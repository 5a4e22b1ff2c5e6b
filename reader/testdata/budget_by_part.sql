SELECT 'active', _part, '', '', toInt64(0), ''
FROM (SELECT _part, count() FROM sums GROUP BY _part)
UNION ALL
SELECT 'sums', _part, '', '', toInt64(0), arrayStringConcat(groupArray(formatRow('RowBinary', keys, value, gross, pending, count)))
FROM sums
WHERE tenant = {tenant:String} AND project = {project:String} AND keys >= 'budget\0' AND keys < 'lines\x01' AND _part NOT IN {known:Array(String)}
GROUP BY _part
-- known = "[all_1_5_1 all_6_6_0]"
-- project = "P1"
-- tenant = "acme"
