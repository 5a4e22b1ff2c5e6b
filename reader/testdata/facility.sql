SELECT id, project_ids, lender, type, currency, commitment, revolving, toInt32(availability_from), toInt32(availability_to), toInt32(maturity), day_count, reference_rate, margin_bp, floor_bp, floor_on, fixed_rate_bp, arrayMap(d -> toInt32(d), margin_step_from), margin_step_margin_bp, commitment_fee_bp, interest_treatment, toInt32(first_ipd), ipd_every_months, arrayMap(d -> toInt32(d), ipds)
FROM facilities FINAL
WHERE tenant = {tenant:String} AND project = '' AND id = {id:String} AND NOT deleted
  AND hasAll({projects:Array(String)}, project_ids)
-- id = "F1"
-- projects = "[P1 P2]"
-- tenant = "acme"
