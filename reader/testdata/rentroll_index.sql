SELECT series, month, value
FROM index_values FINAL
WHERE tenant = {tenant:String} AND project = '' AND NOT deleted AND series GLOBAL IN (
  SELECT indexation_series FROM leases FINAL WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted)
-- project = "P1"
-- tenant = "acme"
