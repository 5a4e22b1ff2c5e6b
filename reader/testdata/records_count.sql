SELECT count()
FROM records FINAL
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND NOT deleted AND status IN {statuses:Array(String)} AND invoice_number = {invoiceNumber:String} AND contractor_id = {contractorId:String} AND recognition_date >= {recognitionFrom:Date32} AND recognition_date <= {recognitionTo:Date32} AND cash_date >= {cashFrom:Date32} AND cash_date <= {cashTo:Date32} AND cash_date IS NOT NULL AND channel = {channel:String} AND source = {source:String} AND (has(allocation_node, {nodeId:String}) OR arrayExists(n -> (project, n) IN nodes_below, allocation_node)) AND if(certified, has(certified_keys, {code:String}), arrayExists(n -> (project, n) IN nodes_with_code, allocation_node))
-- cashFrom = "1900-01-01"
-- cashTo = "2299-12-31"
-- channel = "email"
-- code = "datev:0700"
-- contractorId = "K1"
-- invoiceNumber = "it's \"1\" \\"
-- nodeId = "a"
-- projects = "[P1 P2]"
-- recognitionFrom = "2026-01-01"
-- recognitionTo = "2026-12-31"
-- source = "invoice"
-- statuses = "[paid setup]"
-- tenant = "acme"
-- table nodes_below, 1 rows
-- table nodes_with_code, 2 rows
