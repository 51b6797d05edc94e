#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# tests/guest/run where something is missing: it says what, and skips. Guests themselves are for make check-guest.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR"
	mkdir bin
	guest() { PATH=$PWD/bin run "$(command -v env)" -i PATH="$PWD/bin" /usr/bin/python3 "$BATS_TEST_DIRNAME/../guest/run" --build "$PWD" "$@"; }
}

@test "without qemu: skipped, with the reason" {
	guest --kernel 6.1
	[ "$status" = 0 ]
	[[ $output == *"skipped, kernel 6.1: qemu-system-x86_64 is not installed"* ]]
	[ "${lines[-1]}" = "0 passed, 0 failed, 1 skipped" ]
}

@test "without the package of the kernel: skipped, with the reason" {
	: >bin/qemu-system-x86_64
	chmod +x bin/qemu-system-x86_64
	guest --kernel 6.1-rt
	[ "$status" = 0 ]
	[[ $output == *"skipped, kernel 6.1-rt: the package lists do not have linux-image-rt-amd64"* ]]
	[ "${lines[-1]}" = "0 passed, 0 failed, 1 skipped" ]
	[ ! -e guest ]
}

@test "a command where it cannot be run: status 2" {
	guest --kernel 6.1 -- true
	[ "$status" = 2 ]
	[[ $output == *"qemu-system-x86_64 is not installed"* ]]
}

@test "a kernel that is no row" {
	guest --kernel 2.4
	[ "$status" = 2 ]
	[[ $output == *"choose from '6.1', '6.1-rt', 'running'"* ]]
}

@test "the sum, by suite and kernel; where nothing could pass, that is a failure" {
	as_nobody=()
	[ "$(id -u)" != 0 ] || as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	run -1 "${as_nobody[@]}" "$BATS_TEST_DIRNAME/../guest/run" --kernel running --only "library, loads"
	[[ $output == *"== kernel running"*"skipped library, loads: all: needs root"* ]]
	[[ $output == *"== passed/failed/skipped: running"*"library, loads: 0/0/1"* ]]
	[[ $output == *"did not come to its end: 0/1/0"* ]]
	[ "${lines[-1]}" = "0 passed, 1 failed, 1 skipped" ]
}
