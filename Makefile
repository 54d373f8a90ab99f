# Two commands matter: `make demo` shows the product, `make test` proves it.

GO ?= go
BIN := bin/overtone
TOOLS := .tools
LINT_VERSION := v2.14.0

.PHONY: build demo test e2e lint bench fuzz clean

# Without cgo: loading the C library would cost every hook call a millisecond.
build:
	CGO_ENABLED=0 $(GO) build -trimpath -o $(BIN) ./cmd/overtone

demo: build
	@$(BIN) demo

test:
	$(GO) vet ./...
	$(GO) test ./...

# The real agents, installed from the npm registry into .e2e, against a mock API
# on loopback.
e2e: build
	$(GO) test -tags e2e -count=1 -timeout 20m ./e2e/...

lint: $(TOOLS)/golangci-lint
	$(TOOLS)/golangci-lint run ./...

$(TOOLS)/golangci-lint:
	GOBIN=$(CURDIR)/$(TOOLS) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)

# Ratios measured in one run: machines are noisy, ratios less so.
bench: build
	$(GO) test -run '^$$' -bench . -benchtime 1x ./internal/...

# A minute for every fuzz target.
fuzz:
	@for pkg in $$($(GO) list ./internal/...); do \
		for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
			echo "$$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime 60s $$pkg || exit 1; \
		done; \
	done

clean:
	rm -rf bin $(TOOLS) .e2e
