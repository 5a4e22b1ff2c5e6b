SELECT id, name
FROM contractors FINAL
WHERE tenant = {tenant:String} AND project = '' AND id IN {ids:Array(String)} AND NOT deleted
-- ids = "[K1]"
-- tenant = "acme"
