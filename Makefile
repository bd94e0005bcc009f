# Two commands matter: `make demo` and `make test`. Both build .venv once and reuse it.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
PEERS := .venv/.peers

.PHONY: demo test lint bench clean
.DEFAULT_GOAL := demo

$(READY): pyproject.toml constraints.txt
	@echo "Setting up .venv (once; a few minutes)"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt "torch==2.13.0"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev,geo,gnn]"
	@touch $@

demo: $(READY)
	@$(BIN)/grada demo

test: $(READY)
	$(BIN)/python -m pytest -q -n auto

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(PEERS)
	$(BIN)/python -m benchmarks

# The benchmarks that need a peer are skipped where it cannot be installed.
$(PEERS): $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[skada]" \
		&& touch $@ || echo "Could not install the peers to compare with; going on without them."

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
