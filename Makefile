# SPDX-License-Identifier: Apache-2.0
# Shortcuts for the usual commands; CMake does the work (CMakePresets.json).
#   make        build build/forebay          make demo   set up, build, show it
#   make test   set up, build, test          make lint   format, findings
#   make test-long  the tests of real processes with the protocol's real timers
#   make test-python  the Python package with PyTorch and others from PyPI
#   make test-mutants  plant N= faults in FILES=, list those no test notices
#   make bench  build, measure this machine (docs/performance.md)
#   make bench-long  the benches that take minutes each
#   make bench-python  what the Python package adds; PYTHON=one with PyTorch
#   make gpu-kit     build/gpu-kit: tests and benches for a machine with a GPU
#   make test-gpu    its tests, then under compute-sanitizer; PYTHON=one with
#                    PyTorch for those of the Python package
#   make bench-gpu   measure this GPU, write a table to bench/results/
#   make wheel  the Python package as dist/*.whl, for other machines too
#   make package     a .deb and a .tar.gz in dist/ (docs/operations.md)
#   make image       an image of the program, from the .deb
#   make test-deploy  packages, image and units, installed and run
#   make install     program, library and manual into PREFIX (docs/library.md)
MAKEFLAGS += --no-print-directory
DATA ?=
PREFIX ?= /usr/local
FILES ?=
N ?= 100
SEED ?= 1
PYTHON ?= /usr/bin/python3
FBY_CUDA = auto
demo bench bench-python: export DATA := $(DATA)

.PHONY: build configure setup demo test test-long test-mutants test-python \
    test-gpu test-deploy lint bench bench-long bench-python bench-gpu gpu-kit \
    image install package wheel clean

# Kernels take minutes to compile and the demo needs none, so it configures
# without CUDA (build/no-cuda); a build then configures again.
build:
	@$(MAKE) configure
	@[ ! -f build/no-cuda ] || { \
	    cmake build -DFBY_CUDA=$(FBY_CUDA) >/dev/null && rm build/no-cuda; }
	@cmake --build build

configure:
	@command -v cmake >/dev/null && command -v ninja >/dev/null || { \
	    echo "make: cmake and ninja are needed; 'make setup' installs" \
	         "what Forebay needs" >&2; exit 1; }
	@[ -f build/build.ninja ] || { \
	    echo "Configuring build/"; \
	    cmake --preset release -DFBY_CUDA=$(FBY_CUDA) >/dev/null; } || { \
	    echo "make: is a package missing? 'make setup' installs what Forebay" \
	         "needs" >&2; exit 1; }

setup:
	@tools/install-packages build

demo:
	@[ -z "$$DATA" ] || [ -d "$$DATA" ] || { \
	    echo "make demo: DATA=$$DATA: there is no such folder; name one that" \
	         "has a folder of images for each class, or tar shards" >&2; \
	    exit 1; }
	@tools/install-packages build
	@[ -f build/build.ninja ] || { mkdir -p build && touch build/no-cuda; }
	@$(MAKE) configure FBY_CUDA=off
	@cmake --build build --target forebay
	@tools/demo "$$DATA"

test:
	@tools/install-packages test
	@$(MAKE) build
	@ctest --test-dir build --output-on-failure -j 4

test-long:
	@tools/install-packages test
	@$(MAKE) build
	@FOREBAY_TEST_LONG=1 ctest --test-dir build --output-on-failure -L system

test-mutants:
	@tools/install-packages lint
	@tools/mutants -n "$(N)" --seed "$(SEED)" $(FILES)

test-python: build
	@tools/install-packages lint
	@tools/test-python

lint:
	@tools/install-packages lint
	@tools/lint

bench: build
	@[ -z "$$DATA" ] || [ -d "$$DATA" ] || { \
	    echo "make bench: DATA=$$DATA: there is no such folder; name one of" \
	         "photographs" >&2; exit 1; }
	@bench/run build "$$DATA"

bench-long: build
	@build/bench/pauses
	@build/bench/pauses --window 2
	@build/bench/frozen
	@build/bench/server_scale

bench-python: build
	@[ -z "$$DATA" ] || [ -d "$$DATA" ] || { \
	    echo "make bench-python: DATA=$$DATA: there is no such folder; name" \
	         "one of photographs" >&2; exit 1; }
	@PYTHONPATH=build/python $(PYTHON) bench/python.py \
	    $${DATA:+--data "$$DATA"}

gpu-kit: build
	@[ -x build/bench/gpu ] || { \
	    echo "make: this build has no CUDA device: cmake says why" >&2; \
	    exit 1; }
	@tools/install-packages kit
	@tools/gpu-kit build build/gpu-kit

test-gpu bench-gpu: export FOREBAY_TORCH_PYTHON ?= $(PYTHON)
test-gpu: gpu-kit
	@build/gpu-kit/run --full --part 1 --part 2 --part 3 --part 4 || \
	    [ $$? -eq 77 ]

bench-gpu: gpu-kit
	@build/gpu-kit/run --full --part 5 --results bench/results || \
	    [ $$? -eq 77 ]

install: build
	@cmake --install build --prefix "$(PREFIX)"

package: build
	@tools/install-packages package
	@cd build && cpack >cpack.log || { cat cpack.log >&2; exit 1; }
	@rm -rf dist/_CPack_Packages
	@ls dist/forebay*.deb dist/forebay*.tar.gz

image: package
	@tools/image

test-deploy: package
	@tools/install-packages deploy
	@[ ! -x build/bench/gpu ] || tools/gpu-kit build build/gpu-kit
	@tools/test-deploy

wheel:
	@tools/install-packages wheel
	@FBY_CUDA=$(FBY_CUDA) tools/wheel

clean:
	rm -rf build build-* dist
