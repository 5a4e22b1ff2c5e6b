SELECT id, project, status
FROM records FINAL
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND NOT deleted AND status IN {statuses:Array(String)} AND invoice_number = {invoiceNumber:String} AND contractor_id = {contractorId:String} AND toInt32(recognition_date) >= {recognitionFrom:Int32} AND toInt32(recognition_date) <= {recognitionTo:Int32} AND toInt32(cash_date) >= {cashFrom:Int32} AND toInt32(cash_date) <= {cashTo:Int32} AND cash_date IS NOT NULL AND channel = {channel:String} AND source = {source:String} AND (has(allocation_node, {nodeId:String}) OR arrayExists(n -> (project, n) IN nodes_below, allocation_node)) AND if(certified, has(certified_keys, {code:String}), arrayExists(n -> (project, n) IN nodes_with_code, allocation_node))
  AND (project, id) GLOBAL IN (
    SELECT project, id
    FROM records
    WHERE tenant = {tenant:String} AND id IN changed AND project IN {projects:Array(String)}
  )
ORDER BY id, project
-- cashFrom = "-25567"
-- cashTo = "120529"
-- channel = "email"
-- code = "datev:0700"
-- contractorId = "K1"
-- invoiceNumber = "it's \"1\" \\"
-- nodeId = "a"
-- projects = "[P1 P2]"
-- recognitionFrom = "20454"
-- recognitionTo = "20818"
-- source = "invoice"
-- statuses = "[paid setup]"
-- tenant = "acme"
-- table changed, 2 rows
-- table nodes_below, 1 rows
-- table nodes_with_code, 2 rows
