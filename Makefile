# Tacit: `make demo` shows it, `make test` checks it. Needs Python 3.11 or newer and, for the first run, a package index that pip can reach.
# Everything is installed into .venv; nothing outside this folder is changed, except by apt in `make test` where it may.

SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
# Both variables: older pips read the first for build tools as well, newer ones the second.
PIP_INSTALL := PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt \
    $(BIN)/python -m pip --disable-pip-version-check install --quiet
INPUTS := pyproject.toml constraints.txt
WORKERS := 2
# Checks pages for people who cannot see or use a mouse; for the tests only.
AXE := $(VENV)/axe-core/node_modules/axe-core/axe.min.js
AXE_VERSION := 4.14.0

# The first Python that is new enough; `make PYTHON=/path/to/python demo` chooses another.
PYTHON := $(shell for p in python3 python3.13 python3.12 python3.11 python3.14 python; do \
    $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)

.PHONY: help demo test lint types check docs facts pages pages-serve screenshots bench judge needs clean
.NOTPARALLEL:
.DELETE_ON_ERROR:

help:
	@echo 'make demo    install Tacit into .venv and run `tacit demo` on bundled data'
	@echo 'make test    lint, types, every test, documentation; installs what is missing where it may'
	@echo 'make bench   measure mining against other programs and write docs/benchmarks.md'
	@echo 'make judge   hold verdicts on random releases against every database that fits them, JUDGE_SECONDS long'
	@echo 'make docs    write generated facts into docs/ and build the pages into site/'
	@echo 'make pages-serve   show the pages at 127.0.0.1:8000, and build them again when one changes'
	@echo 'make screenshots   draw the pictures of a report and of tacit serve in docs/images with an installed browser'
	@echo 'make clean   remove what these targets made'

demo: $(VENV)/installed
	$(BIN)/tacit demo

test: needs lint types check
	@echo 'all checks passed'

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed-dev
	$(BIN)/mypy

# The tests also hold that generated facts are up to date and that the pages build strictly. A skipped test is an error: what was not run was
# not checked. Bytecode is kept, because many tests start the program anew.
check: $(VENV)/installed-dev $(AXE)
	CI=true PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

# Silences a notice of the theme about a future version of MkDocs, which pyproject.toml excludes.
pages pages-serve: export NO_MKDOCS_2_WARNING := 1

pages: $(VENV)/installed-dev
	$(BIN)/mkdocs build --quiet --strict --site-dir site

pages-serve: $(VENV)/installed-dev
	$(BIN)/mkdocs serve --livereload --dev-addr 127.0.0.1:8000

screenshots: $(VENV)/installed-dev
	$(BIN)/python docs/screenshots.py

facts: $(VENV)/installed-dev
	$(BIN)/python docs/generate.py

docs: facts pages
	@echo 'Open site/index.html in a browser; search works there, too. With a server: make pages-serve'

bench: $(VENV)/installed-dev
	$(BIN)/python -m benchmarks

# Prints a seed for each disagreement; `JUDGE_SEED` is the first, `JUDGE_KIND` limits it to one kind of release.
JUDGE_SECONDS := 60
JUDGE_SEED := 0
JUDGE_KIND :=
judge: $(VENV)/installed-dev
	$(BIN)/python -m tests.judge --seconds $(JUDGE_SECONDS) --seed $(JUDGE_SEED) $(if $(JUDGE_KIND),--kind $(JUDGE_KIND))

clean:
	rm -rf $(VENV) site build dist .mypy_cache .ruff_cache .hypothesis tacit-demo
	find src tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} +

# What tests need from the system: a C compiler and Python's headers, because the rival miner pyfim comes as source; chromium, which prints pages;
# npm, which fetches axe-core; Java, which Spark runs on; and PostgreSQL.
needs:
	@sh .ci/system-packages "$(PYTHON)"

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo 'make: no Python 3.11 or newer was found. Install one, or name it: make PYTHON=/path/to/python3.11' >&2; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo 'make: $(PYTHON) cannot make environments (no venv or ensurepip).' \
	    'On Debian or Ubuntu: apt install python3-venv' >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(AXE): $(VENV)/bin/python Makefile
	npm install --prefix $(VENV)/axe-core --no-save --no-audit --no-fund --ignore-scripts --loglevel error axe-core@$(AXE_VERSION)
	@touch $@

# Stamps: an install is repeated only when what it depends on changed. The package is installed in place, so edits need no install.
$(VENV)/installed: $(VENV)/bin/python $(INPUTS)
	$(PIP_INSTALL) --editable .
	@touch $@

$(VENV)/installed-dev: $(VENV)/bin/python $(INPUTS)
	$(PIP_INSTALL) --editable '.[dev]'
	@touch $(VENV)/installed $@
