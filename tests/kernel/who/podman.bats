#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# A container that Podman made, of nothing but busybox: it is named, and it can be all that is observed. Needs root.

bats_require_minimum_version 1.5.0
load ../../wait

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	type -P podman runc busybox >/dev/null || skip "podman, runc or busybox is not installed"
	cd "$BATS_TEST_TMPDIR"
	session= container=
	left=$(find /sys/fs/cgroup -maxdepth 2 -name libpod_parent) # Podman leaves its cgroup where it was
	# No image is fetched: a file system of busybox alone.
	mkdir -p root/bin root/proc root/etc root/tmp
	cp "$(readlink -f "$(type -P busybox)")" root/bin/busybox
	for name in sh cat sleep; do ln -s busybox root/bin/$name; done
	echo inside >root/etc/marker-text
	id=$(of_podman run --detach --name asterism-test-$$ --network=none --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 --rootfs "$PWD/root" \
		sh -c 'until [ -e /tmp/go ]; do sleep 0.1; done; read line </etc/marker-text; cat /etc/marker-text >/tmp/done; sleep 1000' 2>said) ||
		skip "podman makes no container here: $(tail -n 1 said)"
	container=${id##*$'\n'}
	echo 'RULE opened PATTERN { sys_enter_openat:o } WHERE { o.filename LIKE "*/etc/marker-*" } RETURN { o.filename AS file }' >opened.rule
}

teardown() {
	[ -z "$session" ] || kill -KILL "$session" 2>/dev/null || true
	[ -z "$container" ] || of_podman rm --force --time 0 "$container" >/dev/null 2>&1 || true
	[ -n "${left-none}" ] || find /sys/fs/cgroup -depth -mindepth 2 -type d -path '*/libpod_parent*' -exec rmdir {} + 2>/dev/null || true
}

of_podman() {
	podman --runtime runc --cgroup-manager=cgroupfs "$@"
}

# `observe ARGUMENTS...`: what a session with them writes to out while the container opens its file, and so do we.
observe() {
	"$ASTERISM" run -v "$@" opened.rule >out 2>said 3>&- &
	session=$!
	wait_for grep -q observing said
	cat "$PWD/root/etc/marker-text" >/dev/null
	: >root/tmp/go
	wait_for [ -s root/tmp/done ]
	wait_for grep -q 'cat.*marker' out
	kill -INT "$session"
	wait "$session" || true
	session=
}

@test "--container with the id of a container observes it, and nothing beside it" {
	observe -f json --container "${container:0:12}"
	[ "$(grep -c '"match"' out)" = 2 ]
	[ "$(grep -c '"comm":"sh".*"file":"/etc/marker-text"' out)" = 1 ]
	[ "$(grep -c '"comm":"cat".*"file":"/etc/marker-text"' out)" = 1 ]
}

@test "--container with its name observes it; of one that has ended, that it does not run" {
	observe -f json --container "podman:asterism-test-$$"
	[ "$(grep -c '"match"' out)" = 2 ]
	of_podman stop --time 0 "$container" >/dev/null
	run --separate-stderr -2 "$ASTERISM" run --container "asterism-test-$$" opened.rule
	[[ $stderr == *"the container 'asterism-test-$$' (${container:0:12}) is not running"* ]]
	run --separate-stderr -2 "$ASTERISM" run --container "docker:asterism-test-$$" opened.rule
	[[ $stderr == *"there is no container 'docker:asterism-test-$$'"* ]]
}

@test "text says in which container a process is" {
	observe --container "podman:${container:0:12}"
	grep -q "  opened  *sh\[[0-9]*\] podman:${container:0:12}  *cpu .*file=\"/etc/marker-text\"" out
}

@test "the field of an event says what text says of its process" {
	echo 'RULE opened PATTERN { sys_enter_openat:o } WHERE { o.filename LIKE "*/etc/marker-*" } RETURN { o.filename AS file, o.container AS place }' >opened.rule
	observe --container "podman:${container:0:12}"
	grep -q "  opened  *sh\[[0-9]*\] podman:${container:0:12}  *cpu .*place=\"podman:${container:0:12}\"" out
}

@test "JSON says in which container a process is" {
	observe -f json --container "podman:${container:0:12}"
	grep -q '"comm":"sh".*"tainted":false,"container":"podman:'"${container:0:12}"'","time"' out
}

@test "asterismd takes the name, as well, and its matches say the container" {
	asterismd=$(cd "$(dirname "$ASTERISM")/../.." && pwd)/src/cmd/asterismd
	mkdir rules
	cp opened.rule rules
	run -2 "$asterismd" --rules rules --socket ctl.sock --container "docker:asterism-test-$$"
	[[ $output == *"there is no container 'docker:asterism-test-$$'"* ]]
	"$asterismd" --rules rules --socket ctl.sock --output out --container "asterism-test-$$" 2>said 3>&- &
	session=$!
	wait_for grep -q observing said
	cat "$PWD/root/etc/marker-text" >/dev/null
	: >root/tmp/go
	wait_for grep -q '"comm":"cat"' out
	[ "$(grep -c '"match"' out)" = 2 ]
	grep -q '^{"unit":"opened[.a-z]*","match":"opened",.*"comm":"sh".*"container":"podman:'"${container:0:12}"'","time"' out
	kill "$session"
	wait "$session"
	session=
}
