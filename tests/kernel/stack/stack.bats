#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# CALL Stack(): the stack of the thread that completes a match, of a program of the test's own. Needs root.

bats_require_minimum_version 1.5.0
load ../../wait

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	plant="$(dirname "$ASTERISM")/../../tests/kernel/plant-stack"
	cd "$BATS_TEST_TMPDIR"
	echo 'RULE asked PATTERN { sys_enter_getpgid:a } WHERE { a.target_pid == 4000001 } DO { CALL Stack() }' >asked.rule
	sed 's/ DO .*//' asked.rule >probe.rule
	needs_asterism run -q probe.rule -- true
}

teardown() {
	[ -z "${session:-}" ] || kill -KILL "$session" 2>/dev/null || true
}

# `holds JSON EXPRESSION`: an expression over m, the matches, and s, the statistics, is true.
holds() {
	python3 -c 'import json, re, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
m = [line for line in lines if "match" in line]
s = lines[-1]["stats"]
if not eval(sys.argv[2]):
    print(sys.argv[2], "does not hold of", lines[:5], len(lines))
    sys.exit(1)' "$1" "$2"
}

# `observed COUNT ARGUMENTS...`: asterism run with them writes to out; the program that it observes, which waits for the
# end of its input, goes on when COUNT matches are there: until then it lives, so its addresses have names.
observed() {
	local count=$1
	shift
	rm -f input out
	mkfifo input
	"$ASTERISM" run -o out "$@" <input 3>&- &
	session=$!
	exec 9>input
	for _ in $(seq 500); do
		[ ! -e out ] || [ "$(grep -c "$pattern" out)" -lt "$count" ] || break
		sleep 0.02
	done
	exec 9>&-
	wait "$session"
	session=
}

pattern='"match"'

# `line_of TEXT`: where TEXT is in the planted program's source.
line_of() {
	grep -nF "$1" "$BATS_TEST_DIRNAME/../programs/plant-stack.c" | cut -d: -f1
}

# The frames of the planted program that have names, a line.
planted='[re.sub(r"\+0x[0-9a-f]+ \(/.*/plant-stack\)( plant-stack\.c:\d+)?$", "", f) for f in m[0]["stack"] if "plant-stack" in f]'

@test "the functions of a planted program, innermost first" {
	observed 1 -f json asked.rule -- "$plant" storm 1
	holds out "$planted == ['stack_planted_ask', 'stack_planted_outer', 'main', '_start']"
	holds out 'm[0]["calls"] == [{"function": "Stack", "args": [], "done": True, "by": "kernel"}]'
}

@test "as text: one frame a line below the match" {
	pattern=asked
	observed 1 asked.rule -- "$plant" storm 1
	grep -A3 asked out >below
	[[ $(sed -n 2p below) =~ ^'    stack_planted_ask+0x'[0-9a-f]+' ('/.*/plant-stack') plant-stack.c:'"$(line_of SYS_getpgid)"$ ]]
	[[ $(sed -n 3p below) =~ ^'    stack_planted_outer+0x'[0-9a-f]+' ('/.*/plant-stack') plant-stack.c:'"$(line_of 'what(argument)')"$ ]]
	[[ $(sed -n 4p below) =~ ^'    main+0x' ]]
}

@test "no stack where nobody asks for one" {
	observed 1 -f json probe.rule -- "$plant" storm 1
	holds out 'len(m) == 1 and "stack" not in m[0]'
}

@test "@slow-syscall tells who was slow; what is quick is not told" {
	pattern='"ret":1,"took"' # of the planted call; on a slow machine an execve may be slow, too
	observed 1 -f json @slow-syscall -- "$plant" slow 150
	grep -e "$pattern" -e stats out >slow
	holds slow "$planted == ['stack_planted_wait', 'stack_planted_outer', 'main', '_start']"
	holds slow 'm[0]["return"]["took"] >= 100000000 and m[0]["comm"] == "plant-stack"'
	observed 0 -f json @slow-syscall --set longest=10s -- "$plant" slow 150
	holds out 'm == []'
}

@test "the stack of a WARN of a machine" {
	cat >machine.rule <<-'END'
		MACHINE asking
		KEY { tid }
		STATE Once {
			ON sys_enter_getpgid:a WHERE a.target_pid == 4000001 -> Again { WARN "{tid} asks"; CALL Stack() }
		}
		STATE Again {
			ON sys_enter_getpgid:a WHERE a.target_pid == 4000001 { WARN "{tid} asks again" }
		}
	END
	observed 2 -f json machine.rule -- "$plant" storm 2
	holds out 'len(m) == 2 and "stack" not in m[1] and m[1]["warning"].endswith("asks again")'
	holds out "$planted == ['stack_planted_ask', 'stack_planted_outer', 'main', '_start']"
}

@test "the stack at the beginning of a function, by a probe" {
	printf 'EVENT reached {}\nFROM uprobe:"%s:stack_planted_ask" {}\n' "$(realpath "$plant")" >reached.events
	printf 'EVENTS "reached.events"\nRULE up PATTERN { reached } DO { CALL Stack() }\n' >reached.rule
	observed 1 -f json reached.rule -- "$plant" storm 1
	holds out "$planted == ['stack_planted_ask', 'stack_planted_outer', 'main', '_start']"
}

# Debugging information in a file of its own, as distributions have it.
strip_apart() {
	cp "$plant" "$1"
	objcopy --only-keep-debug "$1" "$1.debug"
	strip --strip-all "$1"
	[ -z "${2:-}" ] || objcopy "--add-gnu-debuglink=$1.debug" "$1"
}

@test "a stripped program: its functions and lines are in the file that its debuglink names" {
	strip_apart plant-stack link
	observed 1 -f json asked.rule -- "$PWD/plant-stack" storm 1
	holds out "$planted == ['stack_planted_ask', 'stack_planted_outer', 'main', '_start']"
	holds out "any(f.endswith('plant-stack.c:$(line_of SYS_getpgid)') for f in m[0]['stack'])"
	rm plant-stack.debug
	observed 1 -f json asked.rule -- "$PWD/plant-stack" storm 1
	holds out 'all(re.fullmatch(r"0x[0-9a-f]+ \(/.*/plant-stack\)", f) for f in m[0]["stack"] if "plant-stack" in f)'
}

@test "debugging information of other users is not read: their programs have functions, and no lines" {
	cp "$plant" plant-stack
	chown 65534 plant-stack
	observed 1 -f json asked.rule -- "$PWD/plant-stack" storm 1
	holds out "$planted == ['stack_planted_ask', 'stack_planted_outer', 'main', '_start']"
	holds out 'not any("plant-stack.c" in f for f in m[0]["stack"])'
	SUDO_UID=65534 observed 1 -f json asked.rule -- "$PWD/plant-stack" storm 1
	holds out 'any("plant-stack.c" in f for f in m[0]["stack"])'
	strip_apart plant-stack link
	chown 65534 plant-stack.debug
	observed 1 -f json asked.rule -- "$PWD/plant-stack" storm 1
	holds out 'not any("plant-stack.c" in f for f in m[0]["stack"])'
}

# Whoever can mount a file of root's in a folder of his own says what lies beside it.
@test "what lies beside a program is opened only in a folder that others cannot write, and only if it is a file" {
	printf '#!/bin/sh\nexec timeout -s KILL 20 "%s" "$@"\n' "$ASTERISM" >bounded # it would wait for good
	chmod +x bounded
	ASTERISM=$PWD/bounded
	mkdir own theirs
	cp "$plant" own/plant-stack
	strip --strip-all own/plant-stack
	objcopy --add-gnu-debuglink=asked.rule own/plant-stack
	for place in asked.rule .debug/asked.rule; do
		for folder in own theirs; do
			rm -rf "$folder"/asked.rule "$folder"/.debug
			mkdir -p "$folder/$(dirname "$place")"
			mkfifo "$folder/$place"
		done
		chown -R 65534 theirs
		observed 1 -f json asked.rule -- "$PWD/own/plant-stack" storm 1
		holds out 'len(m) == 1 and any(f.endswith("/own/plant-stack)") for f in m[0]["stack"])'
		touch theirs/plant-stack
		observed 1 -f json asked.rule -- unshare -m sh -c 'mount --bind own/plant-stack theirs/plant-stack && exec "$PWD/theirs/plant-stack" storm 1'
		holds out 'len(m) == 1 and any(f.endswith("/theirs/plant-stack)") for f in m[0]["stack"])'
	done
	# The twin: a file, in such folders.
	strip_apart plant-stack link
	mkdir .debug
	mv plant-stack.debug .debug
	observed 1 -f json asked.rule -- "$PWD/plant-stack" storm 1
	holds out "$planted == ['stack_planted_ask', 'stack_planted_outer', 'main', '_start']"
	chown 65534 .debug
	observed 1 -f json asked.rule -- "$PWD/plant-stack" storm 1
	holds out 'not any("plant-stack.c" in f for f in m[0]["stack"])'
}

# What it says is nonsense then; that the session goes on, and says something of every frame, is what counts.
@test "damaged debugging information is survived" {
	strip_apart plant-stack link
	python3 - <<-'END'
		import random
		pick, good = random.Random(1), open("plant-stack.debug", "rb").read()
		for number in range(12):
		    bad = bytearray(good)
		    for _ in range(400):
		        bad[pick.randrange(64, len(bad))] = pick.randrange(256)
		    open(f"bad{number}", "wb").write(bad)
	END
	for bad in bad*; do
		cp "$bad" plant-stack.debug
		observed 1 -f json asked.rule -- "$PWD/plant-stack" storm 1
		holds out 'len(m) == 1 and len(m[0]["stack"]) >= 3'
	done
}

@test "a process that has ended leaves addresses" {
	for _ in $(seq 4); do
		"$ASTERISM" run -f json asked.rule -- "$plant" last </dev/null >out
		holds out 'len(m) == 1 and len(m[0]["stack"]) >= 3'
		holds out 'all(re.fullmatch(r"0x[0-9a-f]+|(0x[0-9a-f]+|\w+\+0x[0-9a-f]+) \(/[^)]*\)( [\w.-]+:\d+)?", f) for f in m[0]["stack"])'
	done
}

@test "many matches: each with its own stack or with why it has none" {
	observed 6000 -f json asked.rule -- "$plant" storm 6000
	holds out 's["rules"]["asked"]["matches"] == 6000 and len(m) + s["lost"] == 6000'
	holds out 'all(("stack" in x) == x["calls"][0]["done"] for x in m)'
	holds out 'all(x["calls"][0]["why"] == "the stack of its thread was not kept" for x in m if "stack" not in x)'
	holds out 'sum("stack" in x for x in m) >= 4000'
	holds out 'len({tuple(x["stack"][:3]) for x in m if "stack" in x}) == 1'
	grep -e '"stack"' -e '^{"stats"' out >kept
	# By frame pointers, where its copy had to make room for newer ones.
	holds kept "$planted[:3] == ['stack_planted_ask', 'stack_planted_outer', 'main']"
	holds out 'all(x["stack_by"] == "unwinding" or x["stack_end"].endswith("the copy of the stack was not kept") for x in m if "stack" in x)'
	holds out 'sum(x.get("stack_by") == "unwinding" for x in m) >= 100'
}

@test "where the rule runs in user space there is none, and the match says why" {
	echo 'RULE asked PATTERN { sys_enter_getpgid:a } WHERE { a.target_pid == 4000001, a.ts * 1.0 > 0.5 } DO { CALL Stack() }' >far.rule
	run -0 "$ASTERISM" explain far.rule
	[[ $output == *"by nobody: "* ]]
	observed 1 -f json far.rule -- "$plant" storm 1
	holds out 'len(m) == 1 and "stack" not in m[0] and m[0]["calls"][0]["done"] is False'
	holds out '"only the kernel" in m[0]["calls"][0]["why"]'
	run -0 "$ASTERISM" explain asked.rule
	[[ $output == *"by the kernel: "* ]]
}

@test "nor in a replay, by either executor" {
	echo '{"event":"sys_enter_getpgid","ts":5,"pid":1,"tid":1,"target_pid":4000001}' >events.jsonl
	for engine in user kernel; do
		"$ASTERISM" replay --engine $engine -f json asked.rule events.jsonl >out
		holds out 'len(m) == 1 and "stack" not in m[0]'
		holds out 'm[0]["calls"] == [{"function": "Stack", "args": [], "done": False, "why": "recorded events have no stack"}]'
	done
	run -0 "$ASTERISM" replay -q asked.rule events.jsonl
	[ "${#lines[@]}" = 1 ]
}

@test "a mark in a recording has the stack, unless that would make it too long" {
	deep=$PWD
	for _ in 1 2 3 4 5 6 7 8; do deep=$deep/$(printf '%0240d' 0); done
	mkdir -p "$deep"
	cp "$plant" "$deep/plant-stack"
	for path in "$plant" "$deep/plant-stack"; do
		rm -rf trace
		sleep 1 | "$ASTERISM" record -q -f json --rules asked.rule -o trace -- "$path" storm 1 >out
		holds out 'len(m) == 1 and len(m[0]["stack"]) >= 3'
		cat trace/* | tr '\0' '\n' | grep -a -o '{"match":"asked".*' >marks
		python3 -c 'import json; mark = json.loads(open("marks").read()); assert mark["calls"][0]["done"], mark; print("stack" in mark)' >has
		cat has >>all
	done
	[ "$(tr '\n' ' ' <all)" = "True False " ]
}

@test "headers of a file that ask for a million sections take no memory" {
	local peak
	cp "$plant" hostile
	python3 - <<-'END'
		import os, struct
		with open("hostile", "r+b") as file:
		    place, count = (os.path.getsize("hostile") + 4095) // 4096 * 4096, 1 << 20
		    file.seek(0x28)
		    file.write(struct.pack("<Q", place))  # e_shoff
		    file.seek(0x3c)
		    file.write(struct.pack("<H", 0))  # e_shnum: the first section's sh_size says how many
		    file.seek(place + 0x20)
		    file.write(struct.pack("<Q", count))
		    file.truncate(place + 64 * count)
	END
	mkfifo input
	"$ASTERISM" run -f json -o out asked.rule -- "$PWD/hostile" storm 1 <input 3>&- &
	session=$!
	exec 9>input
	for _ in $(seq 500); do
		! grep -q '"match"' out 2>/dev/null || break
		sleep 0.02
	done
	peak=$(awk '/^VmHWM/ { print $2 }' /proc/$session/status)
	exec 9>&-
	wait "$session"
	session=
	holds out 'm and all("0x" in frame for frame in m[0]["stack"])'
	echo "$peak KiB"
	[ "$peak" -lt 300000 ]
}
