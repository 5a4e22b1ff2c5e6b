SELECT id, node_id, toInt32(start_date), toInt32(end_date), method, arrayMap(m -> toInt32(toInt32(substring(m, 1, 4)) * 12 + toInt32(substring(m, 6, 2)) - 1), custom_month), custom_value, recurring_every_months, recurring_from, recurring_to
FROM line_plans FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted AND node_id = {line:String}
ORDER BY id DESC
LIMIT 1
-- line = "a"
-- project = "P1"
-- tenant = "acme"
