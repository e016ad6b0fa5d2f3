# All targets run without a terminal and without questions.
SHELL := /bin/bash -o pipefail
.DEFAULT_GOAL := help

# The files that `make generate` writes and the repository contains.
generated := graph/generated.go graph/models_gen.go graph/types_gen.go graph/*.resolvers.go

tool := go tool -modfile=tools/go.mod

.PHONY: help
help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

web_sources := $(shell find web/src web/packages web/public web/scripts web/*.html web/*.ts schema.graphqls -type f 2>/dev/null)

# The service replaces the shell, so that it receives the signals that are sent to it. `go run` would not
# forward them.

.PHONY: run
run: web-if-possible ## Start the service with its own Redis, with the web app if npm is installed
	@echo "The database is empty. 'make demo' starts a service with demo users."
	go build -o bin/retwis ./cmd/retwis && exec bin/retwis serve

.PHONY: demo
demo: web-if-possible ## Start the service with demo users, with its data in data/demo
	go build -o bin/retwis ./cmd/retwis && exec bin/retwis serve --demo --data-dir data/demo

.PHONY: web-if-possible
web-if-possible:
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory web; \
	else echo "npm is not installed: starting without the web app" >&2; fi

.PHONY: web
web: web/dist/index.html ## Build the web app, which the service's binary embeds

web/dist/index.html: web/node_modules/.package-lock.json $(web_sources)
	cd web && npm run build
	@touch $@

web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	cd web && npm ci --no-audit --no-fund
	@touch $@

.PHONY: dev
dev: web/node_modules/.package-lock.json ## Start the web app with hot reload, for a service on port 8080
	cd web && npm run dev

.PHONY: test
test: prerequisites unit web-test conformance lint verify ## Run all checks

# The packages whose tests take longest begin first: the last one would run alone otherwise. As many run at once as there are
# cores, but three at least, because many tests wait: for leases, timeouts, and processes that start and stop.
packages_at_once := $(shell cores=$$(nproc); echo $$((cores > 3 ? cores : 3)))
slow_tests := ./internal/fanout ./internal/store ./cmd/retwis

.PHONY: unit
unit: prerequisites ## Run the Go tests, with the race detector (make lint runs vet)
	go test -race -shuffle=on -vet=off -timeout=20m -p $(packages_at_once) $(slow_tests) ./...

.PHONY: web-test
web-test: prerequisites web ## Run the tests of the web app, in Node.js and in a browser
	cd web && npm run check && npm test && npm run e2e

.PHONY: conformance
conformance: prerequisites web conformance/node_modules/.package-lock.json ## Test the API with GraphQL linters and clients from npm
	cd conformance && npm test

conformance/node_modules/.package-lock.json: conformance/package.json conformance/package-lock.json
	cd conformance && npm ci --no-audit --no-fund
	@touch $@

.PHONY: deploy-test
deploy-test: prerequisites ## Test deploy/: the image, compose.yaml, backups and moves (takes minutes)
	go test -tags deploy -count=1 -timeout=20m -run 'TestImage|TestTopology|TestBackup|TestMove' -v ./cmd/retwis

.PHONY: lint
lint: prerequisites ## Run golangci-lint and actionlint, in the versions of tools/go.mod
	$(tool) golangci-lint run ./...
	$(tool) actionlint -shellcheck= -pyflakes=

.PHONY: format
format: ## Format the Go code
	$(tool) golangci-lint fmt

.PHONY: generate
generate: ## Generate code
	go generate ./...

.PHONY: verify
verify: generate compare web/node_modules/.package-lock.json ## Check that generated code is current and the schema is compatible with the last release
	cd web && npm run --silent codegen -- --check
	@git diff --exit-code -- $(generated)
	@new=$$(git ls-files --others --exclude-standard -- $(generated)); \
	if [[ -n $$new ]]; then echo "generated, but not committed: $$new" >&2; exit 1; fi

.PHONY: compare
compare: conformance/node_modules/.package-lock.json ## Compare the schema with the one of the last release
	cd conformance && npm run --silent compare

.PHONY: soak
soak: prerequisites web ## Run the randomised Go tests, and those of long timelines in a browser, at full size (takes about an hour, more on a busy machine)
	RETWIS_SOAK=1 RAPID_CHECKS=1000 go test -count=1 -timeout=150m ./...
	cd web && RETWIS_SOAK=1 npm run e2e -- -t "a great many posts"

.PHONY: bench
bench: prerequisites ## Measure this version beside its baselines
	go run ./cmd/retwis-bench measure

.PHONY: deps
deps: ## Install the Debian packages that the tests need (as root)
	@scripts/deps

.PHONY: prerequisites
prerequisites: ## Check the tools that the tests need, and run deps if possible
	@scripts/prerequisites
