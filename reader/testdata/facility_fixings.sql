SELECT id, toInt32(period_start), reference_bp
FROM fixings FINAL
WHERE tenant = {tenant:String} AND project = {facility:String} AND NOT deleted
-- facility = "F1"
-- tenant = "acme"
