#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Traces: what is recorded is shown, counted and replayed, by us and by babeltrace2; damage and losses are told.

bats_require_minimum_version 1.5.0
load ../wait

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	make_trace=$(dirname "$ASTERISM")/../../tests/trace/make-trace
	cd "$BATS_TEST_TMPDIR"
}

# The events of two outputs, one object per line, are equal whatever the order of their members.
same_events() {
	python3 - "$1" "$2" <<-'END'
		import json, sys
		left, right = ([json.loads(line) for line in open(name)] for name in sys.argv[1:])
		assert len(left) == len(right) > 0, (len(left), len(right))
		for ordinal, pair in enumerate(zip(left, right), 1):
		    assert pair[0] == pair[1], (ordinal, pair)
	END
}

@test "dump: every event with every field, in the order of time" {
	"$make_trace" -n 20000 -c 3 -j t >made.jsonl
	"$ASTERISM" dump -f json t >shown.jsonl
	same_events made.jsonl shown.jsonl
}

@test "dump: text tells when, where, who and what" {
	"$make_trace" -n 6 t
	run --separate-stderr -0 "$ASTERISM" dump t
	[ "${lines[0]}" = '    0.000000000 [  0] task100             100/100 tick n=0 part=0' ]
	[ "${lines[2]}" = '    0.000000100 [  0] task100             100/100 call arg=0xfffffffffffffffd load=0.5 nr=-2 fd=-2 ok=false name="/tmp/file2"' ]
	[ ${#lines[@]} = 6 ]
	[ -z "$stderr" ]
	run --separate-stderr -0 "$ASTERISM" dump -v --time clock t
	[[ ${lines[5]} == '         6 1000000200 [  1] '* ]]
	run --separate-stderr -0 "$ASTERISM" dump --time wall t
	[[ ${lines[0]} == '2023-11-14 22:13:21.123456789 [  0] '* ]]
}

@test "dump: filters hold at once, ordinals and times are those of the whole trace" {
	"$make_trace" -n 1000 -j t >made.jsonl
	check() {
		local expected=$1
		shift
		checks+=("$expected")
		"$ASTERISM" dump -f json "$@" t >shown-${#checks[@]}
	}
	local checks=()
	check 'e["event"] == "call"' -e call
	check 'e["event"] != "tick"' -e 'c*,idle'
	check 'e["event"] != "tick"' -e call -e 'c*' -e idle
	check 'e["cpu"] == 1' --cpu 1
	check 'e["pid"] in (101, 103)' -p 101,103
	check 'e["tid"] == 102' --tid 102
	check '500 <= seq <= 510' --ordinals 500..510
	check 'seq >= 990' --ordinals 990..
	check 'seq <= 3' --ordinals ..3
	check 'seq == 7' --ordinals 7
	check '2000 <= at < 3000' --from 2us --to 3us
	check '1000002000 <= e["ts"] < 1000003000' --from @1000002000 --to @1000003000
	check 'e["event"] == "tick" and e["cpu"] == 0 and at >= 20000 and seq <= 700' \
		-e tick --cpu 0 --from 20us --ordinals ..700
	[ ${#checks[@]} = 13 ]
	python3 - "${checks[@]}" <<-'END'
		import json, sys
		made = [json.loads(line) for line in open('made.jsonl')]
		for number, text in enumerate(sys.argv[1:], 1):
		    expected = [e for seq, e in enumerate(made, 1)
		                if eval(text, {'e': e, 'seq': seq, 'at': e['ts'] - made[0]['ts']})]
		    shown = [json.loads(line) for line in open(f'shown-{number}')]
		    assert expected and expected == shown, text
	END
	run --separate-stderr -2 "$ASTERISM" dump -e nothing t
	[[ $stderr == *"the trace has no event type 'nothing'"* ]]
	run --separate-stderr -2 "$ASTERISM" dump --ordinals 5..4 t
	[[ $stderr == *"--ordinals: invalid range '5..4'"* ]]
	run --separate-stderr -2 "$ASTERISM" dump --cpu x t
	[[ $stderr == *"--cpu: invalid list of numbers 'x'"* ]]
}

@test "dump: several traces are merged by time; JSON lines are a trace, too" {
	"$make_trace" -n 100 -j a >a.jsonl
	"$make_trace" -n 300 -j b >b.jsonl
	"$ASTERISM" dump -f json a b >shown.jsonl
	cat a.jsonl b.jsonl >both.jsonl
	python3 - <<-'END'
		import json
		both = sorted((json.loads(line) for line in open('both.jsonl')), key=lambda e: e['ts'])
		shown = [json.loads(line) for line in open('shown.jsonl')]
		key = lambda event: json.dumps(event, sort_keys=True)
		assert [e['ts'] for e in shown] == [e['ts'] for e in both]
		assert sorted(map(key, shown)) == sorted(map(key, both))
	END
	printf 'EVENT tick { n: u64, part: u32 }\nEVENT idle { }\nEVENT call { name: string[64], nr: i32, ok: bool, arg: addr, fd: i16, load: f64 }\n' >made.events
	"$ASTERISM" dump -f json --catalog made.events a.jsonl >again.jsonl
	same_events a.jsonl again.jsonl
}

@test "dump: losses are shown where they began, and in the end" {
	"$make_trace" -n 3000 -l 7 t
	run --separate-stderr -3 "$ASTERISM" dump t
	[ "$(grep -c -- '^--- 7 events were lost from here on ---$' <<<"$output")" = 3 ]
	[ "$stderr" = "asterism: warning: 21 events were lost when this was recorded" ]
}

@test "dump: a closed pipe and a signal end it quietly" {
	"$make_trace" -n 100000 t
	set -o pipefail
	run --separate-stderr -0 bash -c "'$ASTERISM' dump t | head -n 1"
	[ ${#lines[@]} = 1 ]
	[ -z "$stderr" ]
	mkfifo in
	"$ASTERISM" dump - <in >out 2>err &
	pid=$!
	exec 9>in
	# It is told to stop once it has said that it wants to know.
	wait_for grep -q 'SigCgt:.*[2367abef]$' "/proc/$pid/status"
	kill -INT "$pid"
	wait "$pid"
	exec 9>&-
	[ ! -s err ]
}

@test "dump: output that cannot be written: status 2" {
	"$make_trace" -n 10 t
	run --separate-stderr -2 "$ASTERISM" dump -o missing/out t
	[[ $stderr == *"cannot write missing/out: No such file or directory" ]]
	if [ -e /dev/full ]; then
		run --separate-stderr -2 "$ASTERISM" dump -o /dev/full t
		[[ $stderr == *"cannot write /dev/full: No space left on device"* ]]
	fi
}

@test "a trace that was killed: what is there, then file and byte" {
	"$make_trace" -n 20000 -j -k t >made.jsonl
	run --separate-stderr -2 "$ASTERISM" dump -f json t
	size=$(stat -c %s t/stream_0)
	[[ $stderr =~ ^t/stream_0:\ byte\ ([0-9]+):\ error:\ the\ file\ ends\ in\ the\ middle\ of\ a\ packet$ ]]
	# Where the event begins that is not whole.
	((BASH_REMATCH[1] <= size && BASH_REMATCH[1] > size - 64))
	# Nothing of the other processor is missing, and of this one only the end of the last packet.
	[ "$(grep -c '"cpu":1' <<<"$output")" = 10000 ]
	[ "$(grep -c '"cpu":0' <<<"$output")" -gt 9990 ]
	[ "$(grep -c '"cpu":0' <<<"$output")" -lt 10000 ]
}

@test "a full disk: a clear error, and whole packets up to there" {
	mkdir small
	mount -t tmpfs -o size=256k none small 2>/dev/null || skip "mounting a small file system needs root"
	run -1 "$make_trace" -n 100000 small/t
	"$ASTERISM" dump -f json small/t >shown.jsonl 2>err && good=yes || good=no
	babeltrace2 small/t >theirs 2>>err || good=no
	umount small
	[[ $output == "make-trace: small/t/stream_"*": the disk is full: No space left on device" ]]
	[ "$good" = yes ]
	[ ! -s err ]
	[ "$(grep -vc ' context: ' theirs)" = "$(wc -l <shown.jsonl)" ]
	"$make_trace" -n 100000 -j whole >made.jsonl
	grep '"cpu":0' shown.jsonl >shown-0.jsonl
	grep '"cpu":0' made.jsonl | head -n "$(wc -l <shown-0.jsonl)" >made-0.jsonl
	same_events made-0.jsonl shown-0.jsonl
}

@test "what is no trace is refused" {
	mkdir empty
	run --separate-stderr -2 "$ASTERISM" dump empty
	[[ $stderr == *empty* ]]
	run --separate-stderr -2 "$ASTERISM" dump missing
	[[ $stderr == *"missing: error: no such file"* ]]
	"$make_trace" -n 10 t
	sed -i 's/u32 _part/u33 _part/' t/metadata
	run --separate-stderr -2 "$ASTERISM" dump t
	[[ $stderr == *"t/metadata:"*": error: unknown type (byte "* ]]
	[[ $stderr == *"u33 _part"* ]]
	run -1 "$make_trace" -n 10 t
	[[ $output == *"the directory is not empty"* ]]
}

@test "stat: events, bytes, shares, losses, rate" {
	"$make_trace" -n 7000 -l 5 t
	run --separate-stderr -3 "$ASTERISM" stat -f json t
	python3 - "$output" <<-'END'
		import json, sys
		stat = json.loads(sys.argv[1])
		assert stat['events'] == 7000 and stat['lost'] == 35, stat
		assert {t['event']: (t['events'], t['bytes'] // t['events']) for t in stat['types']} == \
		    {'tick': (4000, 24), 'call': (2000, 48), 'idle': (1000, 8)}, stat
		assert sum(span['events'] for span in stat['rate']) == 7000
		assert stat['first_ns'] == 1000000000 and stat['last_ns'] == 1000000000 + 3499 * 100
		assert stat['rate'][-1]['from_ns'] + stat['rate'][-1]['length_ns'] == stat['last_ns']
	END
	run --separate-stderr -3 "$ASTERISM" stat t
	[ "${lines[0]}" = "7000 events in 0.000349900 s, 20005716 events/s, 200000 bytes, 35 lost" ]
	[[ ${lines[2]} =~ ^tick\ +4000\ +57.14\ +96000\ +48.00\ +24.0$ ]]
	run --separate-stderr -3 "$ASTERISM" stat -e idle --cpu 0 t
	[[ ${lines[0]} == "500 events in "* ]]
}

@test "replay: the matches are those of the same events as JSON lines" {
	"$make_trace" -n 20000 -c 3 -j t >made.jsonl
	cat >pair.rule <<-'END'
		EVENT tick { n: u64, part: u32 }
		EVENT idle { }
		EVENT call { name: string, nr: i32, ok: bool, arg: addr, fd: i16, load: f64 }
		RULE pair PATTERN { [tick:a, call:b] } WHERE { [tid], a.n % 1000 == 0, b.fd < 0 }
		RETURN { a.n AS n, b.name AS name, b.load AS load, b.arg AS arg }
	END
	"$ASTERISM" replay -q -f json pair.rule t | grep '"match"' >ours
	"$ASTERISM" replay -q -f json pair.rule made.jsonl | grep '"match"' >theirs
	[ -s ours ]
	cmp ours theirs
}

@test "babeltrace2 reads the same events and losses without another warning" {
	command -v babeltrace2 >/dev/null || skip "babeltrace2 is not installed"
	"$make_trace" -n 7000 -c 3 -j -M t >made.jsonl
	run --separate-stderr -0 babeltrace2 --clock-seconds --no-delta t
	[ -z "$stderr" ]
	[ "$(grep -c ' match: ' <<<"$output")" = 2 ]
	grep -v -e ' context: ' -e ' match: ' <<<"$output" >theirs
	python3 - theirs made.jsonl <<-'END'
		import json, re, sys
		theirs = [line for line in open(sys.argv[1])]
		events = [json.loads(line) for line in open(sys.argv[2])]
		assert len(theirs) == len(events)
		for line, event in zip(theirs, events):
		    seconds, nanoseconds, name, cpu, fields = re.match(
		        r'\[(\d+)\.(\d{9})\] \S+ (\w+): \{ cpu_id = (\d+) \}, \{ (.*)\}$', line).groups()
		    assert int(seconds) * 10**9 + int(nanoseconds) - 1700000000123456789 == event['ts']
		    assert (name, int(cpu)) == (event['event'], event['cpu'])
		    values = dict(re.findall(r'(\w+) = ("[^"]*"|[^,]+?)(?:, | $)', fields))
		    body = {key: value for key, value in event.items() if key not in ('event', 'ts', 'cpu', 'pid', 'tid', 'comm')}
		    assert values.keys() == body.keys(), (line, event)
		    for key, value in body.items():
		        shown = values[key]
		        assert (shown[1:-1] == value if isinstance(value, str) else int(shown, 16) == value if shown[:2] == '0x'
		                else abs(float(shown) - float(value)) <= 1e-5 * abs(value)), (key, shown, value)
	END
	rm -r t
	"$make_trace" -n 3000 -l 7 t
	run --separate-stderr -0 babeltrace2 t
	[ "$(grep -c 'Tracer discarded 7 events' <<<"$stderr")" = 3 ]
	[ "$(wc -l <<<"$stderr")" = 3 ]
}

@test "at the limit of its size a trace keeps the newest, for babeltrace2, too" {
	"$make_trace" -n 100000 -m 500000 -j t >made.jsonl
	[ "$(du -sb t | cut -f 1)" -lt 520000 ]
	"$ASTERISM" dump -f json t >shown.jsonl
	tail -n "$(wc -l <shown.jsonl)" made.jsonl | tail -n 5000 >newest.jsonl
	tail -n 5000 shown.jsonl >shown-newest.jsonl
	same_events newest.jsonl shown-newest.jsonl
	command -v babeltrace2 >/dev/null || skip "babeltrace2 is not installed"
	run --separate-stderr -0 babeltrace2 t
	[ "$(grep -vc ' context: ' <<<"$output")" = "$(wc -l <shown.jsonl)" ]
}

@test "a folder of traces is none: the traces in it are named" {
	echo 'EVENT call { nr: i32 } RULE r PATTERN { call:c }' >r.rule
	mkdir -p pair/b
	"$make_trace" -n 10 pair/b/deep
	"$make_trace" -n 10 pair/a
	for command in "replay r.rule pair" "dump pair" "stat pair" "replay r.rule pair/"; do
		run --separate-stderr -2 "$ASTERISM" $command
		[ -z "$output" ]
		[ "${stderr_lines[0]}" = "${command##* }: error: this is a directory with 2 traces, not a trace: pair/a, pair/b/deep" ]
		[ "${stderr_lines[1]}" = "help: name the traces themselves, such as 'asterism replay RULE pair/a pair/b/deep' or 'asterism dump pair/a'" ]
	done
	for name in c d e; do
		"$make_trace" -n 10 pair/$name
	done
	run --separate-stderr -2 "$ASTERISM" dump pair
	[ "${stderr_lines[0]}" = "pair: error: this is a directory with 5 traces, not a trace: pair/a, pair/b/deep, pair/c, ..." ]
	rm -r pair/[b-e]
	run --separate-stderr -2 "$ASTERISM" dump pair
	[ "${stderr_lines[0]}" = "pair: error: this is a directory with a trace in it, not a trace: pair/a" ]
	[ "${stderr_lines[1]}" = "help: name the trace itself, such as 'asterism replay RULE pair/a' or 'asterism dump pair/a'" ]
	# Ours is not read by another reader because a foreign one lies beside it.
	mkdir pair/foreign
	echo '/* CTF 1.8 */' >pair/foreign/metadata
	run --separate-stderr -2 "$ASTERISM" dump pair
	[[ ${stderr_lines[0]} == *"directory with a trace in it"*": pair/a" ]]
}

@test "replay: the date and the host of a trace; of JSON lines there are none, which is said where they are asked for" {
	"$make_trace" -n 6 -j t >made.jsonl
	host=$(grep -o 'hostname = "[^"]*"' t/metadata | cut -d'"' -f2)
	[ -n "$host" ]
	grep '"tick"' made.jsonl >ticks.jsonl
	printf 'EVENT tick { n: u64, part: u32 }\nRULE r PATTERN { tick:t }\n' >r.rule
	for form in '' '--time wall'; do
		TZ=UTC run --separate-stderr -0 "$ASTERISM" replay $form r.rule t
		[[ ${lines[0]} == "2023-11-14T22:13:21.123456789+00:00  $host  r  "* ]]
	done
	run --separate-stderr -0 "$ASTERISM" replay --time mono r.rule t
	[[ ${lines[0]} == "     1.000000000  r  "* ]]
	run --separate-stderr -0 "$ASTERISM" replay -f json r.rule t
	[[ ${lines[0]} == *'"tainted":false}' ]]
	run --separate-stderr -0 "$ASTERISM" replay -f json --time wall r.rule t
	[[ ${lines[0]} == *'"tainted":false,"time":"2023-11-14T22:13:21.123456789Z","host":"'"$host"'"}' ]]
	# Another tool's reading of the same trace.
	sed -i '2s/.*/\/* not ours *\//' t/metadata
	run --separate-stderr -0 "$ASTERISM" replay -f json --time wall r.rule t
	[[ ${lines[0]} == *'"time":"2023-11-14T22:13:21.123456789Z","host":"'"$host"'"}' ]]
	run --separate-stderr -0 "$ASTERISM" replay r.rule ticks.jsonl
	[[ ${lines[0]} == "     1.000000000  r  "* ]]
	[[ $stderr != *warning* ]]
	run --separate-stderr -0 "$ASTERISM" replay --time wall -f json r.rule ticks.jsonl
	[[ ${lines[0]} == *'"tainted":false,"time":null}' ]]
	[ "$(grep -c 'warning: no wall-clock time: the input has no offset to CLOCK_REALTIME' <<<"$stderr")" = 1 ]
}
