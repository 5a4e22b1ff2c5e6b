SELECT id
FROM records
WHERE tenant = {tenant:String} AND startsWith(id, {prefix:String}) AND hex(substring(SHA256(id), 1, 16)) = upper({digest:String})
LIMIT 1
-- digest = "00000000000000000000000000000000"
-- prefix = "R"
-- tenant = "acme"
