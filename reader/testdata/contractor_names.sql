SELECT tenant, project, row_version, id, name
FROM contractors FINAL
WHERE tenant = ''
   OR (tenant = {tenant:String} AND project = '' AND id IN {ids:Array(String)} AND NOT deleted)
-- ids = "[K1]"
-- tenant = "acme"
