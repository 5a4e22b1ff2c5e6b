SELECT 'sums' AS part, project AS of, concat(toString(sum(position)), ' ', toString(sum(squares))) AS state
FROM sums
WHERE tenant = '' AND arrayExists(view -> startsWith(project, view), {views:Array(String)})
GROUP BY project
UNION ALL
SELECT if(argMax(work, revision) = '', 'streams', 'work'), concat(topic, ' ', toString(shard)), argMax(life, revision)
FROM streams
GROUP BY topic, shard
UNION ALL
SELECT 'budget_nodes', project, toString(max(row_version))
FROM budget_nodes
WHERE tenant = ''
GROUP BY project
UNION ALL
SELECT 'uncommitted_entries', project, toString(max(row_version))
FROM uncommitted_entries
WHERE tenant = ''
GROUP BY project
-- views = "[#budget_rows/ #budget_transfers/ #contracts/ #claims/]"
