#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Whatever is printed, of whomever it comes: nothing that a terminal obeys, nothing that turns the direction of text, and
# JSON is JSON. Text in any script stays as it is.

bats_require_minimum_version 1.5.0

# ESC, a C1 control as UTF-8 and as a raw byte, overrides and isolates, marks, separators, bytes that are no UTF-8, and é漢.
odd=$'\033]0;x\a\302\233\233\342\200\256\342\201\246\342\200\217\330\234\342\200\250\377\177é漢'

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	export ASTERISM_CATALOGS=${ASTERISM_CATALOGS:-$BATS_TEST_DIRNAME/../../catalogs}
	cd "$BATS_TEST_TMPDIR"
	python3 - <<'END'
import json
odd = "\x1b]0;x\a\x9b\u202e\u2066\u200f\u061c\u2028\x7f\u00e9\u6f22"
def event(name, ts, **more):
    return json.dumps({"event": name, "ts": ts, "cpu": 0, "pid": 1, "tid": 2, "comm": "c\x1b\x9b\u202e\"\\é"} | more)
with open("e.jsonl", "w") as out:
    print(event("note", 1000, text=odd + "\" x=\"\\"), file=out)
    print(event("note", 2000, text=odd), file=out)
with open("odd.rule", "w") as out:
    out.write('EVENT note { text: string }\n'
              'RULE every PATTERN { note:a } RETURN { a.text AS t } DO { CALL Message("said \u202e{}", a.text);'
              ' CALL Count("c\u202e") }\n'
              'RULE same PATTERN { note:a } WHERE { a.text == "\\033\\302\\233\\377\u202e\u2066\u200f\u061cé漢" }\n'
              'RULE whole PATTERN { note:a } RETURN SEQUENCE\n'
              'MACHINE m KEY { tid } STATE S { ON note { WARN "warns \u202e{text}" } }\n')
END
}

# `clean [json]`: standard input is UTF-8 without anything that must not reach a terminal; lines of JSON where it says so.
clean() {
	python3 -IS -c 'import json, sys
data = sys.stdin.buffer.read()
text = data.decode()
bad = [c for c in text if (ord(c) < 32 and c not in "\n\t") or 0x7f <= ord(c) < 0xa0 or c in "\u061c\u200e\u200f" or 0x2028 <= ord(c) <= 0x202e or 0x2066 <= ord(c) <= 0x206f]
assert text and not bad, (bad, text[:2000])
if "json" in sys.argv:
    for line in text.splitlines():
        json.loads(line)
sys.stdout.write(text)' "$@"
}

# `shown COMMAND...`: what it prints, on both outputs, is clean; left in the file shown.
shown() {
	"$ASTERISM" "$@" >raw 2>&1 || true
	clean <raw >shown
}

shown_json() {
	"$ASTERISM" "$@" >raw 2>messages || true
	clean json <raw >shown
}

@test "matches, messages, warnings and counters" {
	shown replay odd.rule e.jsonl
	grep -qF 't="\033]0;x\007\302\233\342\200\256\342\201\246' shown
	grep -q 'é漢' shown
	grep -qF 'text="' shown
	grep -qF '\" x=\"\\"' shown
	grep -qF 'c\033\302\233\342\200\256\"\\é' shown
	shown replay -v odd.rule e.jsonl
	shown_json replay -f json odd.rule e.jsonl
	python3 -c 'import json
texts = [json.loads(line)["return"]["t"] for line in open("shown") if json.loads(line).get("match") == "every"]
assert texts[1] == "\x1b]0;x\a\x9b\u202e\u2066\u200f\u061c\u2028\x7f\u00e9\u6f22", texts'
}

@test "dump and stat of a trace: names, columns, strings, bytes that are no UTF-8" {
	"$(dirname "$ASTERISM")/../../tests/trace/make-trace" -n 6 t
	python3 - <<'END'
import glob
for name in glob.glob("t/stream_*"):
    data = open(name, "rb").read()
    data = data.replace(b"/tmp/file", b"\x1b\x9b\xff\xe2\x80\xae\"\\").replace(b"task100", b"t\x9b\xff\xc2\x9b\"\\")
    open(name, "wb").write(data)
END
	shown dump t
	grep -qF 't\233\377\302\233\"\\  ' shown
	grep -qF 'name="\033\233\377\342\200\256\"\\' shown
	shown_json dump -f json t
	shown stat t
	shown_json stat -f json t
	for command in dump stat; do
		shown $command "no$odd"
		shown $command -e "x$odd" t
		shown $command --catalog "no$odd" t
	done
}

@test "rules: their errors, places, names of files, explanations" {
	cp odd.rule "odd$odd.rule"
	for command in check explain "explain -f dot"; do
		shown $command odd.rule
		shown $command "odd$odd.rule"
		shown $command "$odd"
	done
	shown_json check -f json "odd$odd.rule"
	[ "$(wc -l <shown)" = 4 ]
	[[ $(head -1 shown) == *'"name":"every"'* ]]
	shown_json explain -f json odd.rule
	printf 'RULE "%s PATTERN\n' "$odd" >bad.rule
	shown check bad.rule
	printf 'EVENTS "%s"\nRULE r PATTERN { %s:a }\n' "$odd" "$odd" >bad.rule
	shown check bad.rule
	shown check --set "a$odd=1" odd.rule
	shown "$odd"
	shown check "--$odd"
	shown replay odd.rule "$odd"
	shown events "$odd"
	shown compile odd.rule -o "no$odd/x"
}

@test "a name of a file cannot look like a message" {
	run -2 "$ASTERISM" check $'x\nasterism: error: all is lost'
	[ ${#lines[@]} = 1 ]
	run -2 "$ASTERISM" replay odd.rule e.jsonl -o $'no/x\nasterism: error: all is lost'
	[ ${#lines[@]} = 2 ]
	[[ ${lines[1]} != asterism:* ]]
}

@test "catalogs and libraries of others" {
	mkdir catalogs rules rules/odd
	cp "$ASTERISM_CATALOGS"/*.events catalogs/
	printf 'EVENT zzz_odd "%s" { x: u8 UNIT ns "%s" }\n' $'\302\233\342\200\256é' $'\302\233\342\200\256é' >>catalogs/tcp.events
	ASTERISM_CATALOGS=$PWD/catalogs shown events -v 'zzz_*'
	grep -q é shown
	cp odd.rule rules/odd/odd.rule
	printf '# odd: %s\n\nFinds %s\n' "$odd" "$odd" >rules/odd/README.md
	export ASTERISM_RULES=$PWD/rules
	shown rules odd
	shown rules
	shown_json rules -f json
	shown_json rules -f json odd
}

@test "tests of rules: what they say" {
	mkdir -p r/tests
	cp odd.rule r/r.rule
	for name in one "t$odd"; do
		cp e.jsonl "r/tests/$name.jsonl"
		echo '{"match":"none"}' >"r/tests/$name.expect"
	done
	for format in text tap; do
		shown test -f $format -v r
	done
	shown_json test -f json -v r
}

@test "a line of a message is one write" {
	echo 'RULE r PATTERN { [sys_enter_read:a, sys_exit_nothing:b] } WHERE { a.fd = 3 }' >bad.rule
	python3 - "$ASTERISM" <<-'END'
		import socket, subprocess, sys
		ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)  # keeps writes apart
		done = subprocess.run([sys.argv[1], "check", "bad.rule"], stderr=theirs, timeout=30)
		theirs.close()
		writes = list(iter(lambda: ours.recv(65536), b""))
		assert done.returncode == 2 and len(writes) > 2, (done, writes)
		assert all(one.endswith(b"\n") for one in writes), writes
	END
}
