# `make first` draws a figure of each paper, `make` runs the small configuration to all figures, `make test` the tests of
# five minutes. They set up `.venv` by themselves, from envs/requirements.lock, the tests from envs/tests.lock besides; they
# need nothing but Python >= 3.11.

PYTHON ?= python3
CORES ?= 2
VENV := .venv
# Bars of progress, and of jobs those that fail; a `snakemake` by hand prints what it always prints.
SNAKEMAKE := PATH="$$PWD/$(VENV)/bin:$$PATH" snakemake --logger rich --cores $(CORES)
READY := $(VENV)/.ready
READY_TO_TEST := $(VENV)/.ready-to-test
PIP := $(VENV)/bin/python -m pip
INSTALL := $(PIP) install --quiet --disable-pip-version-check
DOCS := .venv-docs
# Images of containers often set it; then every job would compile and digest our sources anew.
unexport PYTHONDONTWRITEBYTECODE

ifneq ($(shell [ "$(CORES)" -ge 1 ] 2>/dev/null && echo yes),yes)
$(error carryover: CORES is $(CORES), but must be a whole number of at least 1)
endif

.PHONY: all first report papers fashion papers-check replay test test-all bench bench-gpu lint docs schema lock unlock clean help

all first report: $(READY)
	@$(UNLOCKED)
	@$(SNAKEMAKE) $@

# other configurations, drawn and checked from the archive; nothing is trained
papers: SCALE = config/paper.yaml
fashion: SCALE = config/fashion.yaml
papers fashion: $(READY)
	@$(UNLOCKED)
	@$(VENV)/bin/python scripts/archive.py check --configfile config/config.yaml $(SCALE)
	@$(SNAKEMAKE) --configfile $(SCALE)

# whether today's code still gives the archived values: two minutes of training, of runs drawn by the commit; another
# sample by SAMPLE="--seed 7 --seconds 600". With one thread, as the archived jobs had: with more, rounding differs
papers-check: $(READY)
	@PYTHONPATH=scripts OMP_NUM_THREADS=1 $(VENV)/bin/python tools/papers_check.py $(SAMPLE)

# published runs of Feature reuse, drawn by SEED, trained again from the authors' seeds; their digits beside the published
replay: RUNS ?= 20
replay: SEED ?= 0
replay: $(READY)
	@$(VENV)/bin/python scripts/carryover replay --runs $(RUNS) --seed $(SEED)

# one process more than there are cores, since some wait: for Slurm, for jobs of Snakemake
PYTEST := $(VENV)/bin/python -m pytest -n $$(($(CORES) + 1)) --dist loadgroup
test: $(READY_TO_TEST)
	@$(PYTEST) -m "not extended"

test-all: $(READY_TO_TEST)
	@$(VENV)/bin/python tools/processors.py
	@$(PYTEST)

bench: $(READY_TO_TEST)
	@$(VENV)/bin/python tests/bench/run.py

bench-gpu: $(READY)
	@$(VENV)/bin/python tests/bench/run.py --device cuda

lint: $(READY_TO_TEST)
	@$(VENV)/bin/ruff check . && $(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy
	@$(VENV)/bin/snakefmt --check Snakefile workflow rules
	@PATH="$$PWD/$(VENV)/bin:$$PATH" snakemake --lint

# docs/ as a site, in an environment of its own, with the figures of results/ where there are any; first it compares the
# numbers of the pages with the archived claims and the records
docs: $(DOCS)/.ready $(READY)
	@$(VENV)/bin/python tools/findings.py
	@NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build && echo "site/index.html"

# The configuration's JSON schema, for editors
schema: $(READY)
	@$(VENV)/bin/python scripts/schema.py > config/schema.json && echo "config/schema.json"

# envs/requirements.lock and envs/tests.lock, with hashes for every platform, from requirements.in and tests.in; what stands
# in the locks stays where it fits (UPGRADE=--upgrade takes the newest)
COMPILE := .venv-lock/bin/uv pip compile -q --universal --generate-hashes --no-annotate --python-version 3.11 \
  --custom-compile-command "make lock" --excludes envs/torch.txt $(UPGRADE)
lock:
	@$(PYTHON) -m venv .venv-lock && .venv-lock/bin/pip install -q uv
	@$(COMPILE) envs/requirements.in -o envs/requirements.lock
	@$(COMPILE) envs/tests.in -c envs/requirements.lock -o envs/tests.lock
	@rm -rf .venv-lock

unlock: $(READY)
	@$(SNAKEMAKE) --unlock

clean:
	rm -rf results .snakemake site

help:
	@echo "make         set up, run the small configuration to figures in results/figures/"
	@echo "make first   set up, draw one figure of each paper at the small scale (a minute)"
	@echo "make report  the same, and everything on one page: results/report.html"
	@echo "make papers  set up, draw and check the papers' scale from archived datasets: results/paper/"
	@echo "make fashion the same of Fashion-MNIST: results/fashion/"
	@echo "make papers-check  set up, train a random sample of the archived runs again and compare them with the archive"
	@echo "make replay RUNS=20 SEED=7  set up, train published runs again from the authors' seeds, print both risks"
	@echo "make test    set up, run the tests that take five minutes together"
	@echo "make test-all  run every test: with Slurm, other processors (a quarter of an hour)"
	@echo "make bench   time our solvers against the plain loops of the papers, as ratios"
	@echo "make bench-gpu  time a GPU against the CPU beside it, as ratios"
	@echo "make lint    ruff, mypy, snakefmt, snakemake --lint"
	@echo "make docs    docs/, the library's reference and the figures of results/ as a site: site/index.html"
	@echo "make schema  write config/schema.json, by which an editor checks a configuration"
	@echo "make lock    resolve envs/requirements.in into envs/requirements.lock, and tests.in into tests.lock, with hashes"
	@echo "make unlock  clear the lock that a killed run has left"
	@echo "make clean   remove results/, site/ and Snakemake's metadata"
	@echo "CORES=8 make uses eight cores; PYTHON=python3.12 names the interpreter of a new .venv"

$(READY): envs/requirements.lock envs/torch.txt
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("carryover: Python 3.11 or later is needed; name one with PYTHON=...")'
	@echo "Setting up $(VENV) from envs/requirements.lock (once, a few minutes)"
	@$(PIP) --version >/dev/null 2>&1 || $(PYTHON) -m venv $(VENV)
	@$(INSTALL) --require-hashes -r envs/requirements.lock && $(INSTALL) -r envs/torch.txt || { $(OLD_PIP); }
	@touch $@

$(READY_TO_TEST): $(READY) envs/tests.lock
	@echo "Adding to $(VENV) what tests and style checks need, from envs/tests.lock (once)"
	@$(INSTALL) --require-hashes -r envs/tests.lock || { $(OLD_PIP); }
	@touch $@

UNLOCKED = if [ -n "$$(ls -A .snakemake/locks 2>/dev/null)" ]; then \
  echo "carryover: .snakemake/locks is held by another run, or by one that was killed; if none is running, clear it with: make unlock"; exit 1; fi

OLD_PIP = echo "carryover: $$($(PIP) --version | cut -d' ' -f1,2) could not install all of these; should it be an old one, try after: $(PIP) install --upgrade pip" >&2; exit 1

$(DOCS)/.ready: envs/docs.txt
	@test -x $(DOCS)/bin/python || $(PYTHON) -m venv $(DOCS)
	@$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check -r envs/docs.txt
	@touch $@
