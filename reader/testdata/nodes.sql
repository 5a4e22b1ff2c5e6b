SELECT tenant, project, row_version, id, structure_id, parent_id, level, code, name, description, active, accounting_codes
FROM budget_nodes FINAL
WHERE tenant = ''
   OR (tenant = {tenant:String} AND NOT deleted
       AND (project IN {projects:Array(String)} OR (project = '' AND structure_id IN {structures:Array(String)})))
-- projects = "[P1]"
-- structures = "[S1]"
-- tenant = "acme"
