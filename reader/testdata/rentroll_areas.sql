SELECT arrayStringConcat(groupArray(formatRow('RowBinary', id, scope, assumeNotNull(area_m2))))
FROM units FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted AND area_m2 IS NOT NULL
-- project = "P1"
-- tenant = "acme"
