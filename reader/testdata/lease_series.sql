SELECT series, month, value
FROM index_values FINAL
WHERE tenant = {tenant:String} AND project = '' AND NOT deleted AND series IN {series:Array(String)}
-- series = "[VPI]"
-- tenant = "acme"
