-- All that adds up, in one table: the rolls (rolls.go) of every state table. Every column costs whenever rows are merged, so rolls share
-- them: what a column holds depends on the roll. A key that a roll does not have is '' in its rows, an amount 0.
--
--   roll        | key1       | key2  | key3        | key4   | key5   | amount1  | amount2 | amount3   | amount4
--   ------------+------------+-------+-------------+--------+--------+----------+---------+-----------+------------
--   lines       | contract   | node  | currency    | status |        | count    | net     | gross     | allocations
--   cash        |            | node  | currency    |        | month  |          | net     |           |
--   recognized  |            | node  |             |        | month  | count    |         |           |
--   contractors | contractor |       |             |        |        | count    |         |           |
--   links       | contract   | node  | currency    |        | record | count    |         |           |
--   budget      |            | node  | currency    |        |        |          | value   |           |
--   transfers   |            | node  | currency    |        |        |          | value   |           |
--   contracts   | contract   | node  | currency    | status | line   | count    | value   | committed | pending
--   claims      |            | node  | currency    |        |        |          |         |           | pending
--   drawdowns   |            |       |             | status |        |          | value   |           |
--   capitalised |            |       |             | status |        |          | value   |           |
--   repayments  |            |       |             | status |        |          | value   |           |
--   rent        | lease      | until | first_break | status | month  | count    | value   |           |
--               |            |       |             |        |        | position | squares |           |
--
-- Each name in this table is an alias of its column: name the roll, and read `node`, `net`. The last line is a position: of each state
-- table and partition there is one row of tenant '', project '#table/partition' and no roll, whose position says how far the sums have
-- come. What a statement reads of each part is at least one granule: small ones keep the sums of one contract cheap, still smaller ones
-- make merges dear.

CREATE TABLE IF NOT EXISTS sums {{onCluster}}
(
    tenant      String,
    project     String,
    roll        String,
    key1        String,
    key2        String,
    key3        String,
    key4        String,
    key5        String,
    amount1     Int128,
    amount2     Int128,
    amount3     Int128,
    amount4     Int128,
    contract    String ALIAS key1,
    contractor  String ALIAS key1,
    lease       String ALIAS key1,
    node        String ALIAS key2,
    until       String ALIAS key2,    -- the last month of a run
    currency    String ALIAS key3,
    first_break String ALIAS key3,
    status      String ALIAS key4,
    month       String ALIAS key5,
    line        String ALIAS key5,
    record      String ALIAS key5,
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
ORDER BY (tenant, project, roll, key1, key2, key3, key4, key5)
SETTINGS {{durable}}, old_parts_lifetime = 60, index_granularity = 1024, min_bytes_for_wide_part = 268435456, merge_selector_base = 15;
