SELECT 'budget_nodes' AS of_table, project AS of, toString(max(row_version)) AS state
FROM budget_nodes
WHERE tenant = ''
GROUP BY project
UNION ALL
SELECT 'sums' AS of_table, project AS of, concat(toString(sum(position)), ' ', toString(sum(squares))) AS state
FROM sums
WHERE tenant = ''
GROUP BY project
UNION ALL
SELECT 'streams' AS of_table, concat(topic, ' ', toString(shard)) AS of, if(argMax(work, revision) = '', argMax(life, revision), '') AS state
FROM streams
GROUP BY topic, shard
