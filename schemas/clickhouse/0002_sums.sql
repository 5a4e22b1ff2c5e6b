-- All that adds up, in one table: the rolls (rolls.go) of every state table. Every column costs whenever rows are merged, so there are
-- few. keys is the name of the roll and five keys as one text, with a zero character between each two of them: texts that are compared and
-- copied as one. What a key and an amount mean depends on the roll. A key that a roll does not have is '' in its rows, an amount 0.
--
--   roll             | key1       | key2  | key3        | key4   | key5   | amount1  | amount2 | amount3   | amount4
--   -----------------+------------+-------+-------------+--------+--------+----------+---------+-----------+------------
--   lines            | contract   | node  | currency    | status |        | count    | net     | gross     | allocations
--   payments         |            | node  | currency    |        | month  |          | net     |           |
--   recognized       |            | node  |             |        | month  | count    |         |           |
--   references       | contractor |       |             |        |        | count    |         |           |
--   links            | contract   | node  | currency    |        | record | count    |         |           |
--   budget           |            | node  | currency    |        |        |          | value   |           |
--   budget_transfers |            | node  | currency    |        |        |          | value   |           |
--   contracts        | contract   | node  | currency    | status | line   | count    | value   | committed | pending
--   claims           |            | node  | currency    |        |        |          |         |           | pending
--   drawdowns        |            |       |             | status |        |          | value   |           |
--   capitalised      |            |       |             | status |        |          | value   |           |
--   repayments       |            |       |             | status |        |          | value   |           |
--   rent             | lease      | until | first_break | status | month  | count    | value   |           |
--                    |            |       |             |        |        | position | squares |           |
--
-- Each name in this table is an alias: read `node`, `net` of a roll. Aliases of keys are computed of each row: the sorting key finds a
-- roll by how keys begins, startsWith(keys, 'lines\0'), and one contract by 'lines\0C1\0'. The last line is a position: of each state
-- table and partition there is one row of tenant '', project '#table/partition' and no keys, whose position says how far the sums have
-- come. What a statement reads of each part is at least one granule: small ones keep the sums of one contract cheap, still smaller ones
-- make merges dear. What is read together lies together: between the names of the rolls that a budget is made of, from budget to lines,
-- there is none of another roll of a project, so a budget is one range.

CREATE TABLE IF NOT EXISTS sums {{onCluster}}
(
    tenant      String,
    project     String,
    keys        String,
    amount1     Int128,
    amount2     Int128,
    amount3     Int128,
    amount4     Int128,
    roll        String ALIAS splitByChar('\0', keys)[1],
    contract    String ALIAS splitByChar('\0', keys)[2],
    contractor  String ALIAS splitByChar('\0', keys)[2],
    lease       String ALIAS splitByChar('\0', keys)[2],
    node        String ALIAS splitByChar('\0', keys)[3],
    until       String ALIAS splitByChar('\0', keys)[3], -- the last month of a run
    currency    String ALIAS splitByChar('\0', keys)[4],
    first_break String ALIAS splitByChar('\0', keys)[4],
    status      String ALIAS splitByChar('\0', keys)[5],
    month       String ALIAS splitByChar('\0', keys)[6],
    line        String ALIAS splitByChar('\0', keys)[6],
    record      String ALIAS splitByChar('\0', keys)[6],
    count       Int128 ALIAS amount1, -- what is counted: records, allocations, lines; see the rolls
    position    Int128 ALIAS amount1, -- the sum of the batches' lengths,
    net         Int128 ALIAS amount2,
    value       Int128 ALIAS amount2, -- of budget rows, transfers and base contracts
    squares     Int128 ALIAS amount2, -- and of next * next - first * first, which tells a missing batch from another one as long
    gross       Int128 ALIAS amount3,
    committed   Int128 ALIAS amount3, -- base contract and approved amendments
    allocations Int128 ALIAS amount4, -- of records, 1 for one without any
    pending     Int128 ALIAS amount4  -- increases that are not decided yet
)
ENGINE = {{engine "SummingMergeTree" "(amount1, amount2, amount3, amount4)"}}
ORDER BY (tenant, project, keys)
SETTINGS {{durable}}, old_parts_lifetime = 60, index_granularity = 512, min_bytes_for_wide_part = 268435456, merge_selector_base = 15;
