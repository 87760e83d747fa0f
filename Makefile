# One command per habit. Each sets up .venv in this folder when it is missing or stale.
PYTHON ?= python3
BIN := .venv/bin
CORE := $(wildcard src/core/*/*.cpp src/core/*/*.h)
MODULES := $(sort $(shell find src/twbn -name "*.py"))

.PHONY: FORCE help demo test test-all lint bench bench-limits bench-quality bench-scale bench-tables reproduce docs clean

help:
	@echo "make demo       learn from the built-in example"
	@echo "make test       run the tests (about four minutes)"
	@echo "make test-all   run all tests, with the peers and, where there is one, a browser"
	@echo "make lint       ruff and mypy"
	@echo "make bench      speed, beside pgmpy and pyAgrum"
	@echo "make bench-tables   reading, classifying and imputing real tables (about ten minutes)"
	@echo "make bench-limits   time limits asked for and taken (about ten minutes)"
	@echo "make bench-scale    hundreds to thousands of variables (about three minutes)"
	@echo "make bench-quality  what annealing finds in ten seconds (about an hour)"
	@echo "make reproduce  rerun the paper: tables, figures, page (SIZE=quick, standard or paper)"
	@echo "make docs       build the documentation into site/"
	@echo "make clean      remove .venv and the build"

# Debian's python3 has venv but, without python3-venv, no ensurepip: then the system's pip fills it.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "twbn needs Python 3.11 or newer; name one with make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import os, sys, sysconfig as s; sys.exit(not os.path.exists(os.path.join(s.get_paths()["include"], "Python.h")))' || \
	  { echo "Python.h is missing; on Debian or Ubuntu: apt-get install python3-dev"; exit 1; }
	@rm -rf .venv
	@$(PYTHON) -m venv .venv >/dev/null 2>&1 || { rm -rf .venv; \
	  $(PYTHON) -m venv --without-pip .venv && $(PYTHON) -m pip --python .venv/bin/python install -q pip; }

# Build tools come from PyPI, so that neither cmake nor ninja has to be on the machine.
.venv/tools: $(BIN)/python pyproject.toml
	@$(BIN)/python -m pip install -q --no-compile "scikit-build-core>=0.11" "nanobind>=2.8" "cmake>=3.20" ninja
	@touch $@

# The installation knows the modules by name: it is stale when one comes, goes or moves.
.venv/modules: .venv/tools FORCE
	@echo "$(MODULES)" | cmp -s - $@ || echo "$(MODULES)" > $@

# --no-compile: most of SciPy is never imported. For tests, which start hundreds of interpreters,
# all is compiled, on all cores.
COMPILE = $(BIN)/python -m compileall -qq -j 0 -x '/tests?/' .venv/lib src || true
INSTALL = PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip install -q --no-compile --no-build-isolation \
  -C cmake.define.TWBN_DEVELOPMENT=ON
SOURCES := .venv/tools .venv/modules pyproject.toml CMakeLists.txt $(CORE)

# What the demo needs, and no more: the core, and scikit-learn for its data.
.venv/light: $(SOURCES)
	@echo "building twbn in .venv (a minute or so)"
	@$(INSTALL) -e ".[sklearn]"
	@touch $@

.venv/built: $(SOURCES)
	@echo "building twbn in .venv, with all that tests and documentation need"
	@$(INSTALL) -e ".[dev]"
	@$(COMPILE)
	@touch $@ .venv/light

.venv/peers: .venv/built
	@$(BIN)/python -m pip install -q --no-compile "pgmpy>=1.0" "pyagrum>=2.0" "ortools>=9.10"
	@$(BIN)/python -m pip install -q --no-compile "ray>=2.40" || \
	  echo "Ray has no wheel for this Python; its tests will be skipped"
	@$(COMPILE)
	@touch $@

demo: .venv/light
	@$(BIN)/python examples/demo.py

# Many tests wait for a time limit or for another process: two workers for each core.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(2 * (os.cpu_count() or 1))')
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
test: .venv/built
	$(PYTEST) -m "not slow"

test-all: .venv/peers
	$(PYTEST)

lint: .venv/built
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/peers
	$(BIN)/python benchmarks/bench_scores.py
	$(BIN)/python benchmarks/bench_treewidth.py
	$(BIN)/python benchmarks/bench_sampling.py
	$(BIN)/python benchmarks/bench_inference.py

bench-limits: .venv/built
	$(BIN)/python benchmarks/bench_limits.py

bench-tables: .venv/peers
	$(BIN)/python benchmarks/bench_tables.py
	$(BIN)/python benchmarks/bench_classify.py
	$(BIN)/python benchmarks/bench_impute.py

bench-quality: .venv/built
	$(BIN)/python benchmarks/bench_quality.py

bench-scale: .venv/built
	@$(BIN)/python -m pip install -q "matplotlib>=3.8"
	$(BIN)/python benchmarks/bench_scale.py

# SIZE is quick (minutes), standard (an hour) or paper (the paper's budgets); a killed run goes on.
SIZE ?= quick
reproduce: .venv/built
	$(BIN)/twbn reproduce --size $(SIZE) -o reproduction/$(SIZE)

docs: .venv/built
	$(BIN)/sphinx-build -q -W --keep-going -b html docs site
	@echo "the documentation is site/index.html"

clean:
	rm -rf .venv build site docs/pictures docs/generated
