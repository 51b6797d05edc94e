# SPDX-License-Identifier: BSD-2-Clause
# Thin targets over Meson. Everything works from a fresh clone on a bare Debian 12 with make and apt: what is missing is
# installed first (tools/packages.txt).

BUILD ?= build
# One compiled file serves all clones, where ccache is there.
export CCACHE_BASEDIR ?= $(CURDIR)
# What a file includes the compiler writes down: a file that is not there yet is read once, not twice.
export CCACHE_DEPEND ?= 1
ASAN_BUILD ?= $(BUILD)-asan
TSAN_BUILD ?= $(BUILD)-tsan
RELEASE_BUILD ?= $(BUILD)-release
DEB_BUILD ?= $(BUILD)-deb
STATIC_BUILD ?= $(BUILD)-static
# Half the time to compile that -O1 takes, and no more to run; what may be uninitialised is seen less well there. What the
# sanitizer of undefined behaviour finds ends the program: a test fails by it, and there is a sixth less to compile.
SANITISED = -Doptimization=g -Dc_args='-g1 -Wno-maybe-uninitialized -fno-sanitize-recover=all'
PREFIX ?= /usr/local
DESTDIR ?=

.DEFAULT_GOAL := all
.PHONY: help deps all with-tests demo check check-fast check-long check-browser check-viewers check-release check-sensors check-guest check-guest-smoke check-library check-deb check-static deb static bench bench-quick bench-profile lint install uninstall bless format clean

help:
	@echo 'make            build (installs missing packages); make with-tests: the programs of the tests and benchmarks, too'
	@echo 'make demo       build, then find a constellation in this kernel and in recorded events'
	@echo 'make check      build, then run all tests'
	@echo 'make check-fast build, then run what a change of one file is tried with first: unit tests, golden tests, a live smoke test'
	@echo 'make check-long run what is slow by nature: large numbers, whole libraries (SHARE=1/3: a third of it; root)'
	@echo 'make check-guest  run the live tests in Debian kernels under qemu, too (SHARE=1/3: a third of them, for three machines);'
	@echo '                check-guest-smoke: three minutes of it'
	@echo 'make check-library  every live test of a shipped rule over recordings, of which make check takes some (root)'
	@echo 'make check-sensors  the proofs of sensors with large numbers: 10^8 events, 200 kills, all orders of two borrowers (minutes)'
	@echo 'make check-browser  open pages of reports in chromium (make deps-browser installs it)'
	@echo 'make check-viewers  open a completed profile in KCachegrind (installs it, 120 packages)'
	@echo 'make check-release  does it compile with -Dbuildtype=release'
	@echo 'make lint       formatting, layers, sizes, headers, cppcheck'
	@echo 'make bench      benchmarks against bpftrace and hand-written programs (root)'
	@echo 'make bench-quick  a figure for each of their rows, in three minutes (root)'
	@echo 'make bench-profile  completed profiles of real programs against true stacks (fetches their sources)'
	@echo 'make install    install under PREFIX=$(PREFIX); make uninstall: remove what the last installation of this build has put there'
	@echo 'make deb        build Debian packages, in $(DEB_BUILD); make check-deb: install, try and purge them in a root of their own (root)'
	@echo 'make static     build one program without libraries, $(STATIC_BUILD)/asterism; make check-static: in an empty root (root)'
	@echo 'make bless      rewrite the expected outputs of the golden tests'
	@echo 'make format     let clang-format rewrite the sources'
	@echo 'make clean      remove the build folders'

deps:
	@tools/deps

deps-%:
	@tools/deps $(subst -, ,$*)

# What a user needs; the tests join it when somebody wants them.
$(BUILD)/build.ninja: | deps-build
	meson setup $(BUILD) --prefix=$(PREFIX) -Dtests=false

with-tests: deps-build-check $(BUILD)/build.ninja
	@test -d $(BUILD)/tests || meson configure $(BUILD) -Dtests=true
	@ninja -C $(BUILD)

$(ASAN_BUILD)/build.ninja: | deps-build-check
	meson setup $(ASAN_BUILD) -Db_sanitize=address,undefined -Db_lundef=false $(SANITISED)

$(TSAN_BUILD)/build.ninja: | deps-build-check
	meson setup $(TSAN_BUILD) -Db_sanitize=thread -Db_lundef=false $(SANITISED)

$(RELEASE_BUILD)/build.ninja: | deps-build-check
	meson setup $(RELEASE_BUILD) -Dbuildtype=release -Dtests=false

all: deps-build $(BUILD)/build.ninja
	@ninja -C $(BUILD)

demo: all
	@tools/demo $(BUILD)

# tools/check compiles the sanitised builds beside the suites that need nothing of them.
CHECK = tools/check --build $(BUILD) --asan-build $(ASAN_BUILD) --tsan-build $(TSAN_BUILD)

check: deps-build-check with-tests $(ASAN_BUILD)/build.ninja
	@$(CHECK)

check-fast: with-tests
	@$(CHECK) --fast

check-long: deps-build-check with-tests $(ASAN_BUILD)/build.ninja $(TSAN_BUILD)/build.ninja
	@$(CHECK) --long $(if $(SHARE),--share $(SHARE)) $(if $(BESIDE),--beside $(BESIDE))

# What only the compiler finds, and only when it looks closely.
check-release: $(RELEASE_BUILD)/build.ninja
	@ninja -C $(RELEASE_BUILD)
	@echo '1 passed, 0 failed, 0 skipped'

# Pictures and figures are left in the folder browser of the build.
check-browser: with-tests
	@python3 tests/browser/run $(BUILD)

check-viewers: deps-viewers all
	@python3 tests/viewers/run $(BUILD)

check-library: with-tests
	@ASTERISM_TEST_PROGRAMS=$(abspath $(BUILD))/tests/kernel ASTERISM_CATALOGS=$(CURDIR)/catalogs ASTERISM_RULES=$(CURDIR)/rules \
		python3 tests/kernel/library/library-recorded.py $(BUILD)/src/cmd/asterism rules docs

check-guest: deps-build-check-guest with-tests
	@tests/guest/run --build $(BUILD) $(if $(SHARE),--share $(SHARE))

check-guest-smoke: deps-build-check-guest with-tests
	@tests/guest/run --build $(BUILD) --smoke

# With small numbers they are in make check.
check-sensors: with-tests
	@SENSOR_APP=$(abspath $(BUILD))/tests/unit/sensor/sensor-app-patient $(BUILD)/tests/unit/sensor/test-sensor-proof large
	@$(BUILD)/tests/unit/sensor/test-sensor-lend-model large

bench: deps-build-bench with-tests
	@bench/run --build $(BUILD)

bench-quick: deps-build-bench with-tests
	@bench/run --build $(BUILD) --quick

bench-profile: deps-build-bench-profile with-tests
	@bench/run --build $(BUILD) --only profile-

lint: deps-build-lint
	@tools/lint

install: all
	@meson configure $(BUILD) --prefix=$(PREFIX)
	@ninja -C $(BUILD)
	DESTDIR=$(DESTDIR) meson install -C $(BUILD) --no-rebuild

uninstall:
	ninja -C $(BUILD) uninstall

# What is installed by them, and how they are taken away: debian/.
deb: deps-build-deb
	@tools/deb $(DEB_BUILD)

check-deb: deb
	@PACKAGES=$(abspath $(DEB_BUILD)) bats tests/packages/packages.bats

$(STATIC_BUILD)/build.ninja: | deps-build-static
	meson setup $(STATIC_BUILD) -Dbuildtype=release -Dprefer_static=true -Dtests=false -Dbabeltrace2=disabled -Dmicrohttpd=disabled

static: deps-build-static $(STATIC_BUILD)/build.ninja
	@ninja --quiet -C $(STATIC_BUILD) src/cmd/asterism
	@strip -o $(STATIC_BUILD)/asterism $(STATIC_BUILD)/src/cmd/asterism
	@ls -l $(STATIC_BUILD)/asterism

check-static: static
	@STATIC=$(abspath $(STATIC_BUILD))/asterism bats tests/packages/static.bats

bless: deps-build-check all
	@tests/golden/run --build $(BUILD) --bless

format: deps-lint
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	rm -rf $(BUILD) $(ASAN_BUILD) $(TSAN_BUILD) $(RELEASE_BUILD) $(DEB_BUILD) $(STATIC_BUILD)
