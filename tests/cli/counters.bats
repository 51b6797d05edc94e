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

@test "the time of a command counts from before it runs: a short one has no rate of millions" {
	run --separate-stderr -0 "$ASTERISM" counters read PROCESS_THREAD_PAGE_FAULTS -f json -- true
	# A program takes some 300 us from exec to its end.
	[ "$(jq '.elapsed > 0.0001' <<<"$output")" = true ]
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
	[[ $stderr == *"PAGED_PAGE_FAULTS counts the whole machine: its source cannot count single commands"* ]]
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

# A PMU whose events are those that the kernel counts everywhere, in units of its own.
fake_pmu() {
	mkdir -p "pmus/$1/events" "pmus/$1/format"
	echo 1 >"pmus/$1/type"
	echo "config:0-7" >"pmus/$1/format/event"
	printf 'event=0x02' >"pmus/$1/events/faults"
	printf '0.5' >"pmus/$1/events/faults.scale"
	export ASTERISM_PMUS=$PWD/pmus
}

@test "events of a PMU are found by their names, by terms, and in its own unit" {
	fake_pmu box
	cat >own.counters <<-'END'
		CLASS OWN
		COUNTER FAULTS "page faults" KIND multi UNIT count
		  ON linux: perf software page-faults
		COUNTER HALVES "the same, in pairs" KIND multi UNIT pairs
		  ON linux: perf pmu:box:faults
		COUNTER TWICE "the same, twice" KIND multi UNIT count
		  ON linux: perf pmu:box:event=0x2 TIMES 2
		DERIVED SHARE = HALVES / TWICE
	END
	run --separate-stderr -0 "$ASTERISM" counters --catalog own.counters read FAULTS HALVES TWICE SHARE -f json -- \
		sh -c 'for i in 1 2 3 4 5 6 7 8 9; do /bin/true; done'
	faults=$(value_of FAULTS <<<"$output")
	[ "${faults%.*}" -gt 100 ]
	jq -e '[.values[].value] | (.[0] - .[1] * 2 | fabs) < 4 and (.[0] * 2 - .[2] | fabs) < 8 and .[3] == 0.25' <<<"$output"
}

@test "a file that waits for what is to come is refused, and not waited for" {
	mkfifo silent
	printf 'CLASS OWN\nCOUNTER SILENT "nothing comes" KIND gauge\n  ON linux: file "/proc/self/root%s" value\n' \
		"$PWD/silent" >own.counters
	run --separate-stderr -4 timeout 60 "$ASTERISM" counters --catalog own.counters read SILENT -n 1
	[[ $stderr == *"silent is not one number"* ]]
}

@test "a PMU that counts for the whole machine does so on its own processors" {
	[ "$(id -u)" = 0 ] || skip "needs root: the whole machine"
	fake_pmu all
	fake_pmu first
	cpu=$(($(nproc --all) - 1))
	[ "$cpu" -gt 0 ] || skip "needs two processors"
	echo 0 >pmus/first/cpumask
	fake_pmu last
	echo $cpu >pmus/last/cpumask
	cat >own.counters <<-'END'
		CLASS OWN
		COUNTER FIRST "faults" KIND multi
		  ON linux: perf pmu:first:faults
		COUNTER LAST "faults" KIND multi
		  ON linux: perf pmu:last:faults
		COUNTER OWN "faults" KIND multi
		  ON linux: perf software page-faults
		DERIVED BOTH = FIRST + LAST
	END
	run --separate-stderr -0 "$ASTERISM" counters --catalog own.counters read FIRST LAST BOTH OWN -f json -- \
		taskset -c "$cpu" sh -c 'for i in $(seq 200); do /bin/true; done'
	[[ $stderr == *"FIRST counts the whole machine"* ]]
	echo "$output $stderr"
	# The scale of LAST is a half. Nearly all that the command does is on that processor.
	jq -e '[.values[].value] | .[3] > 1000 and .[1] * 4 > .[3] and .[2] >= .[1]' <<<"$output"
}

@test "all PMUs of one name are added up, where they are of the machine and of one scale" {
	[ "$(id -u)" = 0 ] || skip "needs root: the whole machine"
	for i in 0 1 2; do
		fake_pmu "imc_$i"
		echo 0 >"pmus/imc_$i/cpumask"
	done
	fake_pmu own
	cat >own.counters <<-'END'
		CLASS OWN
		COUNTER ONE "faults" KIND multi
		  ON linux: perf pmu:imc_0:faults
		COUNTER ALL "faults" KIND multi
		  ON linux: perf pmu:imc_*:faults
		COUNTER OTHERS "faults" KIND multi
		  ON linux: perf pmu:o*:faults
		COUNTER NONE "faults" KIND multi
		  ON linux: perf pmu:none_*:faults
	END
	run --separate-stderr -0 "$ASTERISM" counters --catalog own.counters read ONE ALL -f json -- \
		taskset -c 0 sh -c 'for i in $(seq 50); do /bin/true; done'
	[[ $stderr == *"ALL counts the whole machine"* ]]
	echo "$output $stderr"
	# Three count the same, opened one after the other while others may fault as well.
	jq -e '[.values[].value] | .[0] > 100 and .[1] > .[0] * 2 and .[1] < .[0] * 4' <<<"$output"
	run --separate-stderr -4 "$ASTERISM" counters --catalog own.counters read OTHERS -- true
	[[ $stderr == *"PMU own has no cpumask: only PMUs of the machine can be added up"* ]]
	run --separate-stderr -4 "$ASTERISM" counters --catalog own.counters read NONE -- true
	[[ $stderr == *"this machine has no PMU none_*"* ]]
	echo 0.25 >pmus/imc_1/events/faults.scale
	run --separate-stderr -4 "$ASTERISM" counters --catalog own.counters read ALL -- true
	[[ $stderr == *"PMU imc_1 has another scale than imc_0"* ]]
	echo "config3:0-7" >pmus/imc_0/format/event
	run --separate-stderr "$ASTERISM" counters --catalog own.counters read ONE -- true
	[ "$status" = 0 ] || [[ $stderr == *"this kernel knows no config3"* || $stderr == *"does not support this way"* ]]
}

@test "what is odd about a PMU is said, and what this machine has not" {
	fake_pmu box
	fake_pmu odd
	echo "config:0-64" >pmus/odd/format/event
	cat >own.counters <<-'END'
		CLASS OWN
		COUNTER NO_PMU "x" KIND multi
		  ON linux: perf pmu:uncore_imc_0:cas_count_read
		COUNTER NO_EVENT "x" KIND multi
		  ON linux: perf pmu:box:writes
		COUNTER NO_FORMAT "x" KIND multi
		  ON linux: perf pmu:box:umask=1
		COUNTER TOO_LARGE "x" KIND multi
		  ON linux: perf pmu:box:event=256
		COUNTER ODD "x" KIND multi
		  ON linux: perf pmu:odd:faults
		COUNTER RAW "x" KIND multi
		  ON linux: perf raw:r1a8
	END
	"$ASTERISM" counters --catalog own.counters --probe >probe
	grep -E '^NO_PMU +not here +this machine has no PMU uncore_imc_0$' probe
	grep -E '^NO_EVENT +not here +PMU box has no event writes$' probe
	grep -E '^NO_FORMAT +not here +PMU box has no format for umask$' probe
	grep -E '^TOO_LARGE +not here +PMU box: event=0x100 does not fit into config:0-7$' probe
	grep -E '^ODD +not here +PMU odd: cannot read the format of event: config:0-64$' probe
	[ -e /sys/bus/event_source/devices/cpu ] || grep -E '^RAW +not here +no PMU of this machine takes raw events$' probe
}

@test "a file of one number is a source, and one of anything else is not" {
	cat >own.counters <<-'END'
		CLASS OWN
		COUNTER RECEIVED "packets that the loopback received" KIND multi
		  ON linux: file "/sys/class/net/lo/statistics/rx_packets" value
		COUNTER CARRIER "whether it is up" KIND gauge
		  ON linux: file "/sys/class/net/lo/carrier" value TIMES 10
		COUNTER ADDRESS "no number" KIND gauge
		  ON linux: file "/sys/class/net/lo/address" value
		COUNTER MISSING "no file" KIND gauge
		  ON linux: file "/sys/class/net/lo/none" value
	END
	"$ASTERISM" counters --catalog own.counters --probe >probe
	grep -E '^ADDRESS +not here +/sys/class/net/lo/address is not one number$' probe
	grep -E '^MISSING +not here +/sys/class/net/lo/none: No such file or directory$' probe
	[ "$(cat /sys/class/net/lo/carrier)" = 1 ] || skip "the loopback is not up"
	run --separate-stderr -0 "$ASTERISM" counters --catalog own.counters read RECEIVED CARRIER -f json -- python3 -c 'if 1:
		import socket
		one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		one.bind(("127.0.0.1", 0))
		for i in range(50):
		    one.sendto(b"x", one.getsockname())'
	carrier=$(value_of CARRIER <<<"$output")
	[ "${carrier%.*}" = 10 ]
	received=$(value_of RECEIVED <<<"$output")
	[ "${received%.*}" -ge 50 ]
}

@test "events of a PMU of this machine" {
	[ -e /sys/bus/event_source/devices/msr/events/tsc ] || skip "needs the PMU msr"
	[ "$(id -u)" = 0 ] || skip "needs root: the whole machine"
	cat >own.counters <<-'END'
		CLASS OWN
		COUNTER TICKS "ticks of the time stamp counter" KIND duration UNIT ticks
		  ON linux: perf pmu:msr:tsc
	END
	run --separate-stderr -0 "$ASTERISM" counters --catalog own.counters read TICKS --interval 200ms -n 2 -f json
	# All processors count: between a tenth of a GHz and ten of each.
	jq -se --argjson all "$(nproc)" 'all(.[]; .values[0].value / .elapsed / $all | . > 1e8 and . < 1e10)' <<<"$output"
}
