#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The project's own tools must be able to fail.

bats_require_minimum_version 1.5.0

setup() {
	root=$BATS_TEST_DIRNAME/../..
	cd "$BATS_TEST_TMPDIR"
}

# A small tree that lint has nothing to say about.
make_tree() {
	mkdir -p tree/src/base tree/src/lang tree/include/asterism tree/tools
	cd tree
	cp "$root"/tools/lint "$root"/tools/*.py "$root"/tools/cppcheck.txt tools/
	cp "$root"/.clang-format .
	printf 'base:\nlang: base\n' >src/LAYERS
	printf '/* SPDX-License-Identifier: BSD-2-Clause */\n#ifndef BASE_A_H\n#define BASE_A_H\n\nint base_a(int a);\n\n#endif\n' >src/base/a.h
	printf '// SPDX-License-Identifier: BSD-2-Clause\n#include "base/a.h"\n\nint base_a(int a)\n{\n\treturn a + 1;\n}\n' >src/base/a.c
	git init -q .
}

# Adds to a file of the tree what the arguments print, expects one failure that says what.
expect_complaint() {
	local file=$1 what=$2
	shift 2
	"$@" >"$file"
	run tools/lint
	[ "$status" = 1 ]
	[[ $output == *"$what"* ]] || { echo "$output"; false; }
}

@test "lint: a good tree passes" {
	make_tree
	run -0 tools/lint
	[[ ${lines[-1]} =~ ^[0-9]+\ passed,\ 0\ failed ]]
}

@test "lint: a forbidden include, a private header, an unknown layer, a cycle" {
	make_tree
	expect_complaint src/base/b.c "base may not include lang" \
		printf '// SPDX-License-Identifier: BSD-2-Clause\n#include "lang/x.h"\n'
	expect_complaint src/lang/b.c "is private to base" \
		printf '// SPDX-License-Identifier: BSD-2-Clause\n#include "base/x-priv.h"\n'
	expect_complaint src/lang/b.c 'write "layer/file.h"' printf '// SPDX-License-Identifier: BSD-2-Clause\n#include "x.h"\n'
	mkdir src/other
	expect_complaint src/other/b.c "folder other is not a layer" printf '// SPDX-License-Identifier: BSD-2-Clause\nint other_b;\n'
	expect_complaint src/LAYERS "a cycle: base -> lang -> base" printf 'base: lang\nlang: base\n'
}

@test "lint: long files and functions, many parameters, bad names, no licence" {
	make_tree
	long() {
		printf '// SPDX-License-Identifier: BSD-2-Clause\nvoid f(void)\n{\n'
		for i in $(seq 61); do printf '\tf();\n'; done
		printf '}\n'
	}
	expect_complaint src/base/b.c "f has 64 lines" long
	expect_complaint src/base/b.c "f has 6 parameters" \
		printf '// SPDX-License-Identifier: BSD-2-Clause\nvoid f(int a, int b, int c, int d, int e, int g);\n'
	huge() {
		printf '// SPDX-License-Identifier: BSD-2-Clause\n'
		for i in $(seq 601); do echo "// $i"; done
	}
	expect_complaint src/base/b.c "602 lines (limit 600)" huge
	expect_complaint src/base/b.c "no SPDX line" printf 'int base_b;\n'
	rm src/base/b.c
	expect_complaint src/base/string-utils.c "named after the one thing" printf '// SPDX-License-Identifier: BSD-2-Clause\nint s;\n'
}

@test "lint: a header that needs another, a public one that is no C99" {
	make_tree
	expect_complaint src/base/b.h "does not compile alone" printf '/* SPDX-License-Identifier: BSD-2-Clause */\nsize_t base_b(void);\n'
	rm src/base/b.h
	expect_complaint include/asterism/b.h "does not compile as clean C99" \
		printf '/* SPDX-License-Identifier: BSD-2-Clause */\n_Static_assert(1, "");\n'
}

@test "lint: two types of one name, a paragraph that stands twice, a file that is not there" {
	make_tree
	expect_complaint src/base/b.h "base_thing is a type of" \
		printf '/* SPDX-License-Identifier: BSD-2-Clause */\nstruct base_thing {\n\tint a;\n};\nenum base_thing {\n\tB\n};\n'
	rm src/base/b.h
	expect_complaint page.md "page.md:1: stands in page.md:3, too" printf '%0150d\n\n%0150d\n' 0 0
	expect_complaint page.md "page.md: names src/base/c.h, which is not there" echo "See src/base/c.h and src/base/a.h."
}

@test "lint: formatting" {
	make_tree
	command -v clang-format >/dev/null || skip "clang-format is not installed"
	expect_complaint src/base/b.c "not as clang-format wants it" printf '// SPDX-License-Identifier: BSD-2-Clause\nint  base_b ;\n'
}

# Programs that stand in for dpkg-query and apt-get.
fake() {
	mkdir -p bin
	printf '#!/bin/sh\n%s\n' "$2" >bin/$1
	chmod +x bin/$1
}

@test "deps: nothing missing, nothing done" {
	fake dpkg-query 'shift 3; for p; do echo "installed $p"; done'
	fake apt-get 'echo called >>apt.log'
	PATH=$PWD/bin:$PATH run -0 "$root/tools/deps"
	[ -z "$output" ]
	[ ! -e "$root/apt.log" ] && [ ! -e apt.log ]
}

@test "deps: what is missing is installed, once the lists are there" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	fake dpkg-query 'shift 3; for p; do case $p in meson) ;; *) echo "installed $p" ;; esac; done; exit 1'
	fake apt-get 'echo "$*" >>"$APT_LOG"; case $1 in update) touch "$APT_LOG.lists" ;; *) [ -e "$APT_LOG.lists" ] ;; esac'
	export APT_LOG=$PWD/apt.log
	PATH=$PWD/bin:$PATH run -0 "$root/tools/deps" build
	[ "$output" = "deps: installing meson" ]
	[ "$(cut -d' ' -f1 apt.log | tr '\n' ' ')" = "install update install " ]
	grep -q 'install .* meson$' apt.log
	# A package of another target is none of this one's.
	fake dpkg-query 'shift 3; for p; do case $p in bpftrace) ;; *) echo "installed $p" ;; esac; done; exit 1'
	PATH=$PWD/bin:$PATH run -0 "$root/tools/deps" build
	[ -z "$output" ]
}

@test "deps: packages that cannot be had, a system that is not Debian: clear words, status 1" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	fake dpkg-query 'exit 1'
	fake apt-get 'exit 100'
	PATH=$PWD/bin:$PATH run -1 "$root/tools/deps" lint
	[[ $output == *"the package lists could not be fetched"* ]]
	mkdir none
	for tool in sh sed id dirname grep; do ln -s "$(command -v $tool)" none/; done
	PATH=$PWD/none run -1 "$root/tools/deps" lint
	[[ $output == *"not a Debian system; install what stands for these packages: git g++ clang-format cppcheck" ]]
}

@test "golden: a difference is a failure that shows it" {
	mkdir -p golden/area/case
	cp "$root/tests/golden/run" golden/run
	echo 'echo got; echo "{\"seconds\":1.5}"; exit 3' >golden/area/case/cmd
	run -1 golden/run
	[[ $output == *"not ok 1 - area/case"*"+got"* ]]
	run -0 golden/run --bless
	[ "$(cat golden/area/case/status)" = 3 ]
	[ "$(tail -n 1 golden/area/case/stdout)" = '{"seconds":0}' ]
	run -0 golden/run
	[ "${lines[1]}" = "ok 1 - area/case" ]
}
