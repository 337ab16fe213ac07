# make help lists the targets.
GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo development)
INSTALL := mysql/mysqltest/install

# PACKAGES is how many packages' tests run at once.
PACKAGES ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))

export CGO_ENABLED = 0

.PHONY: build image demo test unit lint fuzz test-drivers differential chaos soak bench bench-quick bench-micro bench-compare help install-mariadb install-servers

build: ## bin/kingshard, one static binary
	$(GO) build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bin/kingshard ./cmd/kingshard

image: ## the container image kingshard:$(VERSION), by docker
	docker build -f etc/docker/Dockerfile --build-arg VERSION=$(VERSION) -t kingshard:$(VERSION) -t kingshard:latest .

demo: build install-mariadb ## two nodes with replicas, a small shop and the proxy on 127.0.0.1:9696
	bin/kingshard demo

# Most packages wait for servers and times more than they compute, so more of them run at once than there are processors, the longest first.
# lint has vetted them. The race detector sleeps a second at the end of every process unless told otherwise; tests that look for goroutines
# left behind have no use for that.
test: install-servers lint ## everything: installs what it needs, unit and integration tests under the race detector
	CGO_ENABLED=1 GOFLAGS=-pgo=off GORACE=atexit_sleep_ms=10 $(GO) test -race -vet=off -p $(PACKAGES) -timeout 60m \
		./proxy/session ./proxy ./bench/differential ./proxy/clients ./...
	GOFLAGS=-pgo=off $(GO) test -vet=off -run 'TestSimulator$$' ./proxy/txn/twophase
	GOFLAGS=-pgo=off $(GO) test -tags faultpoints -run 'TestFaultPoint|TestReadsAllocateNothing' ./proxy/admin ./proxy

unit: ## tests that need no database server
	CGO_ENABLED=1 GOFLAGS=-pgo=off $(GO) test -race -short ./...

lint: ## formatting, go vet, and a build for a system that is not Linux
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "not formatted: $$unformatted"; exit 1; fi
	GOFLAGS=-pgo=off $(GO) vet ./...
	GOOS=darwin $(GO) build -pgo=off -o /dev/null ./cmd/kingshard

fuzz: ## every fuzz target for FUZZTIME each: a time (10m) or a number of executions (default 20000x)
	.ci/fuzz $(or $(FUZZTIME),20000x)

test-drivers: install-servers ## the test suites of drivers and of Django, straight and through the proxy, on both servers: 20 minutes
	$(GO) test -tags drivers -run TestDriverSuites -v -timeout 60m ./proxy/clients

differential: install-servers ## KS_DIFF_STATEMENTS random statements over 2, 3 and 4 shards against one server
	KS_DIFF_STATEMENTS=$(or $(KS_DIFF_STATEMENTS),6000) $(GO) test ./bench/differential -run TestDifferential -v -timeout 120m

chaos: install-servers ## a load that goes on while servers, network and proxy fail, on both servers, 16 minutes; writes docs/reliability.md
	$(INSTALL)/faketime.sh
	$(GO) run ./bench chaos -docs docs

soak: install-servers ## the same for KS_SOAK (default 5m, a release 2h), a fault every half minute: does anything grow? Adds to docs/reliability.md
	$(GO) run ./bench soak -for $(or $(KS_SOAK),5m) -docs docs

bench: install-servers ## every scenario beside a direct connection and HAProxy, 40 minutes; writes docs/performance.md and README's figures
	$(GO) run ./bench -docs docs

bench-quick: install-servers ## a few scenarios of each kind in less than three minutes
	$(GO) run ./bench -quick

bench-micro: ## micro-benchmarks with allocation counts
	$(GO) test -run '^$$' -bench . -benchmem ./mysql/... ./backend/... ./proxy/... ./router/...

bench-compare: ## micro-benchmarks of BASE=revision and of this checkout, compared by benchstat
	bench/compare $(BASE)

install-mariadb: # MariaDB by apt-get where it is missing
	@command -v mariadbd >/dev/null || [ -x /usr/sbin/mariadbd ] || command -v mysqld >/dev/null || $(INSTALL)/mariadb.sh

install-servers: # what the tests need: MariaDB and its clients, MySQL 9, sysbench, HAProxy, Chromium
	$(INSTALL)/mariadb.sh
	$(INSTALL)/mysql9.sh
	$(INSTALL)/chromium.sh

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 14
