#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Profiles of a real program under valgrind, and what readers of callgrind's format say to what is written.

bats_require_minimum_version 1.5.0

load ../wait

# A probe in a library is a breakpoint, by which valgrind ends: others may look for something there just now.
simulate() {
	local program=$1
	shift
	valgrind -q --tool=callgrind --callgrind-out-file=simulation "$@" "$program" 2>complaints
}

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	cd "$BATS_TEST_TMPDIR"
}

# D. Christopeit, "Vervollstaendigung von Profile-Messungen durch Kombination", 2004, appendix D: the same function is
# called with more work by one caller than by another. In units of work: main 29, a 21, b 13, c 14, d 24.
appendix() {
	command -v valgrind >/dev/null || skip "valgrind is missing"
	cat >appendix.c <<-'END'
		#include <stdio.h>
		#define UNIT 2000
		static void dowork(long n)
		{
			volatile long i = 0;
			for (long k = 0; k < n; k++) { i++; i *= 50; i /= 10; i -= 42; i += 9; i = i / 40 + 23; }
		}
		static void d(int w) { dowork(w * UNIT); }
		static void c(int w) { dowork(UNIT); d(w); d(w); d(w); }
		static void b(int w) { dowork(UNIT); d(w); }
		static void a(int w) { dowork(UNIT); b(6 * w); c(w); }
		int main(void) { dowork(UNIT); a(2); c(2); return 0; }
	END
	cc -O0 -g -o appendix appendix.c
	wait_for simulate ./appendix "$@"
	printf '# period: 1\ndowork,29000\n' >samples
}

# How many points the farthest of the five is off, from a report in JSON.
off='
import json, sys
functions = {row["function"]: row["inclusive"] for row in json.load(sys.stdin)["functions"]}
units = {"main": 29, "a": 21, "b": 13, "c": 14, "d": 24}
print(max(abs(functions[name] / 1000 - units[name]) / 29 * 100 for name in units))'

farthest() {
	"$ASTERISM" profile complete "$@" samples simulation -o completed
	"$ASTERISM" profile report -f json completed | python3 -c "$off"
}

@test "the program of the thesis: quotients are right, numbers of calls are not" {
	appendix
	quotient=$(farthest)
	calls=$(farthest --by calls)
	echo "quotient $quotient points, calls $calls points"
	python3 -c "import sys; sys.exit(not ($quotient < 0.5 and $calls > 20))"
}

@test "the program of the thesis: contexts are right" {
	appendix --separate-callers=30
	contexts=$(farthest --by contexts)
	python3 -c "import sys; sys.exit(not $contexts < 0.5)"
}

@test "a simulation's own costs give what callgrind says" {
	appendix --dump-instr=yes --collect-jumps=yes --cache-sim=yes
	for name in main a b c d dowork; do
		said=$(callgrind_annotate --inclusive=yes --threshold=100 --show=Ir simulation |
			sed -nE "s/^ *([0-9,]+) .*:$name( .*)?\$/\\1/p" | tr -d , | sort -rn | head -1)
		"$ASTERISM" profile report -f json simulation |
			python3 -c "
import json, sys
found = [row['inclusive'] for row in json.load(sys.stdin)['functions'] if row['function'] == '$name']
print('$name', '$said', found)
# Its calls and what is called differ by some instructions of the dynamic linker.
sys.exit(abs(found[0] - float('$said')) > 1e-4 * found[0])"
	done
}

@test "callgrind_annotate reads what is exported without a word" {
	appendix
	"$ASTERISM" profile complete samples simulation -o completed
	"$ASTERISM" profile export completed -o callgrind.out.1
	callgrind_annotate --inclusive=yes callgrind.out.1 >annotated 2>complaints
	[ ! -s complaints ]
	! grep -i warning annotated
	grep -E '29,000 \(100.0%\).*main' annotated || grep -E '\(100.0%\).*:main' annotated
	"$ASTERISM" profile report -f json callgrind.out.1 | python3 -c "$off"
}

@test "a circle of two comes to no more than all" {
	command -v valgrind >/dev/null || skip "valgrind is missing"
	cat >circle.c <<-'END'
		static volatile long sum;
		static void leaf(void) { for (int i = 0; i < 20; i++) sum += i; }
		static int odd(int n);
		static int even(int n) { leaf(); return n ? odd(n - 1) : 1; }
		static int odd(int n) { return n ? even(n - 1) : 0; }
		int main(void) { return even(500) & 2; }
	END
	cc -O0 -o circle circle.c
	wait_for simulate ./circle
	"$ASTERISM" profile report -f json -v simulation | python3 -c '
import json, sys
report = json.load(sys.stdin)
assert all(row["inclusive"] <= report["total"] * 1.000001 for row in report["functions"])
assert {row["function"] for row in report["functions"] if row["in_cycle"]} >= {"even", "odd"}'
}

@test "a file that is only its owner's is written, and none is written over another's" {
	printf 'f,1\n' >samples
	"$ASTERISM" profile import samples -o written
	[ "$(stat -c %a written)" = 600 ]
	"$ASTERISM" profile import --mode 644 samples -o readable
	[ "$(stat -c %a readable)" = 644 ]
	run -2 "$ASTERISM" profile import samples -o missing/folder
	[[ "$output" == *"cannot write"* ]]
}

@test "a name cannot steer the terminal" {
	printf 'evil\033[2J,1\n' >samples
	"$ASTERISM" profile report samples >shown
	"$ASTERISM" profile report -f json samples >>shown
	! grep -q "$(printf '\033')" shown
	grep -q 'evil' shown
}

# Functions with names that JSON and XML have to be protected from: markup, quotes, controls, what is no character.
hostile_names() {
	printf 'events: Ir\nfn=main\n1 10\ncfn=<a href="x">&\ncalls=1 1\n1 30\ncfn=%b\ncalls=1 1\n1 60\n' \
		'\033]0;\xff\xef\xbf\xbf;\x27]]>' >hostile
	printf 'fn=<a href="x">&\n1 30\nfn=%b\n1 60\n' '\033]0;\xff\xef\xbf\xbf;\x27]]>' >>hostile
}

@test "what is exported for speedscope has its schema, and the costs" {
	hostile_names
	"$ASTERISM" profile export -t speedscope -o x.json hostile
	python3 - <<-'END'
		import json
		file = json.load(open("x.json", encoding="utf-8"))
		assert file["$schema"] == "https://www.speedscope.app/file-format-schema.json"
		assert set(file) <= {"$schema", "exporter", "name", "activeProfileIndex", "shared", "profiles"}
		frames = file["shared"]["frames"]
		for frame in frames:
		    assert isinstance(frame["name"], str) and set(frame) <= {"name", "file", "line", "col"}, frame
		profile = file["profiles"][file["activeProfileIndex"]]
		assert set(profile) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}
		assert profile["type"] == "sampled" and "estimated" in profile["name"]
		assert profile["unit"] in ("none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes")
		assert len(profile["samples"]) == len(profile["weights"])
		assert all(0 <= index < len(frames) for stack in profile["samples"] for index in stack)
		assert sum(profile["weights"]) == profile["endValue"] - profile["startValue"] == 100
		self = {}
		for stack, weight in zip(profile["samples"], profile["weights"]):
		    self[frames[stack[-1]]["name"]] = weight
		assert sorted(self.values()) == [10, 30, 60] and self["main"] == 10 and self['<a href="x">&'] == 30, self
	END
}

@test "a flame graph is XML without a program, whatever functions are called" {
	hostile_names
	"$ASTERISM" profile export -t svg -o x.svg hostile
	python3 - <<-'END'
		import xml.etree.ElementTree as tree
		svg, name = tree.parse("x.svg").getroot(), "{http://www.w3.org/2000/svg}"
		assert {element.tag for element in svg.iter()} == {name + tag for tag in ("svg", "g", "title", "rect", "text")}
		allowed = {"x", "y", "width", "height", "fill", "viewBox", "font-family", "font-size"}
		assert all(set(element.attrib) <= allowed for element in svg.iter())
		text = " ".join(svg.itertext())
		assert "stacks estimated" in text and '<a href="x">&, 30.00 %' in text and chr(27) not in text, text
		widths = sorted(float(group.find(name + "rect").get("width")) for group in svg.iter(name + "g"))
		assert [round(width) for width in widths] == [354, 708, 1180], widths
	END
}

# Fields of protobuf messages by number, and what a file for pprof says: {(function, object): self}, inclusive costs.
pprof_reader='
import gzip, sys
def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at
def fields(data):
    at, found = 0, {}
    while at < len(data):
        key, at = varint(data, at)
        assert key & 7 in (0, 2), key
        value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        found.setdefault(key >> 3, []).append(value)
    assert at == len(data)
    return found
def numbers(packed):
    at, found = 0, []
    while at < len(packed):
        number, at = varint(packed, at)
        found.append(number)
    return found
def read(file):
    raw = open(file, "rb").read()
    assert raw[4:8] == bytes(4), "it has the time in its head"
    top = fields(gzip.decompress(raw))
    strings = [text.decode("utf-8") for text in top[6]]
    assert strings[0] == "" and "estimated" in strings[top[13][0]]
    unit = strings[fields(top[1][0])[2][0]]
    by_id = lambda number: {row[1][0]: row for row in map(fields, top.get(number, []))}
    mappings, functions = by_id(3), by_id(5)
    names = {}
    for number, row in by_id(4).items():
        function = functions[fields(row[4][0])[1][0]]
        mapping = mappings[row[2][0]][5][0] if 2 in row else 0
        names[number] = (strings[function.get(2, [0])[0]], strings[mapping])
    own, inclusive = {}, {}
    for sample in map(fields, top[2]):
        stack = [names[number] for number in numbers(sample[1][0])]
        value = sample[2][0] / (float(unit[1:]) if unit[0] == "/" else 1)
        own[stack[0]] = own.get(stack[0], 0) + value
        for name in set(stack):
            inclusive[name] = inclusive.get(name, 0) + value
    return own, inclusive
'

@test "what is exported for pprof has the costs, and is the same each time" {
	hostile_names
	"$ASTERISM" profile export -t pprof -o x.pb.gz hostile
	"$ASTERISM" profile export -t pprof -o y.pb.gz hostile
	cmp x.pb.gz y.pb.gz
	python3 -c "$pprof_reader"'
own, inclusive = read("x.pb.gz")
assert own[("main", "")] == 10 and own[("<a href=\"x\">&", "")] == 30 and sum(own.values()) == 100, own
assert inclusive[("main", "")] == 100, inclusive'
}

@test "what is exported for pprof is read with the same costs" {
	cp "$BATS_TEST_DIRNAME"/../golden/profile/example/{samples.csv,simulation.out} .
	"$ASTERISM" profile complete samples.csv simulation.out -o completed
	"$ASTERISM" profile export -t pprof -o x.pb.gz completed
	"$ASTERISM" profile import x.pb.gz -o imported
	for file in completed imported; do
		"$ASTERISM" profile report -f json "$file" | python3 -c '
import json, sys
for row in sorted(json.load(sys.stdin)["functions"], key=lambda row: row["function"]):
    print(row["function"], row["object"], round(row["self"], 6), round(row["inclusive"], 6))' >"$file.rows"
	done
	[ "$(wc -l <completed.rows)" -eq 6 ]
	diff completed.rows imported.rows
}

@test "pprof reads what is exported" {
	cp "$BATS_TEST_DIRNAME"/../golden/profile/example/{samples.csv,simulation.out} .
	"$ASTERISM" profile complete samples.csv simulation.out -o completed
	"$ASTERISM" profile export -t pprof -o x.pb.gz completed
	"$ASTERISM" profile report -f json completed >report
	python3 -c "$pprof_reader"'
import json
own, inclusive = read("x.pb.gz")
for row in json.load(open("report"))["functions"]:
    name = row["function"], "example"
    assert abs(own[name] - row["self"]) < 1e-4 and abs(inclusive[name] - row["inclusive"]) < 1e-4, (row, own, inclusive)'
	pprof=$(command -v pprof || ls /usr/lib/go-*/pkg/tool/linux_*/pprof 2>/dev/null | tail -1)
	[ -n "$pprof" ] || skip "Go's pprof is missing: only the test's own reader has read it"
	"$pprof" -top -cum x.pb.gz >top
	grep -E '54\.79%.* 100% +a$' top
	grep -E '10\.96%.* 25\.48% +b$' top
	# What it writes itself is read.
	"$pprof" -proto -output again.pb.gz x.pb.gz
	"$ASTERISM" profile diff -f json again.pb.gz completed | grep -E '"delta": ?0(\.0)?[,}]'
}

@test "what perf script prints is a profile" {
	cat >busy.c <<-'END'
		static volatile long sum;
		__attribute__((noinline)) static void busy(long n) { for (long i = 0; i < n; i++) sum += i; }
		int main(void) { busy(500000000); return 0; }
	END
	cc -O1 -o busy busy.c
	perf record -q -F 500 -e task-clock -o flat ./busy 2>/dev/null || skip "perf record does not work here"
	perf record -q -g -F 500 -e task-clock -o stacks ./busy
	for data in flat stacks; do
		for fields in '' '-F ip,sym,dso' '-F comm,tid,time,event,ip,sym,dso,symoff'; do
			# shellcheck disable=SC2086 # two words
			perf script -i "$data" $fields >script 2>/dev/null
			"$ASTERISM" profile import script -o imported
			"$ASTERISM" profile report -f json imported | python3 -c '
import json, sys
report = json.load(sys.stdin)
assert report["samples"] > 5, report["samples"]
best = max(report["functions"], key=lambda row: row["self"])
assert best["function"] == "busy" and best["self"] > 0.8 * report["total"], best'
		done
	done
}

@test "gmon.out has the samples and calls that gprof shows" {
	command -v gprof >/dev/null || skip "gprof is missing"
	cat >called.c <<-'END'
		static volatile long sum;
		__attribute__((noinline)) void leaf(void) { for (long i = 0; i < 1000000; i++) sum += i; }
		__attribute__((noinline)) void middle(void) { leaf(); sum++; }
		int main(void) { for (int i = 0; i < 90; i++) { middle(); if (i % 3 == 0) leaf(); } return 0; }
	END
	cc -O1 -pg -o called called.c
	./called
	gprof -b -p called gmon.out >flat
	cat flat
	run -2 "$ASTERISM" profile report gmon.out
	[[ "$output" == *"import gmon.out PROGRAM"* ]]
	"$ASTERISM" profile import gmon.out called -o imported
	"$ASTERISM" profile report -f json imported >report
	"$ASTERISM" profile callers -f json leaf imported >callers
	"$ASTERISM" profile report -f json --unit seconds imported >seconds
	python3 - <<-'END'
		import json
		report, seconds = json.load(open("report")), json.load(open("seconds"))
		assert seconds["unit"] == "seconds" and abs(seconds["total"] * 100 - report["total"]) < 1e-3 * report["total"], seconds
		own = {row["function"]: row["self"] for row in report["functions"]}
		rows = [line.split() for line in open("flat") if line.split()[-1:] == ["leaf"]]
		assert rows and abs(own["leaf"] - float(rows[0][2]) * 100) < 1.01, (rows, own)
		callers = {row["function"]: row["calls"] for row in json.load(open("callers"))["callers"]}
		assert callers == {"middle": 90, "main": 30}, callers
	END
}

@test "each event type has its own deviation" {
	cat >simulation <<-'E'
		events: Ir
		fn=main
		1 10
		cfn=a
		calls=1 1
		2 100
		cfn=b
		calls=1 1
		3 200
		fn=a
		1 50
		cfn=leaf
		calls=5 1
		2 50
		fn=b
		1 100
		cfn=leaf
		calls=5 1
		2 100
		fn=leaf
		1 150
	E
	for i in $(seq 40); do
		printf 'w 1 1.%06d: 1000 task-clock: 1 leaf (/w)\nw 1 1.%06d: 3 page-faults: 1 leaf (/w)\nw 1 1.%06d: 3 page-faults: 1 a (/w)\n' $i $i $i
	done >samples
	"$ASTERISM" profile complete -o completed samples simulation 2>said
	"$ASTERISM" profile report -e page-faults -f json completed >report 2>said
	# 80 samples of 3: half of them surely in a, half with a third: n (sum w^2 p - (sum w p)^2) = 80 (5/9 - 4/9).
	python3 -c 'import json
rows = {row["function"]: row for row in json.load(open("report"))["functions"]}
assert abs(rows["a"]["deviation"] - 3 * (80 / 9) ** .5) < 1e-4, rows["a"]'
}

@test "20,000 functions of one name are attached to those of their objects, in a moment" {
	python3 - <<-'E'
		with open("simulation", "w") as out, open("samples", "w") as samples:
		    out.write("events: Ir\n\n")
		    samples.write("function,object,task-clock\n")
		    for i in range(20000):
		        out.write(f"ob=/o{i}\nfn=same\n1 {i % 7 + 1}\n" + (f"cob=/o{i - 1}\ncfn=same\ncalls=1 1\n1 5\n" if i else ""))
		        samples.write(f"same,/o{i},3\nsame@{i},/o{i},4\n")
	E
	timeout 20 "$ASTERISM" profile complete -o completed samples simulation 2>said
	"$ASTERISM" profile report -f json completed 2>said | python3 -c 'import json, sys
rows = json.load(sys.stdin)["functions"]
assert len(rows) == 20000 and all(row["self"] == 7 for row in rows), rows[:3]'
}

# Two functions; a sum over their events, whose name comes before the events' own.
sums() {
	cat >"$1" <<-'E'
		version: 1
		event: Ir : Instructions
		event: Sum = 2 Ir + 0x3*Dr : All of it
		event: Twice = Sum + Sum
		event: Loop = Ir + Loop
		event: Lost = Ir + Dw
		events: Ir Dr
		fn=main
		1 10 1
		cfn=leaf
		calls=1 1
		2 20 4
		fn=leaf
		1 20 4
	E
}

@test "an event type that is a sum of others is reported, and its callers are" {
	sums simulation
	"$ASTERISM" profile report -e Sum -f json simulation | python3 -c 'import json, sys
report = json.load(sys.stdin)
rows = {row["function"]: row for row in report["functions"]}
assert report["event"] == "Sum" and report["total"] == 75, report
assert rows["main"]["self"] == 23 and rows["main"]["inclusive"] == 75 and rows["leaf"]["inclusive"] == 52, rows'
	"$ASTERISM" profile report -e Twice -f json simulation | grep -E '"total": ?150(\.0)?[,}]'
	"$ASTERISM" profile callers -e Sum -f json leaf simulation | grep -E '"cost": ?52(\.0)?[,}]'
	"$ASTERISM" profile callers -e 'Misses = 10 Dr' -f json leaf simulation | grep -E '"cost": ?40(\.0)?[,}]'
	"$ASTERISM" profile annotate -e Sum -f json simulation leaf | grep -E '"self": ?52(\.0)?[,}]'
	sed 's/^1 10 1/1 20 1/' simulation >other
	"$ASTERISM" profile diff -e Sum -f json simulation other | grep -E '"total": ?95(\.0)?[,}]'
}

@test "a formula that is none, or that comes to itself, is told" {
	sums simulation
	run -2 "$ASTERISM" profile report -e Loop simulation
	[[ "$output" == *"the formula of 'Loop' comes to itself again, at 'Loop'"* ]]
	run -2 "$ASTERISM" profile report -e Lost simulation
	[[ "$output" == *"the formula of 'Lost' needs costs that the profile has not: 'Dw'"* ]]
	for formula in 'X = ' 'X = 2' 'X = Ir Dr' 'X = Ir - Dr' 'X = Ir +' 'X = 2**Ir' 'Ir = Dr'; do
		run -2 "$ASTERISM" profile report -e "$formula" simulation
		[[ "$output" == *"the formula of '"* ]]
	done
}

@test "sums outlive completing and writing, and callgrind_annotate shows them" {
	sums simulation
	printf 'function,object,Ir,Dr\n# event: Sum = 2 Ir + 3 Dr\nmain,,1,10\nleaf,,3,5\n' >samples
	"$ASTERISM" profile complete samples simulation -o completed 2>/dev/null
	"$ASTERISM" profile report -e Sum -f json completed 2>/dev/null | grep -E '"total": ?53(\.0)?[,}]'
	"$ASTERISM" profile export simulation -o callgrind.out.1
	grep -x 'event: Ir : Instructions' callgrind.out.1
	grep -x 'event: Sum = 2 Ir + 0x3\*Dr : All of it' callgrind.out.1
	"$ASTERISM" profile report -e Sum -f json callgrind.out.1 | grep -E '"total": ?75(\.0)?[,}]'
	"$ASTERISM" profile export -e Sum simulation -o callgrind.out.2
	! grep '^event:.*=' callgrind.out.2
	command -v callgrind_annotate >/dev/null || skip "callgrind_annotate is missing"
	for file in callgrind.out.1 callgrind.out.2; do
		callgrind_annotate --inclusive=yes --threshold=100 $file >annotated 2>complaints
		[ ! -s complaints ]
	done
	grep -E '^ *75 \(100.0%\).*main' annotated
	grep -E '^ *52 \(69.33%\).*leaf' annotated
}

@test "costs that are multiplied for callgrind's format are so in sums, too" {
	printf 'function,object,A,B\n# event: Sum = A + B\nmain,,1.5,10\nleaf,,3,5\n' >samples
	"$ASTERISM" profile export samples -o callgrind.out.1
	"$ASTERISM" profile report -e Sum -f json callgrind.out.1 >sum
	"$ASTERISM" profile report -e A -f json callgrind.out.1 >a
	python3 -c 'import json
total = [json.load(open(name))["total"] for name in ("sum", "a")]
assert total[0] * 4.5 == total[1] * 19.5, total'
	"$ASTERISM" profile export -t csv -e Sum samples | grep -x '"main","",11.5'
}
