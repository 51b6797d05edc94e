#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Counters of this machine: what a command is counted for, and what is not permitted.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	unset ASTERISM_COUNTERS
	cd "$BATS_TEST_TMPDIR"
}

value_of() {
	jq -r ".values[] | select(.name == \"$1\") | .value"
}

@test "each type is available, approximate, or not here for a reason" {
	"$ASTERISM" counters --probe -f json >probe
	[ "$(jq '.counters | length' probe)" -ge 186 ]
	[ "$(jq '[.counters[] | select(.state == "not here" and .reason == null)] | length' probe)" = 0 ]
	[ "$(jq '[.counters[] | select(.state != "not here" and .source == null and .formula == null)] | length' probe)" = 0 ]
	[ "$(jq -r '.counters[] | select(.name == "PROCESSOR_INTERRUPTS") | .state' probe)" = available ]
}

@test "a command is counted with what it begins, and its status is ours" {
	run --separate-stderr -7 "$ASTERISM" counters read PROCESS_THREAD_PAGE_FAULTS -f json -- \
		sh -c 'exit 7'
	few=$(value_of PROCESS_THREAD_PAGE_FAULTS <<<"$output")
	run --separate-stderr -0 "$ASTERISM" counters read PROCESS_THREAD_PAGE_FAULTS -f json -- \
		sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do /bin/true; done'
	many=$(value_of PROCESS_THREAD_PAGE_FAULTS <<<"$output")
	[ "${few%.*}" -gt 0 ]
	[ "${many%.*}" -gt $((5 * ${few%.*})) ]
}

@test "system calls of a command are all counted, from its first instruction" {
	[ "$(id -u)" = 0 ] || skip "needs root: tracepoints"
	run --separate-stderr -0 "$ASTERISM" counters read PROCESSOR_SYSTEM_CALLS -f json -- \
		dd if=/dev/zero of=/dev/null bs=1 count=5000 status=none
	calls=$(value_of PROCESSOR_SYSTEM_CALLS <<<"$output")
	[ "${calls%.*}" -ge 10000 ]
	[ "${calls%.*}" -lt 10500 ]
}

@test "values of the machine, as often as asked for" {
	run --separate-stderr -0 "$ASTERISM" counters read PAGED_PAGE_FAULTS PROCESSOR_PROCESSOR_TIME --interval 50ms -n 3 -f json
	[ "${#lines[@]}" = 3 ]
	[ "$(jq -s '[.[].values | length] | add' <<<"$output")" = 6 ]
}

@test "a file that knows no commands says so" {
	run --separate-stderr -0 "$ASTERISM" counters read PAGED_PAGE_FAULTS -- true
	[[ $stderr == *"PAGED_PAGE_FAULTS is of the whole machine: its source does not know commands"* ]]
}

@test "what is not permitted of the machine is permitted of a command" {
	[ "$(id -u)" = 0 ] || skip "needs root, to become another user"
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" = 2 ] || skip "kernel.perf_event_paranoid is not 2"
	install -m 755 "$ASTERISM" asterism
	chmod 755 . && as=(setpriv --reuid 65534 --regid 65534 --clear-groups ./asterism)
	"${as[@]}" --version || skip "other users cannot come here"
	run --separate-stderr -4 "${as[@]}" counters read MEMORY_UNALIGNED_MEM_REFS
	[[ $stderr == *"permission denied: cannot count MEMORY_UNALIGNED_MEM_REFS for the whole machine"* ]]
	run --separate-stderr -0 "${as[@]}" counters read MEMORY_UNALIGNED_MEM_REFS -- true
	[[ $output == *MEMORY_UNALIGNED_MEM_REFS* ]]
}

@test "a command that is ended is read nonetheless, and its status is ours" {
	mkfifo begun
	"$ASTERISM" counters read PROCESS_THREAD_PAGE_FAULTS -f json -- sh -c 'echo >begun; exec sleep 60' >read &
	pid=$!
	read -r _ <begun
	kill "$pid"
	status=0
	wait "$pid" || status=$?
	[ "$status" = 143 ]
	[ "$(value_of PROCESS_THREAD_PAGE_FAULTS <read)" != null ]
	[ -s read ]
}
