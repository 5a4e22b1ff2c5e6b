SELECT newest, id, project
FROM readings
WHERE tenant = {tenant:String} AND newest >= {newest:Int64} AND (newest, id) > ({newest:Int64}, {after:String})
ORDER BY tenant, newest, id
LIMIT 1 OFFSET {window:UInt32}
-- after = "i1"
-- newest = "-7"
-- tenant = "acme"
-- window = "203"
