SELECT id, assumeNotNull(value), toUnixTimestamp64Micro(at)
FROM uncommitted_entries FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted AND value IS NOT NULL AND currency = {currency:String}
  AND node_id = {line:String}
ORDER BY id DESC
LIMIT 1
-- currency = "EUR"
-- line = "a"
-- project = "P1"
-- tenant = "acme"
