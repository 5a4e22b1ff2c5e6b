SELECT indexation_type, indexation_rate_bp, ifNull(toInt32(indexation_first_on), 0), indexation_every_months, indexation_series, if(indexation_base_month = '', '1900-01', indexation_base_month), indexation_threshold_bp, indexation_lag_months, indexation_share_bp, indexation_cap_bp, indexation_floor_bp, id, category, counterparty_name, of_status, unit_ids, toInt32(start_date), toInt32(end_date), toInt32(effective_end), currency, indexation_text, runs
FROM (
  SELECT *, toString(status) AS of_status
  FROM leases FINAL
  WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted
) AS l
INNER JOIN (
  SELECT of_lease, arrayStringConcat(groupArray(concat(reinterpretAsFixedString(toInt32(start)), reinterpretAsFixedString(toInt32(last)), reinterpretAsFixedString(toInt64(rent)), reinterpretAsFixedString(toUInt8(free)), reinterpretAsFixedString(toInt32(leave)), ''))) AS runs
  FROM (
    SELECT lease AS of_lease, toInt32(substring(month, 1, 4)) * 12 + toInt32(substring(month, 6, 2)) - 1 AS start, toInt32(substring(until, 1, 4)) * 12 + toInt32(substring(until, 6, 2)) - 1 AS last,
      toInt64(sum(value)) AS rent, CAST(status = 'rentFree', 'Bool') AS free,
      if(first_break = '', toInt32(-2147483648), toInt32(toDate32OrZero(toString(first_break)))) AS leave
    FROM sums
    WHERE tenant = {tenant:String} AND project = {project:String} AND (startsWith(keys, 'rent\0')) AND month <= {last:String} AND until >= {first:String}
    GROUP BY lease, month, until, status, first_break
    HAVING sum(count) > 0
  )
  GROUP BY of_lease
) AS r ON l.id = r.of_lease
-- first = "2026-05"
-- last = "2027-04"
-- project = "P1"
-- tenant = "acme"
