SELECT 'nodes' AS part, '' AS node, project AS id, '' AS line, '' AS currency, '' AS kind, concat(reinterpretAsFixedString(toInt128(max(row_version))), '') AS sums
FROM budget_nodes
WHERE tenant = ''
GROUP BY project
UNION ALL
SELECT 'budget', node, '', '', toString(currency), '', concat(reinterpretAsFixedString(toInt128(sum(value))), '')
FROM budget_sums
WHERE tenant = {tenant:String} AND project = {project:String}
GROUP BY node, currency
UNION ALL
SELECT 'budget', node, '', '', toString(currency), '', concat(reinterpretAsFixedString(toInt128(sum(value))), '')
FROM transfer_sums
WHERE tenant = {tenant:String} AND project = {project:String}
GROUP BY node, currency
UNION ALL
SELECT 'records', node, contract, '', toString(currency), toString(source), concat(reinterpretAsFixedString(toInt128(sumIf(net, status = 'setup'))), reinterpretAsFixedString(toInt128(sumIf(gross, status = 'setup'))), reinterpretAsFixedString(toInt128(sumIf(count, status = 'setup'))), reinterpretAsFixedString(toInt128(sumIf(net, status = 'approvalPending'))), reinterpretAsFixedString(toInt128(sumIf(gross, status = 'approvalPending'))), reinterpretAsFixedString(toInt128(sumIf(count, status = 'approvalPending'))), reinterpretAsFixedString(toInt128(sumIf(net, status = 'paymentPending'))), reinterpretAsFixedString(toInt128(sumIf(gross, status = 'paymentPending'))), reinterpretAsFixedString(toInt128(sumIf(count, status = 'paymentPending'))), reinterpretAsFixedString(toInt128(sumIf(net, status = 'paid'))), reinterpretAsFixedString(toInt128(sumIf(gross, status = 'paid'))), reinterpretAsFixedString(toInt128(sumIf(count, status = 'paid'))), '')
FROM record_lines
WHERE tenant = {tenant:String} AND project = {project:String}
GROUP BY contract, node, currency, source
UNION ALL
SELECT 'contracts', node, contract, line, toString(currency), toString(status), concat(reinterpretAsFixedString(toInt128(sum(base))), reinterpretAsFixedString(toInt128(sum(committed))), reinterpretAsFixedString(toInt128(sum(pending))), '')
FROM contract_sums
WHERE tenant = {tenant:String} AND project = {project:String}
GROUP BY contract, line, node, currency, status
HAVING sum(lines) != 0 OR sum(pending) != 0
UNION ALL
SELECT 'claims', node, '', '', toString(currency), '', concat(reinterpretAsFixedString(toInt128(sum(pending))), '')
FROM claim_sums
WHERE tenant = {tenant:String} AND project = {project:String}
GROUP BY node, currency
UNION ALL
SELECT 'entries', node_id, id, '', toString(currency), '', concat(reinterpretAsFixedString(toInt128(ifNull(value, 0))), '')
FROM uncommitted_entries FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted AND value IS NOT NULL
-- project = "P1"
-- tenant = "acme"
