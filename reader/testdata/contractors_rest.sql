SELECT id, name, city, country, tax_id, registration_number, marked
FROM (
  SELECT id, name, city, country, tax_id, registration_number
  FROM contractors FINAL
  WHERE tenant = {tenant:String} AND project = '' AND id > {after:String} AND NOT deleted
) AS contractor
INNER JOIN (
  SELECT referred, max(marked) AS marked
  FROM (
    SELECT contractor AS referred, sumIf(count, project IN {marked:Array(String)}) != 0 AS marked
    FROM sums
    PREWHERE (startsWith(keys, 'references\0')) AND keys > {after_keys:String}
    WHERE tenant = {tenant:String} AND project IN {projects:Array(String)}
    GROUP BY referred
    HAVING sum(count) != 0
    UNION ALL
    SELECT contractor_id, project IN {marked:Array(String)}
    FROM contracts FINAL
    WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND contractor_id > {after:String} AND NOT deleted
  )
  GROUP BY referred
) AS reference ON contractor.id = reference.referred
ORDER BY id
LIMIT {limit:UInt32}
-- after = "K1"
-- after_keys = "references\x00K1\x00\x00\x00\x00"
-- limit = "51"
-- marked = "[P2]"
-- projects = "[P1 P2]"
-- tenant = "acme"
