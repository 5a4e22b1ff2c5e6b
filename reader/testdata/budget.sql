SELECT 'nodes' AS part, '' AS node, project AS id, '' AS line, '' AS currency, '' AS kind, concat(reinterpretAsFixedString(toInt128(max(row_version))), '') AS sums
FROM budget_nodes
WHERE tenant = ''
GROUP BY project
UNION ALL
SELECT 'lines', node, contract, '', currency, '', concat(reinterpretAsFixedString(toInt128(sumIf(net, status = 'setup'))), reinterpretAsFixedString(toInt128(sumIf(gross, status = 'setup'))), reinterpretAsFixedString(toInt128(sumIf(count, status = 'setup'))), reinterpretAsFixedString(toInt128(sumIf(net, status = 'approvalPending'))), reinterpretAsFixedString(toInt128(sumIf(gross, status = 'approvalPending'))), reinterpretAsFixedString(toInt128(sumIf(count, status = 'approvalPending'))), reinterpretAsFixedString(toInt128(sumIf(net, status = 'paymentPending'))), reinterpretAsFixedString(toInt128(sumIf(gross, status = 'paymentPending'))), reinterpretAsFixedString(toInt128(sumIf(count, status = 'paymentPending'))), reinterpretAsFixedString(toInt128(sumIf(net, status = 'paid'))), reinterpretAsFixedString(toInt128(sumIf(gross, status = 'paid'))), reinterpretAsFixedString(toInt128(sumIf(count, status = 'paid'))), '')
FROM sums
WHERE tenant = {tenant:String} AND project = {project:String} AND roll = 'lines'
GROUP BY contract, node, currency
UNION ALL
SELECT roll, node, contract, line, currency, status, concat(reinterpretAsFixedString(toInt128(sum(value))), reinterpretAsFixedString(toInt128(sum(committed))), reinterpretAsFixedString(toInt128(sum(pending))), reinterpretAsFixedString(toInt128(sum(count))), '')
FROM sums
WHERE tenant = {tenant:String} AND project = {project:String} AND roll IN {rolls:Array(String)}
GROUP BY roll, node, contract, line, currency, status
UNION ALL
SELECT 'entries', node_id, id, '', toString(currency), '', concat(reinterpretAsFixedString(toInt128(ifNull(value, 0))), '')
FROM uncommitted_entries FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted AND value IS NOT NULL
-- project = "P1"
-- rolls = "[budget claims contracts transfers]"
-- tenant = "acme"
