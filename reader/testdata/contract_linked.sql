SELECT formatRow('RowBinary', {project:String}, keys, sum(net), sum(count), sum(allocations))
FROM sums
WHERE tenant = {tenant:String} AND project = {project:String}
  AND (startsWith(keys, concat('lines\0', {first:String}, '\0')) OR startsWith(keys, concat('links\0', {first:String}, '\0')))
  AND substringIndex(keys, '\0', 3) NOT IN {coded:Array(String)}
GROUP BY keys
-- coded = "[links\x00C1\x00a links\x00C1\x00b]"
-- first = "C1"
-- project = "P1"
-- tenant = "acme"
