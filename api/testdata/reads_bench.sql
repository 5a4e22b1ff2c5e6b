-- What BenchmarkReads reads: see there. Each part has something of everything, and parts are as merges leave them: one holds
-- what is old, five hold what was merged since, six the last minutes. Sums are made as the views would make them: what a part
-- changes in them. {tenant} and {part} are filled in.
SYSTEM STOP MERGES;

CREATE OR REPLACE FUNCTION partOf AS hash -> multiIf(hash % 1000 < 620, 0, hash % 1000 < 970, 1 + intDiv(hash % 1000 - 620, 70), 6 + intDiv(hash % 1000 - 970, 5));

-- Records: of P000 94,000, of each of 29 projects 3,200, of each of 470 projects 500. Most come in as one status, and are
-- paid, as far as they are, in the same part or a later one.
CREATE TABLE changes ENGINE = Memory AS
WITH
    (SELECT range(2)) AS versions,
    sipHash64(number, 'line') AS random,
    multiIf(number < 94000, 0, number < 186800, 1 + number % 29, 30 + number % 470) AS project_number,
    random % 2 = 0 AS linked,
    if(project_number = 0, intDiv(random, 8) % 400, intDiv(random, 8) % 10) AS contract_number,
    partOf(cityHash64(number)) AS came,
    if(intDiv(random, 7) % 10 < if(came = 0, 8, 5), came, least(11, came + 1 + intDiv(random, 77) % 5)) AS paid,
    ['setup', 'approvalPending', 'paymentPending'][random % 3 + 1] AS first_status
SELECT
    number,
    'P' || leftPad(toString(project_number), 3, '0') AS project,
    lower(hex(sipHash64(number))) AS id,
    'node-' || toString(200 + if(linked, (contract_number * 5 + intDiv(random, 4096) % 5 + if(intDiv(random, 65536) % 50 = 0, 1000, 0)) % 1800, random % 1800)) AS node,
    if(linked, project || '-c-' || leftPad(toString(contract_number), 3, '0'), '') AS contract,
    'contractor-' || toString(intDiv(random, 16) % 5000) AS contractor,
    arrayJoin(if(random % 5 < 3, [1, 2], [1])) AS version,
    if(version = 2, paid, came) AS part,
    if(version = 1, first_status, 'paid') AS status,
    if(version = 1, '', first_status) AS before,
    toInt64(100000 + random % 1000000) AS net,
    toDate32('2021-05-01') + intDiv(random, 32) % 1820 AS recognized,
    substring(toString(recognized), 1, 7) AS month
FROM numbers(421800);

CREATE TABLE leased ENGINE = Memory AS
SELECT
    number, 'P' || leftPad(toString(if(number < 5000, 0, number % 499 + 1)), 3, '0') AS project,
    'lease-' || lower(hex(sipHash64(number))) AS id, partOf(cityHash64(number)) AS part,
    toDate32('1996-02-01') + INTERVAL number * 7 % 360 MONTH AS start, substring(toString(start), 1, 7) AS first
FROM numbers(8000);

-- What a part holds of a table is gathered first, to come in one insert.
CREATE TABLE gathered_sums
(
    tenant String, project String, roll String, key1 String, key2 String, key3 String, key4 String, key5 String,
    amount1 Int128, amount2 Int128, amount3 Int128, amount4 Int128
) ENGINE = Memory;
CREATE TABLE gathered_contractors AS contractors ENGINE = Memory;
CREATE TABLE gathered_nodes AS budget_nodes ENGINE = Memory;

INSERT INTO streams (topic, revision, life) SELECT 'topic-' || toString(number), 1, 'life' FROM numbers(20);

-- each part
INSERT INTO records (tenant, project, id, row_version, source, direction, status, workflow_step, contractor_id, invoice_number, recognition_date, due_date,
    cash_date, currency, net, tax, gross, allocation_node, allocation_net, contract_id, certified_codes, documents, channel, intake_status, received_at)
SELECT {tenant}, project, id, version, 'invoice', 'out', status, 'Step', contractor, 'RE-' || toString(number), recognized, recognized + 30,
    if(status = 'paid', recognized + 40, NULL), 'EUR', net, 0, net, [node], [net], contract, '[]', '[{"name":"invoice.pdf","kind":"original"}]', 'email', 'completed',
    toDateTime64(recognized, 6, 'UTC')
FROM changes WHERE part = {part};

INSERT INTO gathered_sums (tenant, project, roll, key1, key2, key3, key4, amount1, amount4, amount2, amount3)
SELECT {tenant}, project, 'lines', contract, node, 'EUR', change.1, sum(change.2), sum(change.2), sum(change.2 * net), sum(change.2 * net)
FROM (SELECT *, arrayJoin(if(version = 1, [(status, 1)], [(status, 1), (before, -1)])) AS change FROM changes WHERE part = {part})
GROUP BY project, contract, node, change.1;

INSERT INTO gathered_sums (tenant, project, roll, key2, key3, key5, amount2)
SELECT {tenant}, project, 'payments', node, 'EUR', month, sum(net) FROM changes WHERE part = {part} AND status = 'paid' GROUP BY project, node, month;

INSERT INTO gathered_sums (tenant, project, roll, key2, key5, amount1)
SELECT {tenant}, project, 'recognized', node, month, count() FROM changes WHERE part = {part} AND version = 1 GROUP BY project, node, month;

INSERT INTO gathered_sums (tenant, project, roll, key1, amount1)
SELECT {tenant}, project, 'references', contractor, count() FROM changes WHERE part = {part} AND version = 1 GROUP BY project, contractor;

INSERT INTO gathered_sums (tenant, project, roll, key1, key2, key3, key5, amount1)
SELECT {tenant}, project, 'links', contract, node, 'EUR', id, 1 FROM changes WHERE part = {part} AND version = 1 AND contract != '';

INSERT INTO gathered_sums (tenant, project, roll, key2, key3, amount2)
SELECT {tenant}, 'P' || leftPad(toString(project), 3, '0'), 'budget', 'node-' || toString(200 + line), 'EUR', 1000000
FROM (SELECT intDiv(number, 1800) AS project, number % 1800 AS line FROM numbers(1800 * 500))
WHERE (project = 0 OR line % 18 = 0) AND partOf(sipHash64(project, line)) = {part};

INSERT INTO gathered_sums (tenant, project, roll, key1, key5, key2, key3, key4, amount1, amount2, amount3)
SELECT {tenant}, 'P' || leftPad(toString(project), 3, '0'), 'contracts',
    'P' || leftPad(toString(project), 3, '0') || '-c-' || leftPad(toString(contract), 3, '0'), leftPad(toString(line + 1), 5, '0'),
    'node-' || toString(200 + (contract * 5 + line) % 1800), 'EUR', 'signed', 1, 5000, 5000
FROM (SELECT intDiv(number, 2000) AS project, intDiv(number % 2000, 5) AS contract, number % 5 AS line FROM numbers(2000 * 500))
WHERE (project = 0 OR contract < 10) AND partOf(sipHash64(project, contract)) = {part};

INSERT INTO contracts (tenant, project, id, row_version, name, contractor_id, status, currency, allocation_node, allocation_value, amendment_id, amendment_node,
    amendment_value, amendment_status, amendment_date, amendment_title)
SELECT {tenant}, 'P' || leftPad(toString(project), 3, '0') AS of, of || '-c-' || leftPad(toString(contract), 3, '0'), 1, 'Contract ' || toString(contract),
    'contractor-' || toString(sipHash64(project, contract) % 5000), 'signed', 'EUR',
    arrayMap(k -> 'node-' || toString(200 + (contract * 5 + k) % 1800), range(5)), arrayMap(k -> toInt64(5000), range(5)), ['a-1'], ['node-' || toString(200 + contract)],
    [0], ['approved'], ['2025-01-01'], ['Amendment']
FROM (SELECT intDiv(number, 400) AS project, number % 400 AS contract FROM numbers(400 * 500))
WHERE (project = 0 OR contract < 10) AND partOf(sipHash64(project, contract)) = {part};

INSERT INTO gathered_contractors (tenant, id, row_version, name)
SELECT if(number < 5000, {tenant}, 'other'), 'contractor-' || toString(number), 1, 'Contractor ' || toString(number) || ' GmbH'
FROM numbers(20000) WHERE partOf(cityHash64(number)) = {part};

INSERT INTO gathered_contractors (tenant, project, row_version) SELECT '', '#' || toString(number), {part} + 1 FROM numbers(8);

INSERT INTO gathered_nodes (tenant, project, id, row_version, structure_id, parent_id, level, code, name, active, accounting_codes)
SELECT if(structure < 20, {tenant}, 'other'), '', if(structure = 0, '', 's' || toString(structure) || '-') || 'node-' || toString(line) AS node, 1, 'S' || toString(1 + structure),
    if(line < 20, NULL, if(structure = 0, '', 's' || toString(structure) || '-') || 'node-' || toString(if(line < 200, line % 20, 20 + line % 180))),
    if(line < 20, 'budget', if(line < 200, 'subBudget', 'costItem')), leftPad(toString(line), 7, '0'), 'Budget line ' || toString(line), true,
    if(line < 20, '[{"system":"datev","code":"0700-00"}]', '[]')
FROM (SELECT intDiv(number, 2000) AS structure, number % 2000 AS line FROM numbers(2000 * 40))
WHERE (structure = 0 OR line < 500) AND partOf(cityHash64(structure, line)) = {part};

INSERT INTO gathered_nodes (tenant, project, row_version) SELECT '', '#' || toString(number), {part} + 1 FROM numbers(8);

INSERT INTO uncommitted_entries (tenant, project, id, row_version, node_id, currency, value)
SELECT {tenant}, 'P' || leftPad(toString(number % 500), 3, '0'), 'entry-' || toString(number), 1, 'node-' || toString(200 + number % 1800), 'EUR', 700
FROM numbers(10000) WHERE (number % 500 = 0 OR number < 2500) AND partOf(cityHash64(number)) = {part};

INSERT INTO line_plans (tenant, project, id, row_version, node_id, start_date, end_date, method, recurring_every_months, recurring_from)
SELECT {tenant}, 'P' || leftPad(toString(project), 3, '0'), 'plan-' || toString(project) || '-' || toString(line), 1, 'node-' || toString(200 + line), '2026-01-15', '2031-04-20',
    ['linearDays', 'linearMonths', 'sCurve'][line % 3 + 1], if(line % 20 = 0, 1, 0), if(line % 20 = 0, '2021-05', '')
FROM (SELECT intDiv(number, 1800) AS project, number % 1800 AS line FROM numbers(1800 * 500))
WHERE (project = 0 OR line % 18 = 0) AND partOf(cityHash64(project, line)) = {part};

INSERT INTO leases (tenant, project, id, row_version, category, status, unit_ids, start_date, currency, monthly_rent, indexation_type, indexation_rate_bp, indexation_first_on,
    indexation_every_months, indexation_series, indexation_base_month, indexation_threshold_bp, indexation_lag_months, indexation_share_bp)
SELECT {tenant}, project, id, 1, 'main', 'active', ['unit-' || toString(number)], start, 'EUR', 100000 + number,
    ['none', 'fixed', 'cpi'][number % 3 + 1] AS kind, if(kind = 'fixed', '200', ''), if(kind = 'fixed', start + INTERVAL 1 YEAR, NULL), if(kind = 'none', 0, if(kind = 'fixed', 12, 1)),
    if(kind = 'cpi', 'index', ''), if(kind = 'cpi', first, ''), if(kind = 'cpi', '500', ''), if(kind = 'cpi', 2, 0), if(kind = 'cpi', '10000', '')
FROM leased WHERE part = {part};

INSERT INTO gathered_sums (tenant, project, roll, key1, key4, key5, key2, key3, amount1, amount2)
SELECT {tenant}, project, 'rent', id, '', run.1, run.2, run.3, 1, run.4 + number
FROM (
    SELECT *, arrayJoin(if(first < '2020-01',
        [(first, '2019-12', '2027-06-30', 100000), ('2020-01', '2027-06', '2027-06-30', 200000), ('2027-07', '2031-06', '2031-06-30', 210000), ('2031-07', '9999-12', '', 210000)],
        [(first, '2027-06', '2027-06-30', 200000), ('2027-07', '2031-06', '2031-06-30', 210000), ('2031-07', '9999-12', '', 210000)])) AS run
    FROM leased WHERE part = {part} AND first < '2027-06'
);

INSERT INTO index_values (tenant, id, row_version, series, month, value)
SELECT {tenant}, 'index:' || of, 1, 'index', of, toString(100 + intDiv(number, 4)) || '.' || toString(number % 10)
FROM (SELECT number, substring(toString(toDate32('1996-01-01') + INTERVAL number MONTH), 1, 7) AS of FROM numbers(364)) WHERE partOf(cityHash64(number)) = {part};

INSERT INTO units (tenant, project, id, row_version, site_id, site_name, building_id, label, type, floor, area_m2, scope, asking_rate_value, asking_rate_currency)
SELECT {tenant}, 'P' || leftPad(toString(if(number < 5000, 0, number % 499 + 1)), 3, '0'), 'unit-' || toString(number), 1, 'site', 'Site', 'building', 'Top ' || toString(number), 'office', '3',
    '81.25', 'scheme', 1500, 'EUR'
FROM numbers(15000) WHERE partOf(cityHash64(number)) = {part};

INSERT INTO facilities (tenant, id, row_version, project_ids, lender, type, currency, commitment, availability_from, availability_to, maturity, day_count, reference_rate,
    margin_bp, floor_bp, floor_on, margin_step_from, margin_step_margin_bp, commitment_fee_bp, interest_treatment, first_ipd, ipd_every_months)
SELECT {tenant}, 'F' || leftPad(toString(number), 3, '0'), 1,
    multiIf(number = 0, ['P000'], number = 1, arrayMap(i -> 'P' || leftPad(toString(i), 3, '0'), range(30)), ['P' || leftPad(toString(number), 3, '0')]),
    'Bank', 'senior', 'EUR', 9000000000000, '2006-01-01', '2035-06-30', '2036-01-01', 'ACT/360', 'EURIBOR3M', '150', '0', 'reference',
    arrayMap(y -> toDate32('2006-06-16') + INTERVAL y YEAR, range(20)), arrayMap(y -> toString(150 + y), range(20)), '87.5', 'paid', '2006-02-01', 1
FROM numbers(50) WHERE partOf(cityHash64(number)) = {part};

INSERT INTO facility_entries (tenant, project, id, row_version, kind, status, date, value)
SELECT {tenant}, 'F' || leftPad(toString(facility), 3, '0'), 'entry-' || lower(hex(sipHash64(number))), 1, if(number % 3 = 2, 'repayment', 'drawdown'), 'funded',
    toDate32('2006-01-01') + intDiv(entry * 10957, 1000), 1000000000 + number
FROM (SELECT number, intDiv(number, 1000) AS facility, number % 1000 AS entry FROM numbers(50000)) WHERE (facility = 0 OR entry % 20 = 0) AND partOf(cityHash64(number)) = {part};

INSERT INTO gathered_sums (tenant, project, roll, key4, amount2)
SELECT {tenant}, 'F' || leftPad(toString(number), 3, '0'), arrayJoin(['drawdowns', 'repayments']), 'funded', 1000000 FROM numbers(50) WHERE number % 2 = {part} % 2;

INSERT INTO fixings (tenant, project, id, row_version, period_start, reference_bp)
SELECT {tenant}, 'F' || leftPad(toString(number % 50), 3, '0'), 'fixing-' || toString(number), 1, toDate32('2006-01-01') + INTERVAL intDiv(number, 50) MONTH, toString(number % 500) || '.25'
FROM numbers(50 * 245) WHERE partOf(cityHash64(number)) = {part};

INSERT INTO forecast_snapshots (tenant, project, id, row_version, month, version, status, submitted_at, decided_at, line_node, line_parent, line_level, line_code, line_name, line_budget, line_committed,
    line_pending_changes, line_uncommitted, line_uncommitted_defaulted, line_invoiced, line_paid)
SELECT {tenant}, 'P' || leftPad(toString(project), 3, '0'), 'snapshot-' || toString(project) || '-' || toString(month), 1, substring(toString(toDate32('2023-04-01') + INTERVAL month MONTH), 1, 7), 1, 'approved',
    '2026-04-01 10:00:00', '2026-04-02 10:00:00', arrayMap(i -> 'node-' || toString(i), range(lines)), arrayMap(i -> if(i < 20, '', 'node-' || toString(if(i < 200, i % 20, 20 + i % 180))), range(lines)),
    arrayMap(i -> if(i < 20, 'budget', if(i < 200, 'subBudget', 'costItem')), range(lines)), arrayMap(i -> leftPad(toString(i), 7, '0'), range(lines)),
    arrayMap(i -> 'Budget line ' || toString(i), range(lines)), arrayMap(i -> toInt64(1000 * i + month), range(lines)), arrayMap(i -> toInt64(500 * i), range(lines)),
    arrayMap(i -> toInt64(0), range(lines)), arrayMap(i -> toInt64(100 * i + if(i % 3 = 0, month, 0)), range(lines)), arrayMap(i -> true, range(lines)), arrayMap(i -> toInt64(90 * i), range(lines)), arrayMap(i -> toInt64(80 * i), range(lines))
FROM (SELECT intDiv(number, 36) AS project, number % 36 AS month, if(project = 0, 2000, 100) AS lines FROM numbers(36 * 100)) WHERE (project = 0 OR month > 32) AND partOf(cityHash64(project, month)) = {part};

INSERT INTO sums
SELECT tenant, project, concat(roll, '\0', key1, '\0', key2, '\0', key3, '\0', key4, '\0', key5), amount1, amount2, amount3, amount4
FROM gathered_sums;
INSERT INTO contractors SELECT * FROM gathered_contractors;
INSERT INTO budget_nodes SELECT * FROM gathered_nodes;
TRUNCATE TABLE gathered_sums;
TRUNCATE TABLE gathered_contractors;
TRUNCATE TABLE gathered_nodes
