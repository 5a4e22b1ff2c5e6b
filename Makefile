# `make dev` runs everything on this machine, `make test` checks everything. Both need Go and npm, which fetches the database
# engine; the tests install what .ci/install names.

GO   ?= go
# Without vet, which make lint runs whole.
TEST ?= $(GO) test -vet=off -timeout 30m

# How many random cases each property is tested with: few for every change, many in the night.
export RAPID_CHECKS ?= 20

.PHONY: dev build test lint deadcode generate race bench read-accuracy train nightly

dev: build
	./bin/tallyhouse dev

build:
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/tallyhouse ./cmd/tallyhouse

# The packages that take minutes begin first, so that the rest runs beside them and no processor is idle in the end.
LONG = ./cmd/tallyhouse ./ingest/mail ./ingest/worker ./api

# One package more at a time than there are processors: tests of outages wait.
TOGETHER = $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

test: lint
	@.ci/install
	$(TEST) -p $(TOGETHER) $(LONG) ./...
	cd deploy/checks && $(GO) vet ./... && $(TEST) ./...

# The tests that meet Kafka, against Apache Kafka instead of the embedded broker: what is read and from where, transactions,
# rebalances, retention and compaction, committed offsets, another log, kills. It needs Java and Maven, which fetches the broker's
# jars. Left to make nightly are the worker's tests whose subject is ClickHouse, to which any broker gives the same messages
# (scenarios, the simulation, and the list below), and what meets Kafka only through the packages here.
ON_APACHE_KAFKA = jars="$$(deploy/embedded/kafka/apachetest/fetch)" && TALLYHOUSE_TEST_KAFKA="$$jars"
KAFKA_TESTS     = ./schemas/kafka ./ingest/kafka ./ingest/worker ./ingest/admin/load ./ingest/admin/deadletters ./ingest/admin/keys
ABOUT_CLICKHOUSE = TestScenario|TestWritersThatFight|TestTheWorkerWaitsForClickHouse|TestTheWorkerEndsWhileClickHouseHangs$\
|TestTheWorkerOutlivesAServer|TestMergesThatCarryDeltas|TestAnInsertMakesOnePart|TestATornInsert|TestALargeBatchThatLoses$\
|TestAMessageBecomesARow|TestConflictsAreCounted

.PHONY: test-kafka test-kafka-ingest test-kafka-api
test-kafka:
	$(MAKE) -j2 test-kafka-ingest test-kafka-api

test-kafka-ingest:
	$(ON_APACHE_KAFKA) $(TEST) -p 2 -skip '$(ABOUT_CLICKHOUSE)' $(KAFKA_TESTS)

test-kafka-api:
	$(ON_APACHE_KAFKA) $(TEST) -run 'Access|Kafka|Partition|Position|Topics' ./api
	$(ON_APACHE_KAFKA) $(TEST) -run WhatToDoAboutKafka ./cmd/tallyhouse

# The rules of e-invoices against the validators of EN 16931 and XRechnung. It needs Java and Maven, which fetches them. After a change
# of the invoices in einvoice/testdata/rules: make test-einvoices UPDATE=-update, and read what changed.
.PHONY: test-einvoices
test-einvoices:
	jars="$$(ingest/invoice/einvoice/validators/fetch)" && $(TEST) -count=1 ./ingest/invoice/einvoice -run Validators -validators "$$jars" $(UPDATE)

lint:
	@long="$$(git ls-files '*.go' | grep -v '_test\.go$$' | LC_ALL=C.UTF-8 xargs grep -nE '^.{141,}' | cut -d: -f1,2)"; \
	if [ -n "$$long" ]; then echo "over 140 columns:" $$long; exit 1; fi
	@quotes="$$(git grep -nE '^[[:space:]]*//.*(“|”)' -- '*.go' | cut -d: -f1,2)"; \
	if [ -n "$$quotes" ]; then echo "two single quotes that gofmt made one in a comment, write the empty text:" $$quotes; exit 1; fi
	@unformatted="$$(gofmt -l $$(git ls-files '*.go'))"; \
	if [ -n "$$unformatted" ]; then echo "not formatted by gofmt:" $$unformatted; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	@$(MAKE) -s deadcode

# Functions that no binary reaches; helpers of tests live in packages named ...test.
deadcode:
	@found="$$($(GO) tool deadcode ./...)" || exit 1; \
	dead="$$(echo "$$found" | grep -v 'test/[^/]*\.go:')"; if [ -n "$$dead" ]; then echo "reached by no binary:"; echo "$$dead"; exit 1; fi

# What is made from the code and checked in; tests compare it.
generate:
	$(GO) run ./schemas/events/generate
	$(GO) test ./cmd/tallyhouse -run TestTheAPIOnTheSample/answers -update
	$(GO) test ./api -run TestTheDocumentIsWrittenDown -update
	$(GO) test ./cmd/tallyhouse -run TestTheConfigurationIsWrittenDown -update
	$(GO) test ./reader -run TestStatementsAreAsWrittenDown -update

# The pictures of the desk's screens in docs/desk.md, by the browser of the tests.
.PHONY: desk-pictures
desk-pictures:
	mkdir -p docs/pictures
	$(GO) test ./cmd/tallyhouse -count=1 -run "(TestTheDesk|TestTheInbox)InABrowser/takes.pictures" -pictures "$(CURDIR)/docs/pictures"

# The OpenAPI document against the rules of Redocly and Spectral, and ten thousand drawn requests against the document.
.PHONY: lint-document schemathesis
lint-document:
	schemas/lint/document
schemathesis:
	GO="$(GO)" schemas/lint/schemathesis

# What is published, in dist: make release VERSION=v1.2.3. The same commit gives the same bytes, which make release-check tries.
VERSION ?= $(shell git describe --tags --always --dirty)
RELEASE  = $(GO) run ./deploy/release -version $(VERSION) -date "$$(git log -1 --format=%ct)"
.PHONY: release release-check
release:
	$(RELEASE) -out dist
release-check: release
	@again="$$(mktemp -d)"; $(RELEASE) -out "$$again" && diff -r dist "$$again"; code=$$?; rm -rf "$$again"; exit $$code

race:
	$(TEST) -race ./...

# One package after the other: they would disturb each other. The first prints the table of the whole system.
bench:
	$(GO) test -run '^$$' -bench System -benchtime 1x -timeout 2h ./cmd/tallyhouse
	$(GO) test -run '^$$' -bench . -skip System -benchmem -p 1 -timeout 2h ./...

# make read-accuracy: drawn invoices of families that training saw and of others, with calibration;
# make read-accuracy DIR=folder: PDFs with their true values beside them, NAME.pdf and NAME.json.
read-accuracy:
	$(GO) run ./ingest/invoice/accuracy $(DIR)

# Learns how invoices are read, again: the same weights as long as neither the reader, the drawn invoices nor the studied letters
# change.
train:
	$(GO) run ./ingest/invoice/page/train ingest/invoice/page/testdata ingest/invoice/accuracy/testdata/letters/studied \
		ingest/invoice/page/model/weights.json

# Every fuzz target for a while: make fuzz FUZZTIME=10m. Making what it finds smaller is cut short: it took all of the time.
FUZZTIME ?= 1m
.PHONY: fuzz
fuzz:
	@grep -rEo --include='*_test.go' '^func Fuzz[A-Za-z]+' . | while IFS=: read -r file target; do \
		$(GO) test -run '^$$' -fuzz "^$${target#func }\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s "$$(dirname "$$file")" || exit 1; \
	done

# Much more of what make test does a little of: kills, rounds of fighting writers, clients at once, and fuzzing.
nightly:
	$(MAKE) lint-document schemathesis release-check
	$(MAKE) train && git diff --exit-code ingest/invoice/page/model/weights.json
	$(MAKE) fuzz FUZZTIME=10m
	RAPID_CHECKS=1000 TALLYHOUSE_CRASHES=100 TALLYHOUSE_ROUNDS=200 TALLYHOUSE_CLIENTS=1000 TALLYHOUSE_SOAK=10m $(GO) test -count=1 -timeout 6h ./...
	$(ON_APACHE_KAFKA) TALLYHOUSE_CRASHES=100 $(GO) test -count=1 -timeout 6h -p 1 $(KAFKA_TESTS) ./api ./ingest/mail ./cmd/tallyhouse
