-- All that adds up, in one table: the rolls (rolls.go) of every state table. A key that a roll does not have is '' in its rows, an amount
-- 0. Of each state table and partition there is one row more, tenant '', project '#table/partition', whose position says how far the sums
-- have come. What a statement reads of each part is at least one granule: small ones keep the sums of one contract cheap, still smaller
-- ones make merges dear.

CREATE TABLE IF NOT EXISTS sums {{onCluster}}
(
    tenant      String,
    project     String,
    roll        String,
    contract    String,
    contractor  String,
    line        String,
    node        String,
    currency    String,
    status      String,
    month       String,
    record      String,
    position    Int128, -- rows of tenant '' alone, which have no other amount: the sum of the batches' lengths,
    squares     Int128, -- and of next * next - first * first, which tells a missing batch from another one as long
    count       Int128, -- what is counted: records, allocations, lines; see the rolls
    allocations Int128, -- of records, 1 for one without any
    net         Int128,
    gross       Int128,
    value       Int128, -- of budget rows, transfers and base contracts
    committed   Int128, -- base contract and approved amendments
    pending     Int128  -- increases that are not decided yet
)
ENGINE = {{engine "SummingMergeTree" "(position, squares, count, allocations, net, gross, value, committed, pending)"}}
ORDER BY (tenant, project, roll, contract, contractor, line, node, currency, status, month, record)
SETTINGS {{durable}}, old_parts_lifetime = 60, index_granularity = 1024, min_bytes_for_wide_part = 268435456, merge_selector_base = 15;
