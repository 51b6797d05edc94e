#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# @default is silent where all is well: a clone, a build, an archive, a start of Python; a server, manuals, packages.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	for program in git gcc make tar python3; do
		command -v "$program" >/dev/null || skip "needs $program"
	done
	cd "$BATS_TEST_TMPDIR"
	mkdir source
	for name in one two three; do
		printf '#include <stdio.h>\n#include <stdlib.h>\nint %s(int n)\n{\n\treturn printf("%%d", n);\n}\n' "$name" >"source/$name.c"
	done
	printf 'all: one.o two.o three.o\n%%.o: %%.c\n\tgcc -O1 -c $<\n' >source/Makefile
	git -C source init -q
	git -C source add .
	git -C source -c user.name=a -c user.email=a@b commit -qm first
	cat >ordinary.sh <<-'END'
		git clone -q source copy &&
		make -s -C copy &&
		tar cf copy.tar copy && mkdir again && tar xf copy.tar -C again &&
		python3 -c 'import json, email, http.client; print(json.dumps({}))'
	END
}

@test "@default says nothing of a clone, a build, an archive and Python" {
	run --separate-stderr -0 "$ASTERISM" run -f json @default -- sh ordinary.sh
	[ "${lines[0]}" = "{}" ] || { echo "$output" "$stderr"; false; }
	[ "${#lines[@]}" = 2 ]
	[[ "${lines[1]}" =~ '"stats":{"events":'[0-9]{4,} ]]
}

@test "@default says nothing of a server, manuals and what packages are there" {
	cat >others.sh <<-'END'
		if command -v redis-server >/dev/null; then
			redis-server --port 0 --unixsocket "$PWD/redis" --dir "$PWD" --appendonly yes >log &
			while ! redis-cli -s "$PWD/redis" ping; do sleep 0.1; done 2>&1
			redis-benchmark -s "$PWD/redis" -q -n 2000 -c 2 -t set,get
			redis-cli -s "$PWD/redis" shutdown
			wait
		fi
		if command -v man; then man -P cat man | head -3; fi
		if command -v gpgconf; then gpgconf --list-dirs; fi
		if command -v apt-cache; then apt-cache policy; fi
		exit 0
	END
	run --separate-stderr -0 "$ASTERISM" run -f json @default -- sh others.sh
	[[ "$output" != *'"match"'* ]] || { grep -a '"match"' <<<"$output"; false; }
}
