SELECT id, project, site_id, site_name, building_id, label, type, floor, area_m2, spaces, scope, asking_rate_value, asking_rate_currency
FROM units FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND id > {after:String} AND NOT deleted
ORDER BY id
LIMIT {limit:UInt32}
-- after = "U1"
-- limit = "51"
-- project = "P1"
-- tenant = "acme"
