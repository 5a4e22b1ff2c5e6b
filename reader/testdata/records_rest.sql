SELECT id, project, direction, source, status, workflow_step, contractor_id, counterparty_name, invoice_number, toInt32(recognition_date), toInt32(due_date), toInt32(cash_date), currency, net, tax, gross, allocation_node, allocation_net, certified, certified_codes, documents, channel, intake_status, toUnixTimestamp64Micro(received_at)
FROM records FINAL
PREWHERE id > {after:String}
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND NOT deleted
ORDER BY id, project
LIMIT {limit:UInt32}
-- after = "R2"
-- limit = "51"
-- projects = "[P1 P2]"
-- tenant = "acme"
