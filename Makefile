# Waypost. `make help` lists what there is; everything runs on one machine, Debian or Ubuntu, with Go, git and make.

SHELL       := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS   += --no-print-directory
.DEFAULT_GOAL := help

MODULES := shared edge origin deploy bench
SERVERS := postgresql redis-server
PEERS   := nginx haproxy varnish
NODE    := nodejs npm
WRK     := wrk

GOLANGCI_VERSION  := v2.15.0
BENCHSTAT_VERSION := v0.0.0-20260908200009-22c9c6c9d4da
K6_VERSION        := v1.8.1
TOOLS     := $(CURDIR)/.tools
GOLANGCI  := $(TOOLS)/golangci-lint-$(GOLANGCI_VERSION)/golangci-lint
K6        := $(TOOLS)/k6-$(K6_VERSION)/k6

# Packages with tests of allocations, which mean nothing under the race detector.
ALLOCS := waypost/edge/internal/httpd waypost/edge/internal/redirect waypost/edge/internal/l1 waypost/edge/internal/limit waypost/edge/internal/visitor \
	waypost/edge/internal/clicks waypost/edge/internal/clicks/spool waypost/shared/feed waypost/shared/link

# Fleets of processes are tested by themselves afterwards: beside other tests two cores are busy enough for leases of a
# second to lapse.
UNITS := $(foreach m,$(filter-out bench,$(MODULES)),waypost/$(m)/...)

# The binaries under test: as released but for the race detector, and, for fault scenarios, with failpoints as well.
TEST_BIN := WAYPOST_TEST_BIN=$(CURDIR)/bin/race WAYPOST_CHAOS_BIN=$(CURDIR)/bin/chaos

FUZZTIME   ?= 60s
BENCHTIME  ?= 1s
BENCHCOUNT ?= 3
BENCH      ?= .
ROWS       ?= .
LINKS      ?= 1000000
WORK       ?= .
PACKAGE    ?=
FAULTS     ?= ^TestChaos$$

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: build ## start the whole stack on 127.0.0.1 and stay in front; Ctrl-C stops it (WAYPOST_PORT_SHIFT=n moves its ports, WAYPOST_DATA=dir its data)
	@exec bin/waypost-local run

.PHONY: build
build: ## build the binaries into bin/
	go build -o bin/waypost-edge waypost/edge
	go build -o bin/waypost-origin waypost/origin
	go build -o bin/waypost-local waypost/deploy/local

.PHONY: build-race
build-race: gcc
	go build -race -o bin/race/waypost-edge waypost/edge
	go build -race -o bin/race/waypost-origin waypost/origin
	go build -race -tags failpoint -o bin/chaos/waypost-edge waypost/edge
	go build -race -tags failpoint -o bin/chaos/waypost-origin waypost/origin
	go build -o bin/waypost-local waypost/deploy/local

.PHONY: gcc curl servers peers node wrk k6
gcc:
	@deploy/install.sh gcc
curl:
	@deploy/install.sh curl
servers:
	@deploy/install.sh $(SERVERS)
peers: gcc
	@deploy/install.sh $(PEERS)
node:
	@deploy/install.sh $(NODE)
wrk: ## install wrk, for the scripts in bench/wrk
	@deploy/install.sh $(WRK)
k6: $(K6) ## build k6 into .tools, for the scripts in bench/k6, and print its path
	@echo $(K6)

.PHONY: test
test: servers curl peers wrk build-race ## all tests of all modules with the race detector, on real PostgreSQL, Redis and NATS
	go test -run 'Alloc|Forgotten' $(ALLOCS)
	CGO_ENABLED=1 go test -race -short -timeout 15m $(UNITS)
	$(TEST_BIN) CGO_ENABLED=1 go test -count=1 -race -short -timeout 15m -p 1 waypost/bench/...

.PHONY: test-long
test-long: servers curl peers node wrk $(K6) build-race ## the same in their long versions
	go test -run 'Alloc|Forgotten' $(ALLOCS)
	CGO_ENABLED=1 go test -race -timeout 60m $(UNITS)
	$(TEST_BIN) WAYPOST_TEST_K6=$(K6) CGO_ENABLED=1 go test -count=1 -race -timeout 60m -p 1 waypost/bench/...

.PHONY: check
check: $(GOLANGCI) ## format, lint, tidy and vet, all with nothing to complain about
	$(GOLANGCI) fmt --diff
	@for m in $(MODULES); do echo "lint $$m"; (cd $$m && $(GOLANGCI) run ./...); done
	@for m in $(MODULES); do echo "tidy $$m"; (cd $$m && go mod tidy -diff); done
	@deploy/worksync.sh
	go vet work

.PHONY: fmt
fmt: $(GOLANGCI) ## format all code
	$(GOLANGCI) fmt

.PHONY: tidy
tidy: ## tidy all modules and bring the workspace in step
	@for m in $(MODULES); do (cd $$m && go mod tidy); done
	go work sync
	@for m in $(MODULES); do (cd $$m && go mod tidy); done

.PHONY: bench
bench: servers ## all Go benchmarks (BENCH=regexp, BENCHTIME, BENCHCOUNT), then positions, clicks, admin and redirects; results in bench/results/
	deploy/bench.sh '$(BENCH)' '$(BENCHTIME)' '$(BENCHCOUNT)'
	@$(MAKE) positions clicks admin redirects

.PHONY: positions
positions: servers build ## how soon edges have a change, what a write waits for, what a loss costs (ROWS=group/row); results in bench/results/
	deploy/measure.sh positions '$(ROWS)'

.PHONY: clicks
clicks: servers build ## what counting clicks costs a redirect, how soon clicks show, what an outage costs (ROWS=group/row); results in bench/results/
	deploy/measure.sh clicks '$(ROWS)'

.PHONY: admin
admin: servers build ## what calls of the admin API take with a thousand links and with LINKS, a million (ROWS=group/row); results in bench/results/
	WAYPOST_ADMIN_LINKS='$(LINKS)' deploy/measure.sh admin '$(ROWS)'

.PHONY: redirects
redirects: servers peers node wrk build ## what a redirect costs and how long it takes, beside nginx, HAProxy, Varnish and others (ROWS=group/row; FULL=1: growth up to ten million links); results in bench/results/
	WAYPOST_REDIRECTS_TEN='$(FULL)' deploy/measure.sh redirects '$(ROWS)'

.PHONY: howfast
howfast: ## put the figures of bench/results/redirects.json into README.md, and draw bench/results/redirects.svg
	go run waypost/bench/howfast -report bench/results/redirects.json -readme README.md -chart bench/results/redirects.svg

.PHONY: benchstat
benchstat: $(TOOLS)/benchstat-$(BENCHSTAT_VERSION)/benchstat ## compare two bench results: OLD=file NEW=file
	$< $(OLD) $(NEW)

.PHONY: chaos
chaos: servers build-race ## the positions model with 3 writes, then the fault scenarios and their checker, 20 minutes in all (FAULTS=regexp picks, or takes other fault tests, which test-long runs); results in bench/results/
	@mkdir -p bench/results
	WAYPOST_MODEL_WRITES=3 go test -count=1 -timeout 10m -v -run 'TestModel$$' waypost/shared/feed | tee bench/results/model.txt
	$(TEST_BIN) WAYPOST_CHAOS_RESULTS=$(CURDIR)/bench/results deploy/chaos.sh '$(FAULTS)'

.PHONY: fuzz
fuzz: servers ## every fuzz target for FUZZTIME (60s) each
	deploy/fuzz.sh '$(FUZZTIME)' $(MODULES)

.PHONY: profile
profile: servers build ## CPU, allocation, mutex and block profiles of an edge at work (WORK=one|many|zipf|l2|unknown), or of benchmarks (PACKAGE=import path, BENCH, BENCHTIME); in bench/results/
	deploy/profile.sh '$(WORK)' '$(PACKAGE)' '$(BENCH)' '$(BENCHTIME)'

.PHONY: images
images: ## build the two container images; needs a Docker engine
	docker build -f deploy/edge.Dockerfile -t waypost-edge .
	docker build -f deploy/origin.Dockerfile -t waypost-origin .

.PHONY: clean
clean: ## remove what was built; data in .waypost/ stays
	rm -rf bin .tools

# Built from source by the go command, pinned, one folder a version.
$(GOLANGCI):
	GOBIN=$(dir $@) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
$(TOOLS)/benchstat-$(BENCHSTAT_VERSION)/benchstat:
	GOBIN=$(dir $@) go install golang.org/x/perf/cmd/benchstat@$(BENCHSTAT_VERSION)
$(K6):
	GOBIN=$(dir $@) go install go.k6.io/k6@$(K6_VERSION)
