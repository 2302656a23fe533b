# Entry points for building, testing and measuring. Every target works on a fresh Debian 12 with make and git, as root
# or with sudo.

SEEDS ?= 3000
WHOLE_SEEDS ?= 10000
ROUNDS ?= 100
# Commit of an earlier version, from which "make upgrade" upgrades a cluster.
BEFORE ?= a80a2bd
FUZZ_SECONDS ?= 60

PEER_JOBS ?= 10000
PEER_ROUNDS ?= 3

UI_SOAK_MINUTES ?= 60

STORM_REQUESTS ?= 2000000

PREFIX ?= /usr/local
SYSCONFDIR ?= /etc
DESTDIR ?=

# With an empty environment there is no PATH, and dpkg does not work without one.
export PATH := $(or $(PATH),/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)

.PHONY: help deps deps-test deps-bench build profile run install uninstall docs man test fresh dev asan tsan analyze fuzz storm sim chaos upgrade cluster bench bench-cluster instructions bench-peers ui-types ui-soak format clean

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

# Install only what the target needs: running needs no test tools, and Node.js is optional.
deps: ## Install the packages that are missing to build and run
	@tools/install_deps.sh build --optional ui

deps-test:
	@tools/install_deps.sh build ui test

deps-bench:
	@tools/install_deps.sh build measure --optional ui

# The release uses profile-guided optimization (docs/decisions/0011).
release = @tools/profile.py && echo "release: building" && cmake --preset release >/dev/null && \
    cmake --build --preset release

build: deps ## Build the release: build/release/corvo
	$(release) --target corvo

profile: deps ## Collect a new execution profile for the optimized release
	@tools/profile.py --again

run: build ## Build the release and start the server
	@exec build/release/corvo server

# After "make build" as a user, "sudo make install" only copies.
install: ## Install the release below PREFIX (and DESTDIR): program, manual, completions, unit, configuration
	@test -x build/release/corvo || $(MAKE) build
	@PREFIX=$(PREFIX) SYSCONFDIR=$(SYSCONFDIR) DESTDIR=$(DESTDIR) tools/install.sh install build/release/corvo

uninstall: ## Remove what make install installed; a changed configuration and all data stay
	@PREFIX=$(PREFIX) SYSCONFDIR=$(SYSCONFDIR) DESTDIR=$(DESTDIR) tools/install.sh uninstall

docs: ## Write the documentation site: build/docs
	@python3 tools/docs.py check
	@python3 tools/docs.py build build/docs

man: build ## Write the manual pages: build/release/man
	@cmake --build --preset release --target man

test: deps-test ## Run the complete test gate (.ci/run calls this), or only STEPS='"asan build" …'
	@python3 tools/gate.py $(STEPS)

fresh: ## Run make run and make test in a fresh Debian root with an empty environment (needs root)
	@tools/install_deps.sh fresh
	@tools/fresh.py --test

dev: deps-test ## Build with debugging and run the unit tests
	@cmake --preset dev >/dev/null
	@cmake --build --preset dev
	@ctest --test-dir build/dev -j "$$(nproc)" --output-on-failure --no-tests=error -LE integration

asan: deps-test ## Build and test with AddressSanitizer and UndefinedBehaviorSanitizer
	@python3 tools/gate.py "asan build" "asan tests"

tsan: deps-test ## Build and test with ThreadSanitizer
	@python3 tools/gate.py "tsan build" "tsan tests"

analyze: deps-test ## Run the static analyzer, which the gate leaves out
	@tools/tidy.sh --analyze

fuzz: deps-test ## Fuzz every decoder for FUZZ_SECONDS each
	@cmake --preset fuzz >/dev/null
	@cmake --build --preset fuzz
	@tools/fuzz.sh $(FUZZ_SECONDS)

storm: deps-test ## Send STORM_REQUESTS random requests to a server built with AddressSanitizer
	@cmake --preset asan >/dev/null
	@cmake --build --preset asan --target corvo
	@python3 -B tests/integration/api/storm.py --binary build/asan/corvo --requests $(STORM_REQUESTS)

cluster: build ## Start three nodes on this machine, until Ctrl-C
	tools/cluster.sh build/release/corvo build/cluster

sim: deps-test ## Simulate clusters and check the state machine against its model, for SEEDS seeds, and whole clusters for WHOLE_SEEDS
	$(release)
	@build/release/tests/whole_sim --from 1000 --count $(WHOLE_SEEDS)
	@build/release/tests/cluster_sim --from 1000 --count $(SEEDS)
	@build/release/tests/model_sim --from 1000 --count $(SEEDS)
	@build/release/tests/mixed_sim --from 1000 --count $(SEEDS)

chaos: deps-test ## Break a cluster of three nodes under load in twenty ways, ROUNDS times
	$(release) --target corvo nemesis
	@python3 -B tests/integration/failover/chaos.py --binary build/release/corvo --rounds $(ROUNDS)

upgrade: deps-test ## Upgrade three nodes under load from the commit BEFORE, one by one
	$(release) --target corvo
	@python3 -B tests/integration/failover/upgrade.py --binary build/release/corvo --before $(BEFORE)

bench: deps-bench ## Benchmark the engine, the search index and the server
	$(release)
	@bench/run.sh

bench-cluster: deps-bench ## Benchmark one node and three, and the time without a leader after it is killed or stopped
	$(release) --target corvo
	@python3 -B bench/cluster.py build/release/corvo

instructions: deps-bench ## Count the instructions of each operation, and compare with bench/instructions.json
	@cmake --preset count >/dev/null
	@cmake --build --preset count --target corvo
	@python3 -B bench/instructions.py build/count/corvo

bench-peers: deps-bench ## Compare with other job servers, PEER_JOBS each, in PEER_ROUNDS rounds
	$(release) --target corvo load_bench
	@bench/peers/setup.sh build/peers
	@bench/peers/run.py --bin build/release --modules build/peers --jobs $(PEER_JOBS) --rounds $(PEER_ROUNDS)

ui-types: deps-test build ## Generate the TypeScript types of the web interface from the OpenAPI document
	@CORVO_BINARY=build/release/corvo CORVO_UI_MODULES=$(CURDIR)/build/ui node tests/integration/ui/types.mjs

ui-soak: deps-test build ## Keep the web interface open for UI_SOAK_MINUTES on a server with 1,000,000 jobs, and measure it
	@CORVO_BINARY=build/release/corvo CORVO_UI_MODULES=$(CURDIR)/build/ui node tests/integration/ui/soak.mjs \
	    --minutes $(UI_SOAK_MINUTES)

format: deps-test ## Format the sources
	@tools/format.sh

clean: ## Remove everything that was built
	@rm -rf build
