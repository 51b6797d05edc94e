# SPDX-License-Identifier: BSD-2-Clause
# Thin targets over Meson. Everything works from a fresh clone on a bare Debian 12 with make and apt: what is missing is
# installed first (tools/packages.txt).

BUILD ?= build
ASAN_BUILD ?= $(BUILD)-asan
PREFIX ?= /usr/local
DESTDIR ?=

.DEFAULT_GOAL := all
.PHONY: help deps all demo check bench lint install uninstall bless format clean

help:
	@echo 'make            build (installs missing packages)'
	@echo 'make demo       build, then find a constellation in this kernel and in recorded events'
	@echo 'make check      build, then run all tests'
	@echo 'make lint       formatting, layers, sizes, headers, cppcheck'
	@echo 'make bench      benchmarks against bpftrace and hand-written programs (root)'
	@echo 'make install    install under PREFIX=$(PREFIX)'
	@echo 'make bless      rewrite the expected outputs of the golden tests'
	@echo 'make format     let clang-format rewrite the sources'
	@echo 'make clean      remove the build folders'

deps:
	@tools/deps

deps-%:
	@tools/deps $(subst -, ,$*)

$(BUILD)/build.ninja: | deps-build
	meson setup $(BUILD) --prefix=$(PREFIX)

$(ASAN_BUILD)/build.ninja: | deps-build-check
	meson setup $(ASAN_BUILD) -Db_sanitize=address,undefined -Db_lundef=false

all: deps-build $(BUILD)/build.ninja
	@ninja -C $(BUILD)

demo: all
	@tools/demo $(BUILD)

check: deps-build-check $(BUILD)/build.ninja $(ASAN_BUILD)/build.ninja
	@ninja -C $(BUILD)
	@ninja -C $(ASAN_BUILD)
	@tools/check --build $(BUILD) --asan-build $(ASAN_BUILD)

bench: deps-build-bench all
	@bench/run --build $(BUILD)

lint: deps-build-lint
	@tools/lint

install: all
	@meson configure $(BUILD) --prefix=$(PREFIX)
	@ninja -C $(BUILD)
	DESTDIR=$(DESTDIR) meson install -C $(BUILD) --no-rebuild

uninstall:
	ninja -C $(BUILD) uninstall

bless: deps-build-check all
	@tests/golden/run --build $(BUILD) --bless

format: deps-lint
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	rm -rf $(BUILD) $(ASAN_BUILD)
