SELECT formatRow('RowBinary', project, keys, sum(net), sum(count), sum(allocations))
FROM sums
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)}
  AND (startsWith(keys, concat('lines\0', {first:String}, '\0')) OR startsWith(keys, concat('links\0', {first:String}, '\0')))
  AND substringIndex(keys, '\0', 3) NOT IN {coded:Array(String)}
GROUP BY project, keys
-- coded = "[links\x00C1\x00a links\x00C1\x00b]"
-- first = "C1"
-- projects = "[P1]"
-- tenant = "acme"
