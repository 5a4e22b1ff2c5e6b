SELECT id, project
FROM records FINAL
WHERE tenant = {tenant:String} AND project = {project0:String} AND id > {after:String} AND NOT deleted
ORDER BY tenant, project, id
LIMIT {limit:UInt32}
-- after = "R1"
-- limit = "51"
-- project0 = "P1"
-- tenant = "acme"
