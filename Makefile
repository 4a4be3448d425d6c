# Bare `make` lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
comma := ,
AXE := 4.14.0
# tests on all cores, those of one file together: they share what they build
SPREAD := --numprocesses auto --dist loadfile
# a machine without npm gets one from PyPI, to fetch the law with
NPM := $(if $(shell command -v npm),,npm)
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.DEFAULT_GOAL := help
.PHONY: help setup ask serve test test-all check format docs bench results clean

help: ## List the targets
	@echo "Lexarbor: ask a legal question, get the articles that govern it."
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# what asking a question needs
$(VENV)/.asking: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Lexarbor needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 2; }
	@echo "setting up $(VENV) (once, about a minute)" >&2
	@$(PYTHON) -m venv $(VENV)
	@$(INSTALL) --editable '.$(if $(NPM),[$(NPM)])'
	@touch $@

# what the page needs
$(VENV)/.serving: $(VENV)/.asking
	@echo "installing what the page needs into $(VENV)" >&2
	@$(INSTALL) --editable '.[serve$(if $(NPM),$(comma)$(NPM))]'
	@touch $@

# what working on it needs
$(VENV)/.working: $(VENV)/.asking
	@echo "installing the tools of development into $(VENV), torch among them (some minutes)" >&2
	@$(INSTALL) torch==2.13.0 # by itself and exactly so: any other spelling may bring the CUDA build with its gigabytes
	@$(INSTALL) --editable '.[dev$(if $(NPM),$(comma)$(NPM))]'
	@touch $@

# what the real components need
$(VENV)/.real: $(VENV)/.working
	@echo "installing lemmas, npm and hub clients and a browser's driver into $(VENV)" >&2
	@$(INSTALL) --editable '.[dev,lemmas,npm,hub,browser]'
	@PATH="$(abspath $(BIN)):$$PATH" npm install --loglevel error --no-save --no-package-lock --prefix $(VENV)/axe axe-core@$(AXE) >/dev/null || \
	  { echo "the tests of the page need the npm package axe-core $(AXE), see npm's words above; then make $(MAKECMDGOALS)"; exit 2; }
	@command -v chromium >/dev/null || { echo "installing Chromium, for the tests of the page" >&2; \
	  apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; } || \
	  { echo "the tests of the page need Chromium: install Debian's package chromium, then make $(MAKECMDGOALS)"; exit 2; }
	@touch $@

setup: $(VENV)/.working ## Make the virtual environment, with the tools of development

# the question goes to the shell as it was typed: make neither expands it nor exports it
unexport Q
ask: $(VENV)/.asking ## Ask a question: make ask Q="Puis-je être licencié pendant un arrêt maladie ?"
	@$(BIN)/lexarbor search -- '$(subst ','\'',$(value Q))'

PORT ?= 8000
serve: $(VENV)/.serving ## Open the web page and the HTTP API on this machine: make serve PORT=8000
	@$(BIN)/lexarbor serve --port $(PORT)

test: setup ## Run the tests that need nothing but this checkout
	@$(BIN)/python -m pytest -m "not real" $(SPREAD)

test-all: $(VENV)/.real ## Run all the tests: real packages, a real browser and a fresh environment too
	@$(BIN)/python -m pytest $(SPREAD)

check: setup ## Lint and type-check
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: setup ## Format the code
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

docs: setup ## Write docs/cli.md from the commands' own help
	@$(BIN)/python docs/write_cli.py

bench: setup ## Measure speed and memory into results/speed.md
	@$(BIN)/python benchmarks/measure_speed.py

results: $(VENV)/.real ## Make the tables and figures of results/ again (test questions are looked at: for releases)
	@$(BIN)/python benchmarks/measure_citations.py
	@$(BIN)/python benchmarks/choose_memory.py
	@$(BIN)/python benchmarks/compare_stems.py
	@$(BIN)/python benchmarks/baselines.py

clean: ## Remove the virtual environment and build outputs
	@rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
