# `make` lists the targets. Slow suites are packages of their own, so that nothing has to be skipped inside one.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

FUZZTIME ?= 10s
CYCLES ?= 30

# What make check leaves out: suites that take minutes or root, and those that start a PostgreSQL server.
slow := -e /internal/crash$$ -e /internal/powercut$$ -e /fieldcases$$ -e /difftest$$
server := -e /postgres$$ -e /internal/pgtest$$ -e /bench$$

.NOTPARALLEL:
.PHONY: help setup demo check test cases sdk crash powercut fuzz bench docs fmt

help: ## list the targets
	@sed -nE 's/^([a-z]+):.*## (.*)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 12

setup: ## install what the tests need; quiet when nothing is missing
	@scripts/setup

demo: ## one payment, sent many ways, is charged once: see it
	@go run ./cmd/recibo demo

check: ## what must be green before a commit: build, format, vet, lint, layout, unit tests
	@test -x bin/golangci-lint || { echo "golangci-lint is not in ./bin: run make setup" >&2; exit 1; }
	go build ./...
	@unformatted=$$(gofmt -l .); \
		test -z "$$unformatted" || { printf 'not formatted, run make fmt:\n%s\n' "$$unformatted" >&2; exit 1; }
	go vet ./...
	bin/golangci-lint run
	packages=$$(go list ./... | grep -v $(slow) $(server)); go test -race $$packages

test: setup check ## everything that should pass on a new machine: setup, check, the PostgreSQL suites
	packages=$$(go list ./... | grep $(server)); go test -race $$packages

cases: ## play the faults of others in fieldcases/testdata
	go test -count=1 -timeout=10m ./fieldcases

sdk: ## compare verifying and signing with the senders' official SDKs
	cd difftest && npm ci --ignore-scripts --no-audit --no-fund --silent
	go test -count=1 -timeout=15m -v ./difftest

crash: ## kill the real program at random times and read the history for broken promises
	go test -count=1 -timeout=15m ./internal/crash

powercut: ## cut the power under a mounted image CYCLES times; needs root
	go test -count=1 -timeout=15m -v ./internal/powercut -cycles=$(CYCLES)

fuzz: ## fuzz each target for FUZZTIME
	@scripts/fuzz $(FUZZTIME)

bench: ## measure the accept path against its baselines
	go run ./bench

docs: ## write docs/providers from the catalogue
	go test -count=1 -run TestProviderPagesAreCurrent ./cmd/recibo -update

fmt: ## format the Go files
	gofmt -w .
