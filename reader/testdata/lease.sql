SELECT id, project, category, counterparty_name, status, unit_ids, toInt32(start_date), toInt32(end_date), currency, monthly_rent, arrayMap(d -> toInt32(d), step_from), step_monthly_rent, arrayMap(d -> toInt32(d), rent_free_from), arrayMap(d -> toInt32(d), rent_free_to), arrayMap(d -> toInt32(d), break_date), break_party, break_state, indexation_text, indexation_type, indexation_rate_bp, ifNull(toInt32(indexation_first_on), 0), indexation_every_months, indexation_series, if(indexation_base_month = '', '1900-01', indexation_base_month), indexation_threshold_bp, indexation_lag_months, indexation_share_bp, indexation_cap_bp, indexation_floor_bp
FROM leases FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND id = {id:String} AND NOT deleted
-- id = "L1"
-- project = "P1"
-- tenant = "acme"
