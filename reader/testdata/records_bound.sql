SELECT id
FROM mergeTreeProjection(currentDatabase(), 'records', 'by_id')
WHERE tenant = {tenant:String} AND id > {after:String} AND project IN {projects:Array(String)}
ORDER BY tenant, id
LIMIT 1 OFFSET {window:UInt32}
-- after = "R1"
-- projects = "[P1 P2]"
-- tenant = "acme"
-- window = "64"
