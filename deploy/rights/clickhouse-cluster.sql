-- What the users of ClickHouse may do besides where several servers share the work (docs/operations.md#shards): run it after clickhouse.sql,
-- once, on every server or with ON CLUSTER behind each GRANT; put the database's name where it isn't tallyhouse, and the same with _all behind
-- it for the database through which the rows of all shards are read.

-- tallyhouse api and tallyhouse desk. Reading through one server takes the same rights on the others: of the user that remote_servers names
-- for them or, where it gives the cluster a <secret>, of the one who asks.
GRANT SELECT ON tallyhouse_all.* TO tallyhouse_reader;
GRANT INSERT ON tallyhouse_all.cursor_keys TO tallyhouse_reader;

-- tallyhouse migrate --cluster, which makes the tables over all shards anew each time; CLUSTER is for statements ON CLUSTER, so not needed
-- with --no-replicas.
GRANT SELECT, INSERT, CREATE DATABASE, CREATE TABLE, DROP TABLE ON tallyhouse_all.* TO tallyhouse_operator;
GRANT SELECT ON system.clusters TO tallyhouse_operator;
GRANT CLUSTER ON *.* TO tallyhouse_operator;
