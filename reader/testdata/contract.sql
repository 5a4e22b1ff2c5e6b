SELECT argMax(if(deleted, '', formatRow('RowBinary', id, project, name, contractor_id, status, toInt32(start_date), toInt32(end_date), currency, allocation_node, allocation_value, amendment_id, amendment_node, amendment_value, amendment_status, arrayMap(d -> ifNull(toInt32(d), toInt32({undated:Int32})), amendment_date), amendment_title)), tuple(row_version, NOT deleted))
FROM contracts
WHERE tenant = {tenant:String} AND id = {id:String} AND project IN {projects:Array(String)}
GROUP BY id
-- id = "C1"
-- projects = "[P1 P2]"
-- tenant = "acme"
-- undated = "120530"
