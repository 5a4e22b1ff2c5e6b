SELECT DISTINCT id, assumeNotNull(parent_id)
FROM budget_nodes
WHERE tenant = {tenant:String} AND parent_id IS NOT NULL
-- tenant = "acme"
