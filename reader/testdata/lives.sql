SELECT topic, shard, argMax(life, revision)
FROM streams
WHERE topic IN {topics:Array(String)}
GROUP BY topic, shard
ORDER BY topic, shard
-- topics = "[ledger.records ledger.budget-nodes ledger.contractors]"
