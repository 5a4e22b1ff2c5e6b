SELECT formatRow('RowBinary', {project:String}, keys, sum(net), sum(count), sum(allocations))
FROM sums
WHERE tenant = {tenant:String} AND project = {project:String}
  AND (startsWith(keys, concat('lines\0', {first:String}, '\0')))
GROUP BY keys
-- first = "C1"
-- project = "P1"
-- tenant = "acme"
