SELECT id, kind, status, toInt32(date), value
FROM facility_entries FINAL
WHERE tenant = {tenant:String} AND project = {facility:String} AND NOT deleted
-- facility = "F1"
-- tenant = "acme"
