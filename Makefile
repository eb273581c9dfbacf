# Everything a person or a build server does with this project. `make help` lists the targets.
# The environment in $(VENV) is built from pyproject.toml and constraints.txt, and again only when these change.

PYTHON ?= python3
VENV ?= .venv
DEMO ?= demo
PYTEST_ARGS ?=
# Many tests wait, for processes, disks and clocks, twice as long as they work: three workers for each core keep these busy.
TEST_WORKERS ?= $(shell $(PYTHON) -c 'import os; print(3 * (os.cpu_count() or 1))')

BIN = $(VENV)/bin
STAMP = $(VENV)/.built
# What is imported is compiled then: most of it never is.
INSTALL = $(BIN)/python -m pip install --quiet --quiet --no-compile --constraint constraints.txt --build-constraint constraints.txt \
	--group dev --editable '.[browser,database,demo,documents,embed,postgres,server,workers]'

.DEFAULT_GOAL := help
.PHONY: help demo test lint format reference bench bench-tools conformance soak ui ui-check ui-page-check ui-schema-check ui-demo screenshots clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile

demo: $(STAMP) ## the main job on real MCP servers, offline, in the folder demo/
	@$(BIN)/toolpath demo --into $(DEMO)

test: $(STAMP) ## all tests but the long ones, side by side
	@$(BIN)/pytest -q --numprocesses $(TEST_WORKERS) --dist worksteal $(PYTEST_ARGS)

lint: $(STAMP) ## style, types and the layers of the house
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

format: $(STAMP) ## write the code as `make lint` wants it
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .

reference: $(STAMP) ## write docs/reference/cli.md and the schema of plans from the program
	@$(BIN)/python -m toolpath.cli.reference > docs/reference/cli.md
	@$(BIN)/python -m toolpath.notation.plan_schema > plan.schema.new
	@mv plan.schema.new src/toolpath/notation/plan.schema.json

bench: $(STAMP) ## measure, and print the figures
	@$(BIN)/python -m benchmarks

bench-tools: $(STAMP) ## the real classes that some gold plans need, in benchmarks/.tools
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target benchmarks/.tools \
		bfcl-eval==2026.3.23 mpmath==1.3.0 \
		agentdojo==0.1.35 deepdiff==8.6.1 orderly-set==5.5.0 docstring-parser==0.17.0 email-validator==2.3.0 dnspython==2.8.0

conformance: $(STAMP) ## the official MCP suite against our server; npm fetches it once
	@$(BIN)/pytest -q -rs tests/conformance $(PYTEST_ARGS)

soak: $(STAMP) ## the long tests, with a line for each and the sums at the end
	@$(BIN)/pytest -v -m soak --soak $(PYTEST_ARGS)

ui/node_modules: ui/package.json ui/package-lock.json
	@cd ui && npm ci --ignore-scripts --no-progress --silent
	@touch ui/node_modules

ui: $(STAMP) ui/node_modules ## build the web page from ui/, which needs Node; what is built is kept in the repository
	@$(BIN)/python -m toolpath.server.openapi > ui/openapi.json
	@$(BIN)/python -m ui.event_texts > ui/src/texts/events.zh.ts
	@cd ui && npx openapi-typescript openapi.json --empty-objects-unknown --output src/api/schema.ts >/dev/null && rm openapi.json
	@cd ui && npm run --silent types && npm run --silent test && npm run --silent build

ui-demo: $(STAMP) ## the page on a store with runs of every kind, until Ctrl-C
	@$(BIN)/python -m ui.demo.serve

screenshots: $(STAMP) ## pictures of every page in screenshots/, and the README's two; needs Chromium
	@$(BIN)/python -m ui.demo.pictures

ui-check: ui-page-check ui-schema-check ## the page's types and tests, and that what is kept is what `make ui` builds

ui-page-check: ui/node_modules
	@rm -rf ui/.check
	@cd ui && npm run --silent types && npm run --silent test && npm run --silent build -- --outDir .check/page --emptyOutDir >/dev/null
	@diff -rq ui/.check/page src/toolpath/server/page/static || { echo "The page that is kept is not the one that its source builds: make ui"; exit 1; }
	@rm -rf ui/.check

ui-schema-check: $(STAMP) ui/node_modules
	@rm -rf ui/.check && mkdir ui/.check
	@$(BIN)/python -m toolpath.server.openapi > ui/.check/openapi.json
	@cd ui && npx openapi-typescript .check/openapi.json --empty-objects-unknown --output .check/schema.ts >/dev/null
	@diff -q ui/.check/schema.ts ui/src/api/schema.ts || { echo "The page's types are not those of the service: make ui"; exit 1; }
	@rm -rf ui/.check

clean: ## remove what the other targets made
	rm -rf $(VENV) $(DEMO) screenshots ui/node_modules ui/.check .conformance benchmarks/.tools .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; $(PYTHON) is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12")'
	@echo "Building $(VENV) (once; about a minute) ..."
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV) || { echo "No virtual environment can be made; on Debian: apt-get install python3-venv"; exit 1; }
	@$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check "$$(grep '^pip==' constraints.txt)"
	@$(INSTALL) || { echo "Once more, since a registry may have a bad moment ..."; $(INSTALL); }
	@touch $(STAMP)
