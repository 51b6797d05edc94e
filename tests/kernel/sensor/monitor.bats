#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Monitors over the sensors of live programs: what is evaluated, promised, refused, and blamed. Needs root. What is in
# time here is for the machine to know: only causes and counts are tested.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	: "${ASTERISM_TEST_PROGRAMS:=$BATS_TEST_DIRNAME/../../../build/tests/kernel}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
	export ASTERISM_SENSORS="$BATS_TEST_TMPDIR/socket"
	plant="$ASTERISM_TEST_PROGRAMS/plant-sensors"
	started=
	cat >shop.events <<-'END'
		EVENT request_begin "a request arrives" { id: u64 "number", bytes: u32 bytes, path: string[16] }
		EVENT request_end "it is answered" { id: u64 "number", bytes: u32 bytes, path: string[16] }
	END
	cat >slow.rule <<-'END'
		EVENTS "sensor:shop.events"
		RULE slow PATTERN { [request_begin:b, request_end:e] } WHERE { [id], e.ts - b.ts > 10ms }
		RETURN { b.id AS id, e.bytes AS bytes, e.path AS path }
	END
	sed 's/10ms/10min/' slow.rule >never.rule
	rates=(--sensor request_begin,rate=10000/s,burst=100 --sensor request_end,rate=10000/s,burst=100)
	# Where everything takes long, as in a guest without KVM, periods do, too.
	[ "${ASTERISM_TEST_PATIENCE:-1}" -le 4 ] ||
		rates=(--period 100ms --latency 400ms --sensor request_begin,rate=1000/s,burst=20,cost=50us --sensor request_end,rate=1000/s,burst=20,cost=50us)
}

# Ended as it should; late elements, where the machine gives it no time, have their cause.
ended() {
	[ "$status" = 0 ] || { [ "$status" = 3 ] && [ "$(figure monitor violations)" -gt 0 ] && [ "$(figure monitor causes unexplained)" = 0 ]; }
}

teardown() {
	for pid in $started; do
		kill -KILL "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
}

# A figure of a line of JSON, by its path: figure monitor causes over_rate
figure() {
	python3 -c '
import json, sys
for line in open("out"):
    value = json.loads(line)
    for name in sys.argv[1:]:
        value = value.get(name) if isinstance(value, dict) else None
    if value is not None:
        print(json.dumps(value))' "$@"
}

# Into out and err; the status is status.
monitor() {
	status=0
	"$ASTERISM" monitor -f json "$@" >out 2>err || status=$?
}

without_nice() {
	setpriv --bounding-set=-sys_nice --inh-caps=-sys_nice "$@"
}

wait_until() {
	local i
	for ((i = 0; i < 400; i++)); do
		"$@" && return
		sleep 0.05
	done
	false
}

@test "best effort: every element is evaluated, matches are told, and what came of it" {
	run --separate-stderr -0 "$ASTERISM" monitor --policy best-effort slow.rule -- "$plant" requests 2 20 5
	[[ $output == *"slow  plant-sensors"*"id=4  bytes=104 B  path=\"/index\""* ]]
	[[ $stderr == *"no guarantee: no sensor has a declared rate"* ]]
	[[ $stderr == *"80 events evaluated, 0 lost, response at most "* ]]
}

@test "nothing slow, no match; and the status of the command" {
	run --separate-stderr -7 "$ASTERISM" monitor --policy best-effort never.rule -- sh -c "$plant requests 1 20 0; exit 7"
	[ -z "$output" ]
	[[ $stderr == *"40 events evaluated, 0 lost"* ]]
}

@test "the promise is the sum of its parts, and told before what is launched runs" {
	monitor "${rates[@]}" never.rule -- "$plant" requests 2 50 0
	ended
	[ "$(head -n 1 out | cut -c1-10)" = '{"promise"' ]
	local bound=$(figure promise bound_ns)
	[ "$bound" -gt 0 ]
	[ "$bound" = $(($(figure promise latency_ns) + $(figure promise delta_ns) + $(figure promise h_ns) + $(figure promise omega_ns))) ]
	[ "$(figure monitor bound_ns)" = "$bound" ]
	[ "$(figure monitor elements)" = 200 ]
	[ "$(figure monitor lost)" = 0 ]
	[ "$(figure monitor sensors request_begin over_rate)" = 0 ]
	[ "$(figure monitor causes unexplained)" = 0 ]
	[ "$(figure promise guaranteed)" = true ]
	[ "$(figure promise policy)" = '"deadline"' ]
}

@test "each policy evaluates everything" {
	for policy in deadline fifo best-effort; do
		monitor --policy $policy "${rates[@]}" never.rule -- "$plant" requests 2 30 0
		ended
		[ "$(figure promise policy)" = "\"$policy\"" ]
		[ "$(figure monitor elements)" = 120 ]
		[ "$(figure monitor lost)" = 0 ]
	done
}

@test "a latency that no period gives is refused with what would do, and nothing is launched" {
	run --separate-stderr -2 "$ASTERISM" monitor --period 1ms --latency 1.5ms --sensor request_begin,rate=100/s,cost=1us never.rule -- touch launched
	[[ $stderr == *"latency 1.5 ms is shorter than one period plus its deadline (2 ms)"* ]]
	[[ $stderr == *"use --period 750us"* ]]
	[ ! -e launched ]
	run --separate-stderr "$ASTERISM" monitor --period 750us --latency 1.5ms --sensor request_begin,rate=100/s,cost=1us never.rule -- true
	[ "$status" != 2 ]
}

@test "what does not fit into the period is refused with the figures" {
	run --separate-stderr -2 "$ASTERISM" monitor --sensor request_begin,rate=1000/s,burst=10,cost=600us never.rule -- true
	[[ $stderr == *"the evaluations need "*" per period, but have only 1 ms until their deadline"* ]]
	[[ $stderr == *"request_begin may bring "*" events per period at 600 us each"* ]]
}

@test "what the kernel does not admit is refused with what would fit" {
	local nearly_all=(--policy deadline --period 20ms --latency 40ms --sensor request_begin,rate=50/s,cost=9960us)
	"$plant" paced 200000 1000 &
	local producer=$!
	started=$producer
	# As many as there are processors leave no room for one more.
	for ((i = 0; i < $(nproc); i++)); do
		"$ASTERISM" monitor -f json "${nearly_all[@]}" never.rule -p $producer >out$i 2>err$i &
		started="$started $!"
	done
	for ((i = 0; i < $(nproc); i++)); do
		wait_until grep -q -e '"promise"' -e 'does not admit' out$i err$i
	done
	run --separate-stderr -2 "$ASTERISM" monitor "${nearly_all[@]}" never.rule -- touch launched
	[[ $stderr == *"the kernel does not admit 19.97 ms per 20 ms"*" would fit: lower the rates"* ]]
	[ ! -e launched ]
}

@test "a trace is refused with the command that evaluates it" {
	run --separate-stderr -2 "$ASTERISM" monitor --from trace never.rule
	[[ $stderr == *"for traces use 'asterism replay'"*"asterism replay [--measure EVENT]"* ]]
}

@test "wrong declarations are told" {
	run --separate-stderr -2 "$ASTERISM" monitor --sensor other,rate=1000/s never.rule -- true
	[[ $stderr == *"--sensor other: the monitor reads no sensor with that name"* ]]
	run --separate-stderr -2 "$ASTERISM" monitor --sensor request_begin,rate=1000 never.rule -- true
	[[ $stderr == *"invalid rate '1000'"*"50000/s"* ]]
	run --separate-stderr -2 "$ASTERISM" monitor --sensor request_begin,rate=1000/s,spacing=2ms never.rule -- true
	[[ $stderr == *"cannot reach that rate"* ]]
	run --separate-stderr -2 "$ASTERISM" monitor --sensor request_begin,speed=3 never.rule -- true
	[[ $stderr == *"unknown key 'speed'"* ]]
	for wrong in rate=0/s rate=1000000000000/s rate=-5/s rate=5/s,burst=0; do
		run --separate-stderr -2 "$ASTERISM" monitor --sensor request_begin,$wrong never.rule -- true
		[[ $stderr == *"is not a count from 1 to 2147483647"* ]]
	done
	for twice in request_begin,cost=2us sensor:request_begin,cost=2us app:request_begin,cost=2us; do
		run --separate-stderr -2 "$ASTERISM" monitor --sensor request_begin,rate=1000/s --sensor $twice never.rule -- true
		[[ $stderr == *"declared twice"* || $stderr == *"already declared"* || $stderr == *"the monitor reads no sensor with that name"* ]]
	done
	run --separate-stderr -2 "$ASTERISM" monitor --period 5000s --sensor request_begin,rate=1/s,cost=1us never.rule -- touch launched
	[[ $stderr == *"the kernel accepts periods from "*" to "*" for SCHED_DEADLINE, but --period is 5000 s"* ]]
	[[ $stderr == *"use --policy fifo"* ]]
	[ ! -e launched ]
	run --separate-stderr -2 "$ASTERISM" monitor "${rates[@]}" --period 1ms --deadline 2ms never.rule -- true
	[[ $stderr == *"the deadline must not exceed the period"* ]]
}

# Every request sleeps once before it ends, so there is a switch of its thread in between.
kernel_rule() {
	cat <<-'END'
		EVENTS "sensor:shop.events"
		RULE between PATTERN { [request_begin:b, sched_switch:s, request_end:e] } WHERE { b.id == e.id, b.tid == s.prev_pid }
		RETURN { b.id AS id, s.prev_pid AS thread }
	END
}

@test "rules over sensors and the kernel are evaluated beside the promise, which stays that of the others" {
	kernel_rule >both.rule
	cat >>both.rule <<-'END'
		RULE slow PATTERN { [request_begin:b, request_end:e] } WHERE { [id], e.ts - b.ts > 10ms } RETURN { b.id AS id }
	END
	monitor "${rates[@]}" both.rule -- "$plant" requests 2 20 1
	ended
	[ "$(grep -c '"match":"between"' out)" = 40 ]
	[ "$(grep -o '"match":"between".*"id":[0-9]*' out | grep -o '[0-9]*$' | sort -un | wc -l)" = 40 ]
	[ "$(grep -c '"match":"slow"' out)" -ge 4 ]
	[ "$(figure promise guaranteed)" = true ]
	[ "$(figure monitor elements)" = 80 ]
	[ "$(figure monitor lost)" = 0 ]
	[ "$(figure monitor beside rules)" = 1 ]
	[ "$(figure monitor beside events)" -ge 40 ]
	[ "$(figure monitor beside lost)" = 0 ]
	grep -q "rule between is not covered by the guarantee: it waits for sched_switch, a kernel event whose rate is unknown" err
}

@test "where every rule waits for the kernel nothing is promised, and who insists on it is refused" {
	kernel_rule >both.rule
	monitor "${rates[@]}" both.rule -- "$plant" requests 1 20 1
	[ "$(grep -c '"match":"between"' out)" = 20 ]
	[ "$(figure promise guaranteed)" = false ]
	grep -q "no guarantee: nothing is covered by the guarantee: every rule waits for kernel events" err
	for demand in "--policy deadline" --strict; do
		run --separate-stderr -4 "$ASTERISM" monitor $demand "${rates[@]}" both.rule -- touch launched
		[[ $stderr == *"nothing is covered by the guarantee"* ]]
		[ ! -e launched ]
	done
}

@test "what EMIT connects with a rule over the kernel is beside the promise as well; acting rules are refused" {
	{
		echo 'EVENTS "sensor:shop.events"'
		echo 'EVENT switched { id: u64 }'
		kernel_rule | sed '1d;$d'
		echo 'DO { EMIT switched(id = b.id) }'
		echo 'RULE twice PATTERN { [switched:x, request_end:e] } WHERE { [id] } RETURN { x.id AS id }'
	} >chain.rule
	monitor "${rates[@]}" chain.rule -- "$plant" requests 1 10 1
	grep -q "rule twice is not covered by the guarantee either: EMIT connects it with between" err
	[ "$(figure monitor beside rules)" = 2 ]
	kernel_rule | sed 's/RULE between/SYNCHRONOUS &/' >acts.rule
	run --separate-stderr -4 "$ASTERISM" monitor acts.rule -- touch launched
	[[ $stderr == *"rules of a monitor cannot act"* ]]
	[ ! -e launched ]
}

@test "without the privilege there is no guarantee, which is said; and a policy that is demanded is an error" {
	run --separate-stderr -0 without_nice "$ASTERISM" monitor "${rates[@]}" never.rule -- "$plant" requests 1 20 0
	[[ $stderr == *"no guarantee: SCHED_DEADLINE is not permitted: CAP_SYS_NICE is missing: the monitor runs without real-time scheduling"* ]]
	[[ $stderr == *"40 events evaluated, 0 lost"* ]]
	for demand in "--policy deadline" "--policy fifo" --strict; do
		run --separate-stderr -4 without_nice "$ASTERISM" monitor $demand "${rates[@]}" never.rule -- touch launched
		[[ $stderr == *"is not permitted: CAP_SYS_NICE is missing"* ]]
		[ ! -e launched ]
	done
}

@test "a privilege is said to be missing only where it is" {
	[ "$(nproc)" -gt 1 ] || skip "needs two processors"
	run --separate-stderr -0 taskset -c 0 "$ASTERISM" monitor "${rates[@]}" never.rule -- "$plant" requests 1 20 0
	[[ $stderr == *"no guarantee: SCHED_DEADLINE is not permitted for a process that may run on only some of the CPUs: the monitor runs without real-time scheduling"* ]]
	[[ $stderr != *"CAP_SYS_NICE"* ]]
	unshare --user --map-root-user true || skip "no user namespaces here"
	run --separate-stderr -4 unshare --user --map-root-user "$ASTERISM" monitor --policy fifo "${rates[@]}" never.rule -- touch launched
	[[ $stderr == *"SCHED_FIFO is not permitted here"*"a user namespace"* ]]
	[[ $stderr != *"is missing"* ]]
	[ ! -e launched ]
}

@test "a promise that is insisted on needs a rate, and it is said how to declare one" {
	for demand in --strict "--policy deadline" "--policy fifo" "--strict --policy best-effort" "--strict --sensor request_begin,cost=2us"; do
		run --separate-stderr -2 "$ASTERISM" monitor $demand never.rule -- touch launched
		[[ $stderr == *"need declared rates: no sensor has one"* ]]
		[[ $stderr == *"write --sensor request_begin,rate=50000/s,burst=100"*"one for each other sensor"* ]]
		[ ! -e launched ]
	done
}

@test "a producer over its rate is named; one within it is not" {
	monitor --sensor request_begin,rate=100/s,burst=5 never.rule -- "$plant" paced 200 1000
	[ "$(figure monitor elements)" = 200 ]
	[ "$(figure monitor sensors request_begin over_rate)" -gt 0 ]
	grep -q "request_begin exceeded its declared rate: .* of 200 events came earlier" err
	monitor --sensor request_begin,rate=1000/s,burst=5 never.rule -- "$plant" paced 200 1000
	[ "$(figure monitor sensors request_begin over_rate)" = 0 ]
	! grep -q "exceeded its declared rate" err
}

@test "evaluations that take longer than they may are blamed" {
	# Every element is held against all runs that are open.
	cat >heavy.rule <<-'END'
		EVENTS "sensor:shop.events"
		RULE heavy SKIPTILLANY PATTERN { [request_begin:b, request_begin:e] } WHERE { b.id + e.id == 0 - 1 }
	END
	monitor --sensor request_begin,rate=500/us,cost=1ns heavy.rule -- "$plant" paced 30000 20
	[ "$(figure monitor violations)" -gt 0 ]
	[ "$(figure monitor causes over_cost)" -gt 0 ]
	[ "$(figure monitor causes unexplained)" = 0 ]
	grep -q "evaluation took longer than its limit, or was interrupted" err
	grep -q "an evaluation of request_begin took up to .*, more than C = 1 ns" err
	[ $(($(figure monitor elements) + $(figure monitor lost))) = 30000 ]
}

@test "a writer that is stopped between begin and commit is waited for as long as is promised, and told" {
	monitor "${rates[@]}" never.rule -- "$plant" stopped 300
	[ "$(figure monitor elements)" = 21 ]
	[ "$(figure monitor lost)" = 0 ]
	[ "$(figure monitor held)" -ge 1 ]
	[ "$(figure monitor causes unexplained)" = 0 ]
	grep -q "a writer was suspended between begin and commit, and was not waited for any longer" err
}

@test "strict: the first element that is lost or late ends it, with status 3" {
	monitor --strict --sensor request_begin,rate=500/us,cost=1ns never.rule -- "$plant" flood 100000000
	[ "$status" = 3 ]
	grep -q "ended by --strict: an event was lost, or evaluated too late" err
	# The command was told to end.
	[ "$(figure monitor elements)" -lt 100000000 ]
}

@test "copies are made in time, and evaluated all the same" {
	monitor --copy "${rates[@]}" slow.rule -- "$plant" requests 2 20 5
	ended
	[ "$(figure monitor elements)" = 80 ]
	[ "$(grep -c '"match":"slow"' out)" -ge 8 ]
	[ "$(figure monitor unevaluated_copies)" = 0 ]
	grep -q "only their copies were guaranteed" err
}

@test "copies have room for what comes at the declared rate, and rings for what may wait; else it is told" {
	# 200 ms of 400 elements a ms are 80,000 of 64 bytes and more.
	monitor --copy --policy best-effort --sensor request_begin,rate=400/ms,burst=20 never.rule -- "$plant" requests 1 5 0
	[ "$(figure promise copies_bytes)" -ge $((80000 * 64)) ]
	! grep -q "events to copy may arrive" err
	# A few have what there always was.
	monitor --copy "${rates[@]}" never.rule -- "$plant" requests 1 5 0
	[ "$(figure promise copies_bytes)" = $((4 << 20)) ]
	monitor --copy --policy best-effort --sensor request_begin,rate=1000/us,burst=20 never.rule -- "$plant" requests 1 5 0
	grep -Eq "[0-9]+ events to copy may arrive within 200 ms at the declared rates, but there is room for [0-9]+ \(256 MiB\)" err
	# What the application would need is said, and what it is told holds.
	monitor --policy best-effort --sensor request_begin,rate=5000/ms,burst=20,cost=1ns never.rule -- "$plant" requests 1 5 0
	grep -q "elements of request_begin may wait, and a ring of process .*, of 128 KiB, holds" err
	size=$(grep -o 'ASTERISM_SENSORS_RING=[0-9]*K' err | head -1)
	monitor --policy best-effort --sensor request_begin,rate=5000/ms,burst=20,cost=1ns never.rule -- env "$size" "$plant" requests 1 5 0
	! grep -q "may wait, and a ring" err
}

@test "several monitors read one sensor, and one that comes late begins with what is raised then" {
	"$ASTERISM" sensors --serve 2>served &
	started=$!
	wait_until grep -q "the sensor registry is at" served
	"$plant" paced 200000 1000 &
	local producer=$!
	started="$started $producer"
	"$ASTERISM" monitor -f json "${rates[@]}" --for 3s never.rule -p $producer >first 2>first.err &
	local first=$!
	sleep 1
	monitor "${rates[@]}" --for 1s never.rule -p $producer
	wait $first || [ $? = 3 ]
	[ "$(figure monitor elements)" -gt 0 ]
	[ "$(figure monitor lost)" = 0 ]
	local late=$(figure monitor elements)
	mv first out
	[ "$(figure monitor lost)" = 0 ]
	[ "$(figure monitor elements)" -gt "$late" ]
	[ "$(figure monitor causes unexplained)" = 0 ]
}

@test "an application that is killed: what it had committed is evaluated, what it had begun is told" {
	monitor "${rates[@]}" never.rule -- "$plant" open
	[ "$status" = 137 ]
	[ "$(figure monitor elements)" = 1 ]
	grep -q "1 event of sensors was begun and never finished: its process ended" err
}

@test "time passes for rules when nobody is left to raise anything" {
	cat >absent.rule <<-'END'
		EVENTS "sensor:shop.events"
		RULE absent PATTERN { [request_begin:b, ~request_end:e] } WHERE { [id] } WITHIN 300ms RETURN { b.id AS id }
	END
	"$ASTERISM" monitor -f json absent.rule -- sh -c "$plant paced 3 1000; exec sleep 60" >out 2>err &
	local session=$!
	started=$session
	wait_until grep -q '"match":"absent"' out
	kill -0 $session
	kill -INT $session
	wait_until grep -q '"stats"' out
	[ "$(grep -c '"match":"absent"' out)" = 3 ]
}

@test "a process that becomes another program, and children that end at once, are evaluated to the last" {
	monitor --policy best-effort never.rule -- "$plant" execs 40
	[ "$(figure monitor elements)" = 41 ]
	monitor --policy best-effort never.rule -- "$plant" forks 200
	[ "$(figure monitor elements)" = 200 ]
}

@test "the end of a directory is a loss, as applications raise no events until the next one" {
	"$ASTERISM" sensors --serve 2>served &
	started=$!
	local directory=$!
	wait_until grep -q "the sensor registry is at" served
	"$plant" paced 200000 1000 &
	local producer=$!
	started="$started $producer"
	"$ASTERISM" monitor -f json --policy best-effort never.rule -p $producer >out 2>err &
	local session=$!
	started="$started $session"
	wait_until grep -q '"promise"' out
	kill -KILL $directory
	wait_until grep -q "raise no events until another one runs" err
	kill -INT $session
	wait_until grep -q '"stats"' out
	[ "$(figure monitor lost)" = 1 ]
	grep -q "the sensor registry ended 1 time" err
}

@test "SIGUSR1 tells how it goes, and Ctrl-C ends it with everything told" {
	"$plant" paced 200000 1000 &
	local producer=$!
	started=$producer
	"$ASTERISM" monitor -f json "${rates[@]}" never.rule -p $producer >out 2>err &
	local session=$!
	started="$started $session"
	wait_until grep -q '"promise"' out
	kill -USR1 $session
	wait_until grep -q "events evaluated, 0 lost, response at most" err
	kill -INT $session
	wait_until grep -q '"stats"' out
	[ "$(figure monitor lost)" = 0 ]
}

@test "a proof draws what it has seen beside the bound" {
	run --separate-stderr "$ASTERISM" monitor --prove 1s "${rates[@]}" never.rule -- "$plant" paced 200000 1000
	[[ $output == *"# response up to, events"* ]]
	[[ $output == *" bound; l(R) = "* ]]
	[[ $output == *"# least "*", average "*", most "* ]]
	# It is as it is: proven, or not and then with status 3.
	if [ "$status" = 0 ]; then
		[[ $stderr == *"no event was late"*"proves nothing about the next minute"* ]]
	else
		[ "$status" = 3 ]
		[[ $stderr == *"not proven"* ]]
	fi
}
