# Everything here runs without questions and without a terminal.
SHELL := /bin/bash -o pipefail
.DEFAULT_GOAL := help

# What `make generate` writes and the repository holds.
generated := graph/generated.go graph/models_gen.go graph/schema.resolvers.go

lint := go tool -modfile=tools/go.mod golangci-lint

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: ## start the service with a Redis of its own; needs Go only
	go run ./cmd/retwis serve

.PHONY: test
test: prerequisites vet unit lint ## all checks: vet, tests with the race detector, lint

.PHONY: unit
unit: prerequisites ## the tests alone
	go test -race -shuffle=on -timeout=20m ./...

.PHONY: vet
vet: prerequisites
	go vet ./...

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
verify: generate ## check that the generated code is current
	@git diff --exit-code -- $(generated)
	@new=$$(git ls-files --others --exclude-standard -- $(generated)); \
	if [[ -n $$new ]]; then echo "generated, but not in the repository: $$new" >&2; exit 1; fi

.PHONY: soak
soak: prerequisites ## the tests at full size: an hour at most
	RETWIS_SOAK=1 go test -count=1 -timeout=60m ./...

.PHONY: bench
bench: prerequisites ## measure
	go run ./bench

.PHONY: prerequisites
prerequisites: ## check what tests need; as root on Debian, install what is missing
	@scripts/prerequisites
