SELECT 'leases', arrayStringConcat(groupArray(formatRow('RowBinary', indexation_type, indexation_rate_bp, ifNull(toInt32(indexation_first_on), 0), indexation_every_months, indexation_series, if(indexation_base_month = '', '1900-01', indexation_base_month), indexation_threshold_bp, indexation_lag_months, indexation_share_bp, indexation_cap_bp, indexation_floor_bp, id, category, counterparty_name, status, unit_ids, toInt32(start_date), toInt32(end_date), toInt32(effective_end), currency, indexation_text)))
FROM leases FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted
UNION ALL
SELECT 'runs', arrayStringConcat(groupArray(row))
FROM (
  SELECT formatRow('RowBinary', keys, sum(value), sum(count)) AS row
  FROM sums
  WHERE tenant = {tenant:String} AND project = {project:String} AND (startsWith(keys, 'rent\0'))
    AND substring(keys, -7) <= {last:String} AND until >= {first:String}
  GROUP BY keys
)
-- first = "2026-05"
-- last = "2027-04"
-- project = "P1"
-- tenant = "acme"
