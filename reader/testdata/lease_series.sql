SELECT series, month, value
FROM index_values FINAL
WHERE tenant = {tenant:String} AND project = '' AND NOT deleted AND series = {series:String}
-- series = "VPI"
-- tenant = "acme"
