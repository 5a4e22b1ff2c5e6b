SELECT 'records', project, max(row_version)
FROM records
WHERE tenant = ''
GROUP BY project
UNION ALL
SELECT 'budget_nodes', project, max(row_version)
FROM budget_nodes
WHERE tenant = ''
GROUP BY project
UNION ALL
SELECT 'contractors', project, max(row_version)
FROM contractors
WHERE tenant = ''
GROUP BY project
