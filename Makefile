# Every chore of flashscape. `make help` lists them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
OUT := out/demo

# A campaign of `make fuzz`: docs/fuzzing.md.
CASES ?= 100000
SEED ?= $(shell date +%s)
FIRST ?= 0
JOBS ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu)
ONLY ?=
FINDINGS ?= $(CURDIR)/out/fuzz
# One of `make power-cuts`, which has a SEED, too.
CUTS ?= 10000

# MQSim for `make bench` to compare with, and what `make peer` builds it from, if not from the public
# repository: docs/bench.md.
PEER ?= out/peer/MQSim
PEER_SOURCE ?=

# Outcomes of frozen cases: crates/drive/tests/gate.rs.
GATE = cargo test --locked --profile fuzz -p flashscape-drive --test gate -- --ignored --exact --nocapture \
	outcomes_are_as_they_were

# The event loop for callgrind, compiled as the wheel is (pyproject.toml).
PROFILE = cargo rustc --locked --release -p flashscape-drive --example profile -- -Cllvm-args=-inline-threshold=600

# What the installed command is made from.
SOURCES := $(shell git ls-files -co --exclude-standard -- Cargo.toml Cargo.lock pyproject.toml crates python 2>/dev/null)

.PHONY: help demo test bench peer wheel-pgo gate gate-accept fuzz power-cuts format clean rust rust-checks rust-tests python python-checks python-tests
.DEFAULT_GOAL := help

help: ## Show this list.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo: $(VENV)/.installed ## Replay a real trace on a small drive and explain its tail.
	@$(BIN)/flashscape run examples/demo.toml --out $(OUT) --force --plot
	@echo
	@$(BIN)/flashscape explain $(OUT)
	@echo
	@cat examples/demo-next.txt

# Both have long parts on one core: the wheel is linked, packages are fetched, and one test is the
# last. So Rust and Python run side by side.
test: | $(VENV)/.tools ## Check and test everything.
	$(MAKE) -j2 rust python

bench: $(VENV)/.installed ## Measure speed and memory; writes bench.json.
	cargo build --release --locked -p flashscape-floor
	$(BIN)/python -m flashscape.bench --peer "$(PEER)"

peer: ## Build MQSim, its faults mended, for `make bench` to compare with.
	@$(PYTHON) scripts/peer.py "$(PEER_SOURCE)"

# Its own target directory, so that the default build stays as it is: docs/bench.md.
wheel-pgo: | $(VENV)/.tools ## Build a wheel with profile-guided optimisation.
	@sh scripts/pgo.sh $(BIN)/python out/pgo

gate: | $(VENV)/.tools ## Compare outcomes and instructions with the accepted ones.
	$(GATE)
	$(PROFILE)
	$(BIN)/python scripts/instructions.py

gate-accept: | $(VENV)/.tools ## Accept the outcomes and instructions of the present code.
	FLASHSCAPE_GATE_ACCEPT=1 $(GATE)
	$(PROFILE)
	$(BIN)/python scripts/instructions.py --accept

fuzz: | $(VENV)/.tools ## Run random drives, traces and texts under audit.
	FLASHSCAPE_TEST_SEED=$(SEED) FLASHSCAPE_FUZZ_CASES=$(CASES) FLASHSCAPE_FUZZ_FIRST=$(FIRST) \
	FLASHSCAPE_FUZZ_JOBS=$(JOBS) FLASHSCAPE_FUZZ_ONLY=$(ONLY) FLASHSCAPE_FUZZ_FOLDER=$(FINDINGS) \
	cargo test --locked --profile fuzz -p flashscape-drive --test fuzz -- --ignored --exact --nocapture campaign \
	|| { cat $(FINDINGS)/running-* 2>/dev/null; exit 1; }

power-cuts: | $(VENV)/.tools ## Cut the power of random drives under audit.
	FLASHSCAPE_TEST_SEED=$(SEED) FLASHSCAPE_POWER_CUTS=$(CUTS) \
	cargo test --locked --profile fuzz -p flashscape-drive --test power_cuts -- --ignored --exact --nocapture \
	nothing_is_lost_in_ten_thousand_power_cuts

format: $(VENV)/.dev ## Format all code.
	cargo fmt --all
	rustfmt --edition 2024 $$(git ls-files 'crates/*.rs')
	$(BIN)/ruff format python tests
	$(BIN)/ruff check --fix python tests

clean: ## Remove what the other commands have made.
	rm -rf target $(VENV) out dist bench.json .pytest_cache .mypy_cache .ruff_cache

rust:
	$(MAKE) rust-checks
	$(MAKE) rust-tests

rust-checks: | $(VENV)/.tools
	cargo fmt --all --check
	rustfmt --check --edition 2024 $$(git ls-files 'crates/*.rs')
	MAKEFLAGS= cargo clippy --workspace --all-targets --locked -- -D warnings

rust-tests: | $(VENV)/.tools
	MAKEFLAGS= cargo test --workspace --locked

# One after the other, because pip installs into one environment.
python:
	$(MAKE) $(VENV)/.installed
	$(MAKE) $(VENV)/.dev
	$(MAKE) python-checks
	$(MAKE) python-tests

python-checks: $(VENV)/.dev $(VENV)/.installed
	$(BIN)/ruff check python tests
	$(BIN)/ruff format --check python tests
	$(BIN)/mypy
	$(BIN)/stubtest flashscape._flashscape

python-tests: $(VENV)/.dev $(VENV)/.installed
	$(BIN)/pytest -n auto --maxprocesses 4

# The environment, with what builds the wheel; refused where a tool is too old.
$(VENV)/.tools: pyproject.toml scripts/require.sh
	@sh scripts/require.sh $(PYTHON)
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install 'maturin>=1.9,<2'
	@touch $@

$(VENV)/.dev: $(VENV)/.tools
	$(PIP) install 'dask-jobqueue>=0.9' 'distributed>=2026.3' 'jsonschema>=4.20' 'matplotlib>=3.8' 'mypy>=1.19' 'pandas>=2.2' 'pytest>=8' 'pytest-xdist>=3.6' 'ruff>=0.8'
	@touch $@

$(VENV)/.installed: $(VENV)/.tools $(SOURCES)
	rm -rf dist
	$(BIN)/maturin build --release --locked --out dist
	$(PIP) install --force-reinstall --no-deps dist/*.whl
	$(PIP) install "$$(ls dist/*.whl)[plot]"
	@touch $@
