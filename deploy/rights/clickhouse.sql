-- What the users of ClickHouse may do (docs/security.md#rights): one role for each kind of process. Run it once, as a user who may
-- create roles, on every server or with ON CLUSTER behind each role; put the database's name where it isn't tallyhouse.

-- tallyhouse api and tallyhouse desk. They keep the keys of cursors, unless --cursor-key-file gives them, end their own statements when nobody
-- waits for them any more, and see by a table's parts that it hasn't changed; without that right they read tables more often.
CREATE ROLE IF NOT EXISTS tallyhouse_reader;
GRANT SELECT ON tallyhouse.* TO tallyhouse_reader;
GRANT INSERT ON tallyhouse.cursor_keys TO tallyhouse_reader;
GRANT SELECT ON system.processes TO tallyhouse_reader;
GRANT SELECT ON system.parts TO tallyhouse_reader;

-- tallyhouse ingest. It ends the inserts of workers before it, whoever they ran as, and looks for parts that the server put aside.
CREATE ROLE IF NOT EXISTS tallyhouse_worker;
GRANT SELECT, INSERT ON tallyhouse.* TO tallyhouse_worker;
GRANT ALTER DELETE ON tallyhouse.fences TO tallyhouse_worker;
GRANT SELECT ON system.processes TO tallyhouse_worker;
GRANT SELECT ON system.detached_parts TO tallyhouse_worker;
GRANT SELECT ON system.replicas TO tallyhouse_worker;
GRANT KILL QUERY ON *.* TO tallyhouse_worker;

-- The commands of operators: migrate, verify, rebuild, adopt, topics resize.
CREATE ROLE IF NOT EXISTS tallyhouse_operator;
GRANT SELECT, INSERT, CREATE DATABASE, CREATE TABLE, CREATE VIEW, ALTER ON tallyhouse.* TO tallyhouse_operator;
GRANT TABLE ENGINE ON * TO tallyhouse_operator;
GRANT SELECT ON system.processes TO tallyhouse_operator;
GRANT SELECT ON system.detached_parts TO tallyhouse_operator;
GRANT KILL QUERY ON *.* TO tallyhouse_operator;
