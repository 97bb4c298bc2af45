# Everything happens in .venv, which is made once and made again when pyproject.toml or
# constraints.txt change.
#
#   make demo        train, measure and look at three small models (a few minutes)
#   make test        lint, types and the fast tests; those of pages where Chromium and its driver are
#                    found (Debian: chromium, chromium-driver), and it says so where they are not
#   make test-slow   the slow tests
#
# PIP_OPTIONS is for pip's own needs, e.g. an index with a smaller build of torch:
#   make demo PIP_OPTIONS="--extra-index-url URL"

PYTHON ?= python3
PIP_OPTIONS ?=
JOBS ?= 2
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt $(PIP_OPTIONS)

# Tests run in $(JOBS) processes of one thread each: more threads than cores only wait for each other.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadgroup

.PHONY: setup demo test test-slow lint format clean

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	@echo "Setting up $(VENV) (a few minutes the first time)"
	$(PYTHON) -m venv --clear $(VENV)
	$(PIP) hatchling editables setuptools
	$(PIP) --no-build-isolation --editable ".[demo,test]"
	@touch $@

demo: $(READY)
	$(BIN)/regard demo --out demo

test: lint
	$(PYTEST) -m "not slow"

test-slow: $(READY)
	$(PYTEST) -m slow

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache build dist src/*.egg-info
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
