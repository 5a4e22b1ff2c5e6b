-- Every state table begins and ends with the same columns. tenant, project, id: the sorting key; project is '' for entities of no
-- project. row_version: the entity's version. moved: the entity went to another project, its row is there.
-- The position row of partition p has tenant '', project '#p', id '' and row_version = the next offset. In a table whose entities
-- contribute to sums it carries in delta what its batch changed in them. Position rows are read with most requests, and of each part at
-- least a granule of them: tables of which that is so have small ones.

CREATE TABLE IF NOT EXISTS projects {{onCluster}}
(
    tenant              LowCardinality(String),
    project             String,       -- the project's own id
    id                  String,
    row_version         UInt64,
    deleted             Bool,
    at                  DateTime64(6, 'UTC'),
    name                String,
    workspace_id        Nullable(String),
    currency            LowCardinality(String),
    budget_structure_id Nullable(String),
    inbound_email       Nullable(String),
    src_partition       UInt32,
    src_offset          UInt64,
    batch_first         UInt64,
    key_hash            UInt32,
    content_hash        UInt64,
    moved               Bool
)
ENGINE = {{engine "ReplacingMergeTree" "row_version"}}
ORDER BY (tenant, project, id)
SETTINGS {{durable}}, old_parts_lifetime = 60;

CREATE TABLE IF NOT EXISTS budget_nodes {{onCluster}}
(
    tenant           LowCardinality(String),
    project          String,          -- '' for a node of a structure, which projects share
    id               String,          -- the nodeId
    row_version      UInt64,
    deleted          Bool,
    at               DateTime64(6, 'UTC'),
    structure_id     Nullable(String),
    parent_id        Nullable(String),
    level            LowCardinality(String),
    code             String,
    name             String,
    description      Nullable(String),
    active           Bool,
    accounting_codes String,          -- JSON array as in the event
    src_partition    UInt32,
    src_offset       UInt64,
    batch_first      UInt64,
    key_hash         UInt32,
    content_hash     UInt64,
    moved            Bool
)
ENGINE = {{engine "ReplacingMergeTree" "row_version"}}
ORDER BY (tenant, project, id)
SETTINGS {{durable}}, old_parts_lifetime = 60, index_granularity = 128;

CREATE TABLE IF NOT EXISTS contractors {{onCluster}}
(
    tenant              LowCardinality(String),
    project             String,       -- always ''
    id                  String,
    row_version         UInt64,
    deleted             Bool,
    at                  DateTime64(6, 'UTC'),
    name                Nullable(String),
    city                Nullable(String),
    country             Nullable(String),
    tax_id              Nullable(String),
    registration_number Nullable(String),
    src_partition       UInt32,
    src_offset          UInt64,
    batch_first         UInt64,
    key_hash            UInt32,
    content_hash        UInt64,
    moved               Bool
)
ENGINE = {{engine "ReplacingMergeTree" "row_version"}}
ORDER BY (tenant, project, id)
SETTINGS {{durable}}, old_parts_lifetime = 60, index_granularity = 128;

CREATE TABLE IF NOT EXISTS users {{onCluster}}
(
    tenant        LowCardinality(String),
    project       String,             -- always ''
    id            String,
    row_version   UInt64,
    deleted       Bool,
    at            DateTime64(6, 'UTC'),
    name          String,
    email         Nullable(String),
    active        Bool,
    src_partition UInt32,
    src_offset    UInt64,
    batch_first   UInt64,
    key_hash      UInt32,
    content_hash  UInt64,
    moved         Bool
)
ENGINE = {{engine "ReplacingMergeTree" "row_version"}}
ORDER BY (tenant, project, id)
SETTINGS {{durable}}, old_parts_lifetime = 60;

CREATE TABLE IF NOT EXISTS memberships {{onCluster}}
(
    tenant             LowCardinality(String),
    project            String,        -- always '': where the membership holds is its scope
    id                 String,
    row_version        UInt64,
    deleted            Bool,
    at                 DateTime64(6, 'UTC'),
    user_id            String,
    scope_project_id   Nullable(String),
    scope_workspace_id Nullable(String),
    scope_tenant       Bool,
    role               LowCardinality(String),
    src_partition      UInt32,
    src_offset         UInt64,
    batch_first        UInt64,
    key_hash           UInt32,
    content_hash       UInt64,
    moved              Bool
)
ENGINE = {{engine "ReplacingMergeTree" "row_version"}}
ORDER BY (tenant, project, id)
SETTINGS {{durable}}, old_parts_lifetime = 60;

CREATE TABLE IF NOT EXISTS keys {{onCluster}}
(
    tenant          LowCardinality(String),
    project         String,           -- always '': the ceiling is project_ids
    id              String,
    row_version     UInt64,
    deleted         Bool,
    at              DateTime64(6, 'UTC'),
    owner_user_id   String,
    environment     LowCardinality(String),
    prefix          String,
    secret_sha256   String,           -- hex
    financial       Bool,
    has_groups      Bool,             -- whether a ceiling of field groups is given
    groups          Array(String),
    has_project_ids Bool,             -- whether a ceiling of projects is given
    project_ids     Array(String),
    expires_at      Nullable(DateTime64(6, 'UTC')),
    revoked_at      Nullable(DateTime64(6, 'UTC')),
    src_partition   UInt32,
    src_offset      UInt64,
    batch_first     UInt64,
    key_hash        UInt32,
    content_hash    UInt64,
    moved           Bool
)
ENGINE = {{engine "ReplacingMergeTree" "row_version"}}
ORDER BY (tenant, project, id)
SETTINGS {{durable}}, old_parts_lifetime = 60;
