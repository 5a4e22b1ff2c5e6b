SELECT id, project, direction, source, status, workflow_step, contractor_id, counterparty_name, invoice_number, toInt32(recognition_date), toInt32(due_date), toInt32(cash_date), currency, net, tax, gross, allocation_node, allocation_net, certified, certified_codes, documents, channel, intake_status, toUnixTimestamp64Micro(received_at)
FROM records FINAL
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND id > {after:String} AND NOT deleted
ORDER BY id, project
-- after = "R1"
-- projects = "[P1]"
-- tenant = "acme"
