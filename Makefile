# Two commands matter: `make demo` and `make test`. Both build .venv once and reuse it.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test test-slow lint bench clean
.DEFAULT_GOAL := demo

$(READY): pyproject.toml constraints.txt
	@echo "Setting up .venv (once; a few minutes)"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt "torch==2.13.0"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev,geo,gnn,figures,images,skada]"
	@touch $@

demo: $(READY)
	@$(BIN)/grada demo

test: $(READY)
	$(BIN)/python -m pytest -q -n auto -m "not slow"

test-slow: $(READY)
	$(BIN)/python -m pytest -q -n auto -m slow

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)
	$(BIN)/python -m benchmarks

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
