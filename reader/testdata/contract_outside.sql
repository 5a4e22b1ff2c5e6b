SELECT project, contract, record
FROM (
  SELECT project, contract, node, toString(currency) AS in_currency, record
  FROM sums
  WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND roll = 'links' AND contract IN {contracts:Array(String)}
    AND contractor = '' AND line = '' AND node IN (SELECT node FROM outside)
  GROUP BY project, contract, node, currency, record
  HAVING sum(count) != 0
)
WHERE (project, contract, node, in_currency) IN outside
GROUP BY project, contract, record
ORDER BY record
-- contracts = "[C1 C2]"
-- projects = "[P1]"
-- tenant = "acme"
-- table outside, 2 rows
