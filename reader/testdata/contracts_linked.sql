SELECT formatRow('RowBinary', project, keys, sum(net), sum(count), sum(allocations))
FROM sums
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)}
  AND (keys >= concat('lines\0', {first:String}, '\0') AND keys < concat('lines\0', {last:String}, '\x01') OR keys >= concat('links\0', {first:String}, '\0') AND keys < concat('links\0', {last:String}, '\x01'))
  AND substringIndex(keys, '\0', 3) NOT IN {coded:Array(String)}
  AND substringIndex(keys, '\0', 2) NOT IN {baseless:Array(String)}
GROUP BY project, keys
-- baseless = "[links\x00C2]"
-- coded = "[links\x00C1\x00a links\x00C1\x00b]"
-- first = "C1"
-- last = "C2"
-- projects = "[P1 P2]"
-- tenant = "acme"
