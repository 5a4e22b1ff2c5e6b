SELECT id, project, direction, source, status, workflow_step, contractor_id, counterparty_name, invoice_number, toInt32(recognition_date), toInt32(due_date), toInt32(cash_date), currency, net, tax, gross, allocation_node, allocation_net, certified, certified_codes, documents, channel, intake_status, toUnixTimestamp64Micro(received_at)
FROM records FINAL
WHERE tenant = {tenant:String} AND project = {project0:String} AND id > {after:String} AND NOT deleted
ORDER BY tenant, project, id
LIMIT {limit:UInt32}
-- after = "R1"
-- limit = "51"
-- project0 = "P1"
-- tenant = "acme"
