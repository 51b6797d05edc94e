#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The part of @lock-order that knows which locks a thread holds, by itself. Needs root.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
	{
		echo 'EVENTS "pthread.events"'
		sed -n '/^EVENT lock_nested/p; /^MACHINE held_locks/,/^ON sched_process_exit/p' "$BATS_TEST_DIRNAME/../../../rules/lock-order/lock-order.rule"
		echo 'RULE nothing PATTERN { lock_nested:e } WHERE { e.outer == 0 OR e.inner == 0 } RETURN { e.inner }'
		echo 'RULE nested PATTERN { lock_nested:e } RETURN { e.inner }'
	} >held.rule
}

@test "who held more locks than are known holds none when all are given back, in either order" {
	run --separate-stderr -0 "$ASTERISM" run -f json held.rule -- python3 -c '
import ctypes
library = ctypes.CDLL("libc.so.6")
locks = [ctypes.create_string_buffer(64) for _ in range(6)]
for given in list(reversed(locks)), locks, list(reversed(locks)), locks:
	for lock in locks:
		library.pthread_mutex_lock(lock)
	for lock in given:
		library.pthread_mutex_unlock(lock)'
	# The first five are taken with 0, 1, 2, 3, 4 known, the sixth with 4, four times; Python has locks of its own.
	[[ ${lines[-1]} =~ '"nothing":{"matches":0,'.*'"nested":{"matches":'([0-9]+) ]]
	[ "${BASH_REMATCH[1]}" -ge 56 ]
}
