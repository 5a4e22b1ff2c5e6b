SELECT id, name, workspace_id, currency, budget_structure_id, inbound_email
FROM projects FINAL
WHERE tenant = {tenant:String} AND project IN {ids:Array(String)} AND NOT deleted
ORDER BY id
-- ids = "[P1 it's]"
-- tenant = "acme"
