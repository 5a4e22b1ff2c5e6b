SELECT id, name, city, country, tax_id, registration_number, marked
FROM (
  SELECT id, name, city, country, tax_id, registration_number
  FROM contractors FINAL
  WHERE tenant = {tenant:String} AND project = '' AND id > {after:String} AND id <= {to:String} AND NOT deleted
) AS contractor
INNER JOIN (
  SELECT referred, max(project IN {marked:Array(String)}) AS marked
  FROM (
    SELECT project, contractor AS referred
    FROM sums
    WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND (startsWith(keys, 'references\0')) AND keys > {after_keys:String} AND keys <= {to_keys:String}
    GROUP BY project, contractor
    HAVING sum(count) != 0
    UNION ALL
    SELECT project, contractor_id
    FROM contracts FINAL
    WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND contractor_id > {after:String} AND contractor_id <= {to:String} AND NOT deleted
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
-- to = "K9"
-- to_keys = "references\x00K9\x00\x00\x00\x00"
