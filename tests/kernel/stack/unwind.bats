#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# CALL Stack() in programs without frame pointers: a copy of the stack is unwound. Needs root.

bats_require_minimum_version 1.5.0

load ../../wait

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	plant="$(dirname "$ASTERISM")/../../tests/kernel/plant-bare"
	framed="$(dirname "$ASTERISM")/../../tests/kernel/plant-stack"
	cd "$BATS_TEST_TMPDIR"
	echo 'RULE asked PATTERN { sys_enter_getpgid:a } WHERE { a.target_pid == 4000001 } DO { CALL Stack() }' >asked.rule
	sed 's/ DO .*//' asked.rule >probe.rule
	needs_asterism run -q probe.rule -- true
}

teardown() {
	[ -z "${session:-}" ] || kill -KILL "$session" 2>/dev/null || true
}

# `holds EXPRESSION`: it is true of m, the matches in out; f: the first one's frames as names of functions, or the files
# in which they have none.
holds() {
	python3 -c 'import json, re, sys
lines = [json.loads(line) for line in open("out")]
m = [line for line in lines if "match" in line]
def name(frame):
    known = re.match(r"(0x[0-9a-f]+|(\w+)\+0x[0-9a-f]+)(?: \(.*/([^/]*)\).*)?$", frame)
    return known.group(2) or known.group(3) or known.group(1)
f = [name(frame) for frame in m[0]["stack"]] if m else None
if not eval(sys.argv[1]):
    print(sys.argv[1], "does not hold of", lines[:5], f)
    sys.exit(1)' "$1"
}

# `observed COUNT ARGUMENTS...`: asterism run with them writes to out; the program that it observes, which waits for the
# end of its input, goes on when COUNT matches are there.
observed() {
	local count=$1
	shift
	rm -f input out
	mkfifo input
	"$ASTERISM" run -f "${form:-json}" -o out "$@" <input 3>&- &
	session=$!
	exec 9>input
	for _ in $(seq 500); do
		[ ! -e out ] || [ "$(grep -c asked out)" -lt "$count" ] || break
		sleep 0.02
	done
	exec 9>&-
	wait "$session"
	session=
}

# What is above main is the C library's, and has names where there is debugging information of it.
called="f[:4] == ['getpgid', 'bare_planted_ask', 'bare_planted_outer', 'main'] and f[-1] == '_start' and len(f) >= 6"
unwound="m[0]['stack_by'] == 'unwinding' and 'stack_end' not in m[0]"

@test "who called the C library, down to the beginning of the program" {
	observed 1 asked.rule -- "$plant" ask
	holds "$called"
	holds "$unwound"
	holds 'm[0]["calls"] == [{"function": "Stack", "args": [], "done": True, "by": "kernel"}]'
}

@test "a program with frame pointers has its whole stack, too" {
	observed 1 asked.rule -- "$framed" storm 1
	holds "f[:3] == ['stack_planted_ask', 'stack_planted_outer', 'main'] and f[-1] == '_start'"
	holds "$unwound"
}

@test "a stripped program: places in its file" {
	cp "$plant" bare
	strip --strip-all bare
	observed 1 asked.rule -- "$PWD/bare" ask
	holds "f[:4] == ['getpgid', 'bare', 'bare', 'bare'] and f[-1] == 'bare' and len(f) >= 6"
	holds "$unwound"
}

@test "a thread, and a handler of a signal" {
	observed 1 asked.rule -- "$plant" thread
	holds "f[:4] == ['getpgid', 'bare_planted_ask', 'bare_planted_outer', 'bare_planted_thread'] and len(f) in (5, 6)"
	holds "$unwound"
	observed 1 asked.rule -- "$plant" signal
	holds "f[:4] == ['getpgid', 'bare_planted_ask', 'bare_planted_outer', 'bare_planted_handler']"
	holds "'main' in f[5:] and f[-1] == '_start'"
	holds "$unwound"
}

@test "Python" {
	[ -x /usr/bin/python3 ] || skip "there is no /usr/bin/python3"
	observed 1 asked.rule -- /usr/bin/python3 -c 'import os, sys
try: os.getpgid(4000001)
except OSError: sys.stdin.read()'
	holds "f[0] == 'getpgid' and 'PyEval_EvalCode' in f and 'Py_BytesMain' in f and len(f) >= 10"
	holds "$unwound"
	holds "all(' (/' in frame for frame in m[0]['stack'])"
}

@test "the beginning of a function, by a probe" {
	printf 'EVENT asked {}\nFROM uprobe:"%s:bare_planted_ask" {}\n' "$(realpath "$plant")" >reached.events
	printf 'EVENTS "reached.events"\nRULE asked_up PATTERN { asked } DO { CALL Stack() }\n' >reached.rule
	observed 1 reached.rule -- "$plant" ask
	holds "f[:3] == ['bare_planted_ask', 'bare_planted_outer', 'main']"
	holds "$unwound"
}

@test "a stack beyond the copy is cut, and says so" {
	observed 1 asked.rule -- "$plant" wide 12
	holds "f[3:5] == ['bare_planted_wide', 'main'] and f[-1] == '_start'"
	holds "$unwound"
	observed 1 asked.rule -- "$plant" wide 40
	holds "f == ['getpgid', 'bare_planted_ask', 'bare_planted_outer', 'bare_planted_wide']"
	holds "m[0]['stack_by'] == 'unwinding' and m[0]['stack_end'] == 'stack cut at 16 KiB'"
	form=text observed 1 asked.rule -- "$plant" wide 40
	grep -A5 asked out | grep -qx '    \.\.\. stack cut at 16 KiB'
}

@test "no more than 32 functions" {
	observed 1 asked.rule -- "$plant" deep 10
	holds "f.count('bare_planted_deep') == 11 and f[-1] == '_start'"
	holds "$unwound"
	observed 1 asked.rule -- "$plant" deep 10000
	holds "len(f) == 32 and f[3:] == ['bare_planted_deep'] * 29"
	holds "m[0]['stack_end'] == 'stack cut at 32 functions'"
}

@test "a stack pointer where nothing is" {
	[ "$(uname -m)" = x86_64 ] || skip "the program does that on x86-64 only"
	observed 1 asked.rule -- "$plant" nowhere
	holds "f == ['main'] and re.fullmatch('stack ends where 0x7[0-9a-f]{3} could not be read', m[0]['stack_end'])"
}

@test "unwind information that leads nowhere ends somewhere" {
	[ "$(uname -m)" = x86_64 ] || skip "the program does that on x86-64 only"
	observed 1 asked.rule -- "$plant" circle
	holds "len(f) == 32 and set(f) == {'bare_planted_circle'}"
	holds "m[0]['stack_end'] == 'stack cut at 32 functions'"
	observed 1 asked.rule -- "$plant" maze
	holds "f[0] == 'bare_planted_maze' and 'stack_end' in m[0]"
}

# What it says is nonsense then; that the session goes on, and says something of every frame, is what counts.
@test "damaged unwind information is survived" {
	python3 - "$plant" <<-'END'
		import random, re, subprocess, sys
		good = open(sys.argv[1], "rb").read()
		rows = subprocess.run(["readelf", "-SW", sys.argv[1]], capture_output=True, text=True).stdout
		pick = random.Random(1)
		for number in range(16):
		    bad = bytearray(good)
		    for row in re.finditer(r"\.eh_frame(?:_hdr)? +PROGBITS +\w+ (\w+) (\w+)", rows):
		        start, size = int(row[1], 16), int(row[2], 16)
		        for _ in range(3 * number + 2):
		            bad[pick.randrange(start, start + size)] = pick.randrange(256)
		    open(f"bad{number}", "wb").write(bad)
	END
	chmod +x bad*
	for bad in bad*; do
		observed 1 asked.rule -- "$PWD/$bad" ask
		holds 'len(m) == 1 and 1 <= len(m[0]["stack"]) <= 32 and m[0]["calls"][0]["done"]'
	done
}

@test "without unwind information frame pointers are all there is, and the output says so" {
	cp "$framed" framed
	objcopy --remove-section .eh_frame --remove-section .eh_frame_hdr framed 2>/dev/null
	observed 1 asked.rule -- "$PWD/framed" storm 1
	holds "f[:3] == ['stack_planted_ask', 'stack_planted_outer', 'main']"
	holds "re.match('partly by frame pointers: /.*/framed has no unwind information for 0x', m[0]['stack_end'])"
	cp "$framed" other
	chown 65534 other
	observed 1 asked.rule -- "$PWD/other" storm 1
	holds "f[:3] == ['stack_planted_ask', 'stack_planted_outer', 'main']"
	holds "re.match('partly by frame pointers: /.*/other is writable by other users', m[0]['stack_end'])"
	SUDO_UID=65534 observed 1 asked.rule -- "$PWD/other" storm 1
	holds "$unwound"
}

@test "a file that was replaced after the start is not taken for the one that runs" {
	cp "$plant" bare
	cp "$framed" other
	cat >replace <<-'END'
		{ until [ -e replaced ]; do sleep 0.02; done; cat; } <&0 | ./bare later &
		until [ "$(readlink /proc/$!/exe)" = "$PWD/bare" ]; do sleep 0.02; done
		mv other bare
		touch replaced
		wait
	END
	(until [ -e replaced ]; do sleep 0.02; done; echo; sleep 1) | "$ASTERISM" run -f json -o out asked.rule -- bash replace
	holds "$called"
}

@test "a process that has ended meanwhile: what it had mapped is known" {
	for _ in $(seq 4); do
		"$ASTERISM" run -f json -o out asked.rule -- "$plant" last </dev/null || true
		holds "len(m) == 1 and $called"
		holds "$unwound"
	done
	# A child has what its parent mapped, a program that is begun next has nothing of the one before.
	"$ASTERISM" run -f json -o out asked.rule -- /usr/bin/python3 -c 'import os
if not os.fork():
    try: os.getpgid(4000001)
    except OSError: os._exit(0)
os.wait()
try: os.getpgid(4000001)
except OSError: os.execl("/bin/true", "true")'
	holds "len(m) == 2 and m[0]['pid'] != m[1]['pid'] and all('Py_BytesMain' in str(x['stack']) for x in m)"
	holds "all(x['stack_by'] == 'unwinding' and 'stack_end' not in x for x in m)"
}

@test "a process that had mapped everything before, and has ended: what frame pointers said" {
	mkfifo go
	"$plant" later <go 3>&- &
	observed=$!
	exec 8>go
	"$ASTERISM" run -v -f json -o out -p "$observed" asked.rule 2>said 3>&- 8>&- &
	session=$!
	wait_for grep -q observing said
	# It looks when the process has ended.
	kill -STOP "$session"
	echo >&8
	exec 8>&-
	wait "$observed"
	kill -CONT "$session"
	wait "$session" || true
	session=
	holds "len(m) == 1 and m[0]['stack_by'] == 'frame pointers' and f[0].startswith('0x')"
	holds "m[0]['stack_end'] == 'by frame pointers: its process has ended, or runs another program'"
}
