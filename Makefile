# Everything here runs without questions and without a terminal.
SHELL := /bin/bash -o pipefail
.DEFAULT_GOAL := help

# What `make generate` writes and the repository holds.
generated := graph/generated.go graph/models_gen.go graph/types_gen.go graph/*.resolvers.go

lint := go tool -modfile=tools/go.mod golangci-lint

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

web_sources := $(shell find web/src web/public web/scripts web/*.html web/*.ts schema.graphqls -type f 2>/dev/null)

# The service is started in the place of the shell, so that it gets the signals meant for it,
# as it would not from `go run`.

.PHONY: run
run: web-if-possible ## start the service with a Redis of its own, and the web app where npm is there to build it
	@echo "Nobody is there until people register: 'make demo' starts one with people who post now and then."
	go build -o bin/retwis ./cmd/retwis && exec bin/retwis serve

.PHONY: demo
demo: web-if-possible ## the same with people in it who post now and then, and data of its own in data/demo
	go build -o bin/retwis ./cmd/retwis && exec bin/retwis serve --demo --data-dir data/demo

.PHONY: web-if-possible
web-if-possible:
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory web; \
	else echo "npm is missing: starting without the web app" >&2; fi

.PHONY: web
web: web/dist/index.html ## build the web app, which the binary then holds

web/dist/index.html: web/node_modules/.package-lock.json $(web_sources)
	cd web && npm run build
	@touch $@

web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	cd web && npm ci --no-audit --no-fund
	@touch $@

.PHONY: dev
dev: web/node_modules/.package-lock.json ## the web app with hot reload, beside a service that runs on port 8080
	cd web && npm run dev

.PHONY: test
test: prerequisites vet unit web-test conformance lint verify ## all checks: tests with the race detector, the web app in a browser, lint

.PHONY: unit
unit: prerequisites ## the tests alone
	go test -race -shuffle=on -timeout=20m ./...

.PHONY: web-test
web-test: prerequisites web ## the tests of the web app: its logic, and its pages in a browser
	cd web && npm run check && npm test && npm run e2e

.PHONY: conformance
conformance: prerequisites web conformance/node_modules/.package-lock.json ## what others made for GraphQL: linters and clients of npm, against the schema and the program
	cd conformance && npm test

conformance/node_modules/.package-lock.json: conformance/package.json conformance/package-lock.json
	cd conformance && npm ci --no-audit --no-fund
	@touch $@

.PHONY: deploy-test
deploy-test: prerequisites ## the Dockerfile's steps, the topology of compose.yaml as processes, backups and moves: minutes
	go test -tags deploy -count=1 -timeout=20m -run 'TestTheImage|TestTheTopology|TestABackup|TestAMove' -v ./cmd/retwis

.PHONY: vet
vet: prerequisites
	go vet ./...
	go vet -tags deploy ./cmd/retwis

.PHONY: lint
lint: prerequisites ## golangci-lint, in the version of tools/go.mod
	$(lint) run ./...

.PHONY: format
format: ## format the Go code
	$(lint) fmt

.PHONY: generate
generate: ## write the generated code
	go generate ./...

.PHONY: verify
verify: generate compare web/node_modules/.package-lock.json ## check that the generated code is current, and the schema no break with the last release
	cd web && npm run --silent codegen -- --check
	@git diff --exit-code -- $(generated)
	@new=$$(git ls-files --others --exclude-standard -- $(generated)); \
	if [[ -n $$new ]]; then echo "generated, but not in the repository: $$new" >&2; exit 1; fi

.PHONY: compare
compare: conformance/node_modules/.package-lock.json ## compare the schema with that of the last release
	cd conformance && npm run --silent compare

.PHONY: soak
soak: prerequisites ## the tests at full size: an hour at most
	RETWIS_SOAK=1 go test -count=1 -timeout=60m ./...

.PHONY: bench
bench: prerequisites ## measure this version beside its baselines
	go run ./cmd/retwis-bench measure

.PHONY: prerequisites
prerequisites: ## check what tests need; as root on Debian, install what is missing
	@scripts/prerequisites
