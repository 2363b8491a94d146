# weft's commands. `make test` and `make demo` each work alone, first, on a fresh machine.
.DEFAULT_GOAL := help
.PHONY: help bootstrap build debug check lint format test test-cpp test-python test-all test-ptx test-sanitize test-threads conformance test-libraries fuzz fuzz-jit fuzz-variants fuzz-libraries probe probe-sanitize demo \
	bench bench-curves bench-programs bench-peers wheel test-wheel clean

PYTHON := .venv/bin/python
JOBS ?= $(shell nproc)
ARGS ?=
# The Python tests in as many processes as CPUs; one that has nothing left takes tests from another.
SIDE_BY_SIDE := -n $(JOBS) --dist worksteal
export CCACHE_BASEDIR ?= $(CURDIR)
export CCACHE_NOHASHDIR ?= 1

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

bootstrap: ## Install what is missing: system packages by apt, Python packages into .venv
	@tools/bootstrap

build: bootstrap ## Build the engine, the Python binding and the C++ tests into build/release
	@tools/build release $(JOBS)

debug: bootstrap ## The same with assertions and verifiers, into build/debug
	@tools/build debug $(JOBS)

check: bootstrap ## Check includes, imports, formatting and lint; compiles nothing
	@$(PYTHON) tools/check_includes.py
	@$(PYTHON) tools/check_imports.py
	@tools/format --check
	@$(PYTHON) tools/check_docs.py
	@.venv/bin/ruff check -q .

format: bootstrap ## Format every C++ and Python file
	@tools/format

lint: build check ## check, and clang-tidy over the files changed since main (FILES=... for others)
	@tools/lint build/release $(FILES)

test: test-cpp test-python check ## Install what is missing, build, run every test

test-cpp: build ## The C++ tests alone (ARGS="--gtest_filter=...")
	@tools/test-cpp build/release $(JOBS) $(ARGS)

test-python: build ## The Python tests alone (ARGS="-k ...")
	@$(PYTHON) -m pytest $(SIDE_BY_SIDE) $(ARGS)

test-all: bootstrap ## Every run that tests weft, rare and slow ones too, with a table at the end (ARGS="fuzz probe": these)
	@$(PYTHON) tools/test_all.py $(ARGS)

test-ptx: build ## Every operation, and every kernel that the Python suite makes, generated for GPUs and assembled by ptxas
	@WEFT_COLLECT_KERNELS=build/kernels_of_the_suite.wir $(PYTHON) -m pytest $(SIDE_BY_SIDE) $(ARGS)
	@WEFT_TEST_PTX=all WEFT_PTX_KERNELS=build/kernels_of_the_suite.wir \
		build/release/bin/weft_tests --gtest_brief=1 --gtest_filter='*Ptx*'

test-sanitize: bootstrap ## All tests with the address and undefined-behaviour sanitizers (ARGS="tests/python/...": these)
	@tools/build asan $(JOBS)
	@tools/sanitize build/asan $(ARGS)

test-threads: bootstrap ## The tests of threads with the thread sanitizer (ARGS="tests/python/...": these)
	@tools/build tsan $(JOBS)
	@tools/sanitize build/tsan $(ARGS)

# ARRAY_API_TESTS=folder: the public tests of the array API in that checkout, instead of NumPy's.
conformance: build ## NumPy's own tests with weft in its place, against lists of expected failures (ARGS="--only fft --write")
	@PYTHONPATH=build/release/python $(PYTHON) tools/conformance.py --jobs $(JOBS) \
		$(if $(ARRAY_API_TESTS),--array-api $(ARRAY_API_TESTS)) $(ARGS)

test-libraries: build ## Programs with the libraries around, in .venv-libraries, which this makes (ARGS="-k pandas", ARGS=--array-api: SciPy's and scikit-learn's own tests)
	@tools/test-libraries $(JOBS) $(ARGS)

probe: build ## Junk calls, failing allocations and system calls: nothing may crash (ARGS="--only calls --cases 100000")
	@$(PYTHON) tests/probe/run.py $(ARGS)

probe-sanitize: bootstrap ## The same with the address and undefined-behaviour sanitizers
	@tools/build asan $(JOBS)
	@tools/sanitize build/asan --probe $(ARGS)

fuzz: build ## Random programs against NumPy, with a fresh seed (ARGS="--seed N --count N")
	@$(PYTHON) tests/fuzz/run.py $(ARGS)

fuzz-variants: build ## The same random programs by every tier, number of threads and with each optimisation switch left out
	@$(PYTHON) tests/fuzz/variants.py $(ARGS)

fuzz-libraries: build ## Random calls of linalg and fft, NumPy's and SciPy's, on both and on weft (ARGS="--calls 1000000 --seed N")
	@PYTHONPATH=build/release/python $(PYTHON) tests/fuzz/libraries.py $(ARGS)

fuzz-jit: build ## Random functions by weft.jit beside CPython, with a fresh seed (ARGS="--seed N --count N")
	@WEFT_CACHE=0 PYTHONPATH=build/release/python $(PYTHON) tests/python/jit/random_functions.py --fresh --count 2000 --ways turn $(ARGS)
	@WEFT_CACHE=0 PYTHONPATH=build/release/python $(PYTHON) tests/python/jit/random_functions.py --fresh --count 1000 --ways turn --parallel $(ARGS)
	@WEFT_CACHE=0 PYTHONPATH=build/release/python $(PYTHON) tests/python/jit/random_functions.py --fresh --count 2000 --ways turn --bounds $(ARGS)
	@WEFT_CACHE=0 PYTHONPATH=build/release/python $(PYTHON) tests/python/jit/random_functions.py --fresh --count 1000 --ways turn --bounds --parallel $(ARGS)

demo: build ## Run the example programs beside NumPy and print the table
	@$(PYTHON) examples/demo.py $(ARGS)

bench: build ## Time weft beside NumPy and any installed peer (ARGS="--only TEXT")
	@$(PYTHON) bench/run.py $(if $(wildcard .venv-peers/bin/python),--peers-python .venv-peers/bin/python) $(ARGS)

bench-programs: build ## Time the programs of examples/programs with NumPy, the import changed, and unchanged (ARGS="--only heat")
	@$(PYTHON) bench/programs.py $(ARGS)

bench-curves: build ## Time against size and threads, into out/ and docs/pictures (ARGS="--only sum")
	@mkdir -p out
	@PYTHONPATH=build/release/python $(PYTHON) -m weft.bench --curves --json out/curves.json --picture docs/pictures/curves.png $(ARGS)

# An environment of their own: the peers may want other versions of NumPy and llvmlite. PyTorch's CPU build, where its
# index can be reached, is a tenth of the usual one.
PEERS ?= scipy numexpr numba jax torch
bench-peers: bootstrap ## Install what the benchmarks compare with into .venv-peers (PEERS="numexpr numba")
	@[ -x .venv-peers/bin/python ] || $(PYTHON) -m venv .venv-peers
	@.venv-peers/bin/python -m pip install -q --disable-pip-version-check \
		$(if $(findstring torch,$(PEERS)),--extra-index-url https://download.pytorch.org/whl/cpu) numpy $(PEERS)

wheel: bootstrap ## Make wheels into dist/, for each Python that is installed
	@tools/wheel $(ARGS)

test-wheel: wheel ## Install the wheels where there is no compiler, and run them
	@$(PYTHON) tools/test_wheel.py

clean: ## Remove everything built; .venv stays
	@rm -rf build out dist
