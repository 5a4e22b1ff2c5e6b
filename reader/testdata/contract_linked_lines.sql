SELECT formatRow('RowBinary', project, keys, sum(net), sum(count), sum(allocations))
FROM sums
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)}
  AND (startsWith(keys, concat('lines\0', {first:String}, '\0')))
GROUP BY project, keys
-- first = "C1"
-- projects = "[P1]"
-- tenant = "acme"
