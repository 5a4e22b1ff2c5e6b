# `make dev` runs everything on this machine, `make test` checks everything. Go is all that both need.

GO   ?= go
TEST ?= $(GO) test -timeout 15m

.PHONY: dev build test lint race bench read-accuracy nightly

dev: build
	./bin/tallyhouse dev

build:
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/tallyhouse ./cmd/tallyhouse

test: lint
	$(TEST) ./...

lint:
	@unformatted="$$(gofmt -l $$(git ls-files '*.go'))"; if [ -n "$$unformatted" ]; then echo "not formatted by gofmt:" $$unformatted; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

race:
	$(TEST) -race ./...

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

read-accuracy:
	$(GO) test -count=1 -v ./ingest/document/accuracy

nightly:
	$(GO) test -count=1 -timeout 6h -tags nightly ./...
