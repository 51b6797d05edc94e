#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What live sessions write is for its owner, and takes the place of nobody else's. Needs root.

bats_require_minimum_version 1.5.0
load ../rig/recording

setup() {
	recording_setup
	echo 'RULE every PATTERN { sys_enter_getpgid:a } RETURN { a.target_pid AS p }' >every.rule
}

# `modes PATH`: of it and all in it, those of folders first.
modes() {
	find "$1" -type d -printf '%m\n' -o -printf '%m\n' | sort -nru | xargs
}

flood() {
	"$ASTERISM" "$@" -- "$plant" flood 3
}

@test "files, traces and snapshots are for their owner alone" {
	umask 0
	flood run -q -o out every.rule
	[ "$(modes out)" = 600 ]
	flood record -q -o trace -e sys_enter_getpgid
	[ "$(modes trace)" = "700 600" ]
	flood record -q -o small --max-size 1M -e sys_enter_getpgid
	[ "$(modes small)" = "700 600" ]
	flood record -q -o box --flight -e sys_enter_getpgid
	[ "$(modes box)" = "700 600" ]
	[ -f box/end-1/metadata ]
	flood run -q --snapshot shots -e sys_enter_getpgid every.rule
	[ "$(modes shots)" = "700 600" ]
	[ -f shots/every-1/metadata ]
}

@test "--mode: for whom else, whatever the umask" {
	umask 077
	flood run -q -o out --mode 644 --snapshot shots -e sys_enter_getpgid every.rule
	[ "$(modes out)" = 644 ]
	[ "$(modes shots)" = "755 644" ]
	flood record -q -o trace --mode 640 -e sys_enter_getpgid
	[ "$(modes trace)" = "750 640" ]
	setpriv --reuid=65534 --regid=0 --clear-groups cat trace/metadata >/dev/null
	run -1 setpriv --reuid=65534 --regid=65534 --clear-groups cat trace/metadata
}

@test "a folder that is there must be our own, and none behind a link" {
	mkdir -m 777 taken
	flood record -q -o taken -e sys_enter_getpgid
	[ "$(modes taken)" = "700 600" ]
	mkdir -m 777 theirs target
	chown nobody theirs
	ln -s target link
	for command in "record -o" "record --flight -o" "run every.rule --snapshot"; do
		run --separate-stderr -2 "$ASTERISM" $command theirs -- touch ran
		[ "$stderr" = "theirs: error: cannot create the directory: it belongs to another user" ]
		for name in link link/ link//; do
			run --separate-stderr -2 "$ASTERISM" $command $name -- touch ran
			[ "$stderr" = "$name: error: cannot create the directory: it is a symbolic link, and links are not followed: name its target" ]
		done
	done
	[ ! -e ran ]
	[ -z "$(find theirs target -mindepth 1)" ]
	[ "$(stat -c '%a %U' theirs)" = "777 nobody" ]
}

@test "run: a link or others' file is not written to" {
	echo mine >target
	ln -s target link
	run --separate-stderr -2 "$ASTERISM" run -o link every.rule -- touch ran
	[ "$stderr" = "asterism: error: cannot write link: it is a symbolic link, and links are not followed: name its target" ]
	chown nobody target
	run --separate-stderr -2 "$ASTERISM" run -o target every.rule -- touch ran
	[ "$stderr" = "asterism: error: cannot write target: it belongs to another user and will not be overwritten" ]
	[ "$(cat target)" = mine ]
	[ ! -e ran ]
}
