SELECT table, concat(name, ' ', hash_of_all_files)
FROM system.parts
WHERE database = currentDatabase() AND active AND table IN {tables:Array(String)}
-- tables = "[migrations budget_nodes contractors]"
