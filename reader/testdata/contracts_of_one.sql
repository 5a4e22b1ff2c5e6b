SELECT formatRow('RowBinary', id, project, name, contractor_id, status, start_date, end_date, currency, allocation_node, allocation_value, amendment_id, amendment_node, amendment_value, amendment_status, amendment_date, amendment_title)
FROM contracts FINAL
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND id > {after:String} AND NOT deleted
ORDER BY tenant, project, id
LIMIT {limit:UInt32}
-- after = "C1"
-- limit = "51"
-- projects = "[P1]"
-- tenant = "acme"
