SELECT newest_state, toInt64(count()), toInt64(any(looked))
FROM (
  SELECT argMax(state, row_version) AS newest_state, argMax(deleted, row_version) AS gone, any(rows) AS looked
  FROM (
    SELECT project, id, row_version, state, deleted, count() OVER () AS rows
    FROM (
      SELECT project, id, row_version, state, deleted
      FROM readings
      WHERE tenant = {tenant:String}
      ORDER BY tenant, newest, id
      LIMIT {limit:UInt32}
    )
  )
  WHERE project IN {projects:Array(String)}
  GROUP BY project, id
)
WHERE NOT gone AND newest_state != ''
GROUP BY newest_state
-- limit = "10000"
-- projects = "[P1 P2]"
-- tenant = "acme"
