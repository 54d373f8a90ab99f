# Two commands matter: `make demo` shows the product, `make test` proves it.

SHELL := bash
GO ?= go
BIN := bin/overtone
TOOLS := .tools
# The commit goes into the programs where git can tell it; a checkout of somebody
# else's would fail the build otherwise.
VCS = $(shell git status --porcelain >/dev/null 2>&1 && echo auto || echo false)
LINT_VERSION := v2.14.0
VULN_VERSION := v1.8.0

# Two modules: the programs that everybody has, and the team's with what it links.
TEAM := -C team

.PHONY: build demo test e2e e2e-latest e2e-soak lint bench eval compactions corpus corpus-sample fuzz race crash mutate vulnerabilities pictures release-snapshot release-check release-npm clean

# Without cgo: loading the C library would cost every hook call a millisecond.
build:
	CGO_ENABLED=0 $(GO) build -buildvcs=$(VCS) -trimpath -o bin/ ./cmd/...
	CGO_ENABLED=0 $(GO) build $(TEAM) -buildvcs=$(VCS) -trimpath -o ../bin/ ./cmd/...

# First without SQLite and the tools' server, a good third of a first build, of which the
# demo needs nothing; the whole program is built while the demo is read.
demo:
	@echo "building the demo; the first time this takes a minute"
	@CGO_ENABLED=0 $(GO) build -tags demo -buildvcs=$(VCS) -trimpath -o bin/overtone-demo ./cmd/overtone
	@(exec -a $(BIN) bin/overtone-demo demo)
	@echo "building $(BIN), for these commands"
	@CGO_ENABLED=0 $(GO) build -buildvcs=$(VCS) -trimpath -o bin/ ./cmd/overtone

test:
	$(GO) vet ./... && $(GO) vet $(TEAM) ./...
	$(GO) test ./...
	$(GO) test $(TEAM) ./...

# The real agents, installed from the npm registry into .e2e, against a mock API
# on loopback.
e2e: build
	@GO=$(GO) e2e/run.sh

# The same on whatever the registry calls the latest version of each host, for a
# scheduled job: says which versions are new, and which tests the host broke.
e2e-latest: build
	@$(GO) run -tags e2e ./e2e/latest

# What races on the host, twenty times on each version: packets beside a busy agent, and
# messages in the instant of a compaction.
e2e-soak: export OVERTONE_E2E_SOAK := 20
e2e-soak: build
	$(GO) test -tags e2e -count=1 -timeout 60m -v -run '^(TestNewest_Row1_|TestCodex(Row6|Terminal)_CutMessage|TestOpencodeCutStories)' ./e2e/ | grep -E '^(ok|FAIL|---| +---)'

lint: $(TOOLS)/golangci-lint
	$(TOOLS)/golangci-lint run ./...
	cd team && ../$(TOOLS)/golangci-lint run ./...

$(TOOLS)/golangci-lint:
	GOBIN=$(CURDIR)/$(TOOLS) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)

# Known holes in what is linked; asks the database of the Go project.
vulnerabilities: $(TOOLS)/govulncheck
	$(TOOLS)/govulncheck ./...
	$(TOOLS)/govulncheck $(TEAM) ./...

$(TOOLS)/govulncheck:
	GOBIN=$(CURDIR)/$(TOOLS) $(GO) install golang.org/x/vuln/cmd/govulncheck@$(VULN_VERSION)

# What it costs, as ratios wherever there is something to compare with: machines
# are noisy, ratios less so. How often each package's benchmarks run depends on
# how long one takes. OVERTONE_BENCH_MB is the size of the generated session, PKGS
# the packages (make bin/bench.txt PKGS=internal/recall writes no page).
bench: bin/bench.txt
	@$(GO) run ./internal/eval/benchtab < bin/bench.txt > bin/benchmarks.md && mv bin/benchmarks.md docs/internals/benchmarks.md

# Fails where a ratio is worse than docs/internals/benchmarks.md says by more than 25 %.
bench-check: bin/bench.txt
	@$(GO) run ./internal/eval/benchtab check docs/internals/benchmarks.md < bin/bench.txt

.PHONY: bin/bench.txt bench-check
bin/bench.txt: export OVERTONE_BENCH_MB ?= 1024
bin/bench.txt: export PKGS ?=
bin/bench.txt: build
	@set -o pipefail; mkdir -p bin; \
	for dir in $${PKGS:-$$(grep -rl --include='*_test.go' '^func Benchmark' internal team | xargs -n1 dirname | sort -u)}; do \
		case $$dir in internal/cli|internal/compress) n=1x;; internal/transcript|internal/handover|internal/audit) n=3x;; internal/recall) n=50x;; *) n=200x;; esac; \
		echo "== $$dir"; \
		$(GO) test -C $$dir -run '^$$' -bench . -benchtime $$n . | grep -vE '^(goos|goarch|pkg|cpu|PASS|ok)' || exit 1; \
	done | tee $@
	@$(GO) run ./internal/eval/survive -bench | grep -E '^(==|Benchmark)' | tee -a $@
	@echo "== on the host"; OVERTONE_BENCH_HOST=$${OVERTONE_BENCH_HOST:-3} $(GO) test -tags e2e -count=1 -v -run '^TestCostOf' ./e2e/ | grep ' calls, ' | tee -a $@

# What a hand-over keeps across a compaction and tells of the situation, and what
# compression keeps, on recorded sessions ($OVERTONE_SAMPLES), else on generated ones; which secrets are found, on generated texts;
# when the policy compacts, by project and host, beside what happened and the defaults before (only on recorded sessions).
eval: export OVERTONE_EVAL := 1
eval:
	@$(GO) run ./internal/eval/survive
	$(GO) test -count=1 -timeout 30m -v -run Eval ./internal/redact ./internal/eval/...

# The numbers of the page about recorded compactions, which `make eval` checks.
compactions:
	@$(GO) run ./internal/eval/survive -page docs/internals/compactions.md

# Every command that reads sessions, on every recorded session ($OVERTONE_CORPUS,
# $OVERTONE_SAMPLES) and on accidents of each; SEED=2 has other accidents happen. It takes
# half an hour or more; the sample is what CI runs. Without recorded sessions some are made up.
corpus: SEED ?= 1
corpus: build
	$(GO) run ./internal/eval/corpus -seed $(SEED)

corpus-sample: build
	$(GO) run ./internal/eval/corpus -sample

# A million events of 20 machines on three nodes, while nodes and shippers are
# killed and wires are cut.
team-proof: export OVERTONE_TEAM_PROOF ?= 1000000
team-proof: export OVERTONE_TEAM_RECORD ?= $(CURDIR)/docs/team.md
team-proof:
	$(GO) test $(TEAM) -count=1 -timeout 60m -v -run '^(TestCluster|TestProof)$$' ./internal/team

# The guard against bash, zsh and real programs, in a jail that is tried first (ten
# minutes or more; needs zsh and Linux's namespaces), then a minute for every fuzz target.
# Go's own fuzzing sometimes ends at its time limit with the limit as an error: that is no
# finding.
fuzz: FUZZTIME ?= 60s
fuzz: export OVERTONE_FUZZ_LINES ?= 200000
fuzz:
	OVERTONE_FUZZ_SEED=$$RANDOM OVERTONE_FUZZ_OPTIONS=1 $(GO) test -count=1 -timeout 60m -v -run '^Test(Guard|Options)Against' ./internal/shellcmd
	@log=$$(mktemp); trap 'rm -f $$log' EXIT; for dir in $$(grep -rl --include='*_test.go' '^func Fuzz' internal team | xargs -n1 dirname | sort -u); do \
		for f in $$($(GO) test -C $$dir -list '^Fuzz' . | grep '^Fuzz'); do \
			echo "$$dir $$f"; $(GO) test -C $$dir -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 2s . >$$log 2>&1 || \
				{ grep -q 'context deadline exceeded' $$log && ! grep -q 'Failing input' $$log; } || { cat $$log; exit 1; }; \
			grep execs $$log | tail -1; \
		done; \
	done

# The race detector over everything. The programs that tests start are built without
# it: under it each would sleep for a second at its end.
race:
	$(GO) test -race -timeout 40m ./...
	$(GO) test $(TEAM) -race -timeout 40m ./...

# Kills every hook of a story before each of its system calls, and lets each call that
# deals with files fail (Linux); then kills every command that writes 300 times at random,
# with all recorded sessions in its home. Up to an hour.
crash: export OVERTONE_CRASH := 1
crash: export OVERTONE_KILLS ?= 300
crash: export OVERTONE_SEED ?= $(shell echo $$RANDOM)
crash:
	$(GO) test -count=1 -timeout 120m -v -run "Killed|Errors" ./internal/crash/

# Which rules can be broken without a test noticing: each of MUTATED is changed in
# MUTANTS small places, one at a time, and its own tests run on every change; at least
# 70 % have to be noticed. The changes are a sample, always the same one for the same
# source; SEED=2 takes another. It is a program of our own because gremlins takes no
# samples (one package would take hours), copies the whole checkout for every worker, and
# neither removes statements nor switches conditions off.
mutate: MUTANTS ?= 100
mutate: SEED ?= 1
mutate: comma := ,
mutate: MUTATED ?= $(addprefix internal/,workflow compact handover session store compress carry setup audit catalog transcript mirror) team/internal/team/lease.go$(comma)hold.go
mutate:
	$(GO) run ./internal/eval/mutate -n $(MUTANTS) -seed $(SEED) $(MUTATED)

# The README's pictures, taken of the real program: terminal and dashboard, light
# and dark. Needs Chromium.
pictures: build
	$(GO) run -tags e2e ./e2e/pictures docs/pictures

# What a release consists of, built here and published nowhere: archives with
# completions and bills of materials, checksums, the Homebrew formula, npm packages, all in
# dist/.
release-snapshot:
	sh release/snapshot.sh $(PLATFORMS)

# Builds a release twice and compares the checksums.
release-check:
	OUT=dist sh release/snapshot.sh $(PLATFORMS)
	OUT=dist/again sh release/snapshot.sh $(PLATFORMS) && cmp dist/SHA256SUMS dist/again/SHA256SUMS

# The npm packages of what goreleaser has built, on CI.
release-npm:
	node release/npm.mjs $(VERSION) dist/npm dist

clean:
	rm -rf bin dist $(TOOLS) .e2e .e2e-latest.log
