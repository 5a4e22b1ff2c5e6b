SELECT DISTINCT id
FROM contractors
WHERE tenant = {tenant:String} AND src_offset >= arrayElement({since:Array(UInt64)}, src_partition + 1)
LIMIT 10001
-- since = "[1 2]"
-- tenant = "acme"
