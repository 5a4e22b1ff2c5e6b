SELECT argMax(if(deleted, '', formatRow('RowBinary', id, project, name, contractor_id, status, start_date, end_date, currency, allocation_node, allocation_value, amendment_id, amendment_node, amendment_value, amendment_status, amendment_date, amendment_title)), tuple(row_version, NOT deleted))
FROM contracts
WHERE tenant = {tenant:String} AND id = {id:String} AND project IN {projects:Array(String)}
GROUP BY id
-- id = "C1"
-- projects = "[P1 P2]"
-- tenant = "acme"
