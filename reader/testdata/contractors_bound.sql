SELECT id
FROM contractors
WHERE tenant = {tenant:String} AND project = '' AND id > {after:String}
ORDER BY tenant, project, id
LIMIT 1 OFFSET {window:UInt32}
-- after = "K1"
-- tenant = "acme"
-- window = "203"
