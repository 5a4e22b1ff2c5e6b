SELECT id, kind, status, toInt32(date), value
FROM facility_entries FINAL
WHERE tenant = {tenant:String} AND project = {facility:String} AND NOT deleted
  AND (toInt32(date), id) > ({date:Int32}, {after:String})
ORDER BY date, id
LIMIT {limit:UInt32}
-- after = "E1"
-- date = "20543"
-- facility = "F1"
-- limit = "51"
-- tenant = "acme"
