SELECT concat(reinterpretAsFixedString(length('nodes')), 'nodes', reinterpretAsFixedString(length('')), '', reinterpretAsFixedString(length(project)), project, reinterpretAsFixedString(length('')), '', reinterpretAsFixedString(length('')), '', reinterpretAsFixedString(length('')), '', reinterpretAsFixedString(length(concat(reinterpretAsFixedString(toInt128(max(row_version))), ''))), concat(reinterpretAsFixedString(toInt128(max(row_version))), '')) AS texts
FROM budget_nodes
WHERE tenant = ''
GROUP BY project
UNION ALL
SELECT arrayStringConcat(groupArray(concat(reinterpretAsFixedString(length('lines')), 'lines', reinterpretAsFixedString(length(node)), node, reinterpretAsFixedString(length(contract)), contract, reinterpretAsFixedString(length('')), '', reinterpretAsFixedString(length(currency)), currency, reinterpretAsFixedString(length('')), '', reinterpretAsFixedString(length(packed)), packed)))
FROM (
  SELECT contract, node, currency, concat(reinterpretAsFixedString(toInt128(sumIf(net, status = 'setup'))), reinterpretAsFixedString(toInt128(sumIf(gross, status = 'setup'))), reinterpretAsFixedString(toInt128(sumIf(count, status = 'setup'))), reinterpretAsFixedString(toInt128(sumIf(net, status = 'approvalPending'))), reinterpretAsFixedString(toInt128(sumIf(gross, status = 'approvalPending'))), reinterpretAsFixedString(toInt128(sumIf(count, status = 'approvalPending'))), reinterpretAsFixedString(toInt128(sumIf(net, status = 'paymentPending'))), reinterpretAsFixedString(toInt128(sumIf(gross, status = 'paymentPending'))), reinterpretAsFixedString(toInt128(sumIf(count, status = 'paymentPending'))), reinterpretAsFixedString(toInt128(sumIf(net, status = 'paid'))), reinterpretAsFixedString(toInt128(sumIf(gross, status = 'paid'))), reinterpretAsFixedString(toInt128(sumIf(count, status = 'paid'))), '') AS packed
  FROM sums
WHERE tenant = {tenant:String} AND project = {project:String} AND (startsWith(keys, 'lines\0'))
  GROUP BY contract, node, currency
)
UNION ALL
SELECT arrayStringConcat(groupArray(concat(reinterpretAsFixedString(length(roll)), roll, reinterpretAsFixedString(length(node)), node, reinterpretAsFixedString(length(contract)), contract, reinterpretAsFixedString(length(line)), line, reinterpretAsFixedString(length(currency)), currency, reinterpretAsFixedString(length(status)), status, reinterpretAsFixedString(length(packed)), packed)))
FROM (
  SELECT roll, node, contract, line, currency, status, concat(reinterpretAsFixedString(toInt128(sum(value))), reinterpretAsFixedString(toInt128(sum(committed))), reinterpretAsFixedString(toInt128(sum(pending))), reinterpretAsFixedString(toInt128(sum(count))), '') AS packed
  FROM sums
WHERE tenant = {tenant:String} AND project = {project:String} AND (startsWith(keys, 'budget\0') OR startsWith(keys, 'claims\0') OR startsWith(keys, 'contracts\0') OR startsWith(keys, 'transfers\0'))
  GROUP BY roll, node, contract, line, currency, status
)
UNION ALL
SELECT concat(reinterpretAsFixedString(length('entries')), 'entries', reinterpretAsFixedString(length(node_id)), node_id, reinterpretAsFixedString(length(id)), id, reinterpretAsFixedString(length('')), '', reinterpretAsFixedString(length(toString(currency))), toString(currency), reinterpretAsFixedString(length('')), '', reinterpretAsFixedString(length(concat(reinterpretAsFixedString(toInt128(ifNull(value, 0))), ''))), concat(reinterpretAsFixedString(toInt128(ifNull(value, 0))), ''))
FROM uncommitted_entries FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted AND value IS NOT NULL
UNION ALL
SELECT arrayStringConcat(groupArray(concat(reinterpretAsFixedString(length(roll)), roll, reinterpretAsFixedString(length(node)), node, reinterpretAsFixedString(length('')), '', reinterpretAsFixedString(length('')), '', reinterpretAsFixedString(length(currency)), currency, reinterpretAsFixedString(length('')), '', reinterpretAsFixedString(length(months)), months)))
FROM (
  SELECT roll, node, currency, arrayStringConcat(groupArray(concat(month, if(roll = 'cash', concat(reinterpretAsFixedString(toInt128(net)), ''), concat(reinterpretAsFixedString(toInt64(count)), ''))))) AS months
  FROM sums
  WHERE tenant = {tenant:String} AND project = {project:String} AND ((startsWith(keys, 'cash\0')) OR (startsWith(keys, 'recognized\0')) AND month >= ifNull((
    SELECT minOrNull(toString(recurring_from))
    FROM line_plans FINAL
    WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted AND recurring_every_months > 0), 'none'))
  GROUP BY roll, node, currency
)
-- project = "P1"
-- tenant = "acme"
