SELECT id
FROM records
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND id > {after:String}
  AND (src_offset >= arrayElement({since:Array(UInt64)}, src_partition + 1) OR contractor_id IN changed_contractors OR arrayExists(n -> n IN changed_nodes, allocation_node))
ORDER BY id
LIMIT {window:UInt32}
-- after = "R1"
-- projects = "[P1]"
-- since = "[7 0 9]"
-- tenant = "acme"
-- window = "10000"
-- table changed_contractors, 1 rows
-- table changed_nodes, 2 rows
