#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Costs by line of a program that is sampled and simulated, and by address where it is stripped.

bats_require_minimum_version 1.5.0

load ../wait

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	cd "$BATS_TEST_TMPDIR"
	cat >work.c <<-'END'
		#include <stdlib.h>
		#define PLACE __attribute__((noinline, noclone))
		static long unit;
		static PLACE void spin(long n)
		{
			for (volatile long i = 0; i < n * unit; i++)
				;
		}
		PLACE void shared(long n) { spin(n); }
		PLACE void thrice(void)
		{
			for (volatile long i = 0; i < 3 * unit; i++)
				;
			shared(3);
			shared(6);
		}
		int main(int n, char **v) { unit = n > 1 ? atol(v[1]) : 20000; thrice(); return 0; }
	END
	cc -g -O1 -o work work.c
}

recorded() {
	"$ASTERISM" profile record -F 2000 -e task-clock -o samples -- "$@" 2>why || skip "nothing is sampled here: $(cat why)"
}

# valgrind ends at somebody else's probe in libc, which is gone soon.
simulated() {
	command -v valgrind >/dev/null || skip "valgrind is missing"
	wait_for "$ASTERISM" profile simulate -o simulation -- "$@"
}

# Whether lines of all functions come to what report says of them; prints lines of the function as LABEL SHARE.
lines() {
	"$ASTERISM" profile report -f json "$1" >report 2>said
	"$ASTERISM" profile annotate -f json "$1" >annotated 2>said
	python3 - "$2" <<-'END'
		import json, sys
		report, annotated = json.load(open("report")), json.load(open("annotated"))
		own = {(row["function"], row["object"]): row["self"] for row in report["functions"] if row["self"] > 0}
		assert {(row["function"], row["object"]) for row in annotated["functions"]} == set(own)
		for row in annotated["functions"]:
		    total = sum(line["self"] for line in row["lines"])
		    # Numbers are written with six digits.
		    assert abs(total - own[row["function"], row["object"]]) <= 1e-5 * total, row
		    if row["function"] == sys.argv[1]:
		        for line in row["lines"]:
		            print(line.get("file", "").split("/")[-1], line.get("line", line.get("address")),
		                  round(100 * line["self"] / row["self"]),
		                  *(call["function"] + "/" + str(round(call["calls"])) for call in line.get("calls", [])))
	END
}

@test "samples have lines, with the text of the source; sums are those of the report" {
	recorded ./work 40000000
	lines samples spin >shown
	cat shown
	grep -E '^work.c 6 (9.|100)$' shown
	"$ASTERISM" profile annotate samples spin >text
	grep -E ' work.c:6 .*for \(volatile long i = 0; i < n \* unit; i\+\+\)' text
}

@test "a simulation has lines, and calls made from them; a completed profile has both" {
	recorded ./work 40000000
	simulated ./work 100000
	lines simulation thrice >shown
	cat shown
	grep -E '^work.c 12 (9.|100)$' shown
	grep -E '^work.c 14 0 shared/1$' shown
	grep -E '^work.c 15 0 shared/1$' shown
	"$ASTERISM" profile complete -o completed samples simulation 2>said
	lines completed thrice >shown
	cat shown
	grep -E '^work.c 12 (9.|100)$' shown
	"$ASTERISM" profile annotate -f json completed thrice | python3 -c '
import json, sys
calls = {line["line"]: line["calls"][0]["cost"] for line in json.load(sys.stdin)["functions"][0]["lines"] if "calls" in line}
assert 1.98 < calls[15] / calls[14] < 2.02, calls'
}

@test "a stripped program has addresses in its file" {
	strip work
	recorded ./work 40000000
	simulated ./work 100000
	"$ASTERISM" profile complete -o completed samples simulation 2>said
	"$ASTERISM" profile annotate completed >shown 2>said
	grep -E 'work\+0x[0-9a-f]+$' shown
	grep 'work has no debugging information of lines' said
	lines completed none
}

@test "lines of another build are not shown" {
	recorded ./work 40000000
	{ echo; cat work.c; } >moved.c
	cc -g -O1 -o work moved.c
	"$ASTERISM" profile annotate samples spin >shown 2>said
	grep -E 'work\+0x[0-9a-f]+$' shown
	! grep 'c:6' shown
	grep 'its build ID differs from the one in the profile' said
}

@test "sources that are missing, too large, no files or newer are said to be" {
	printf 'events: Ir\nfl=%s\nfn=%s\n1 10\n' missing.c a large.c b fifo c folder d >simulation
	truncate -s 17M large.c
	mkfifo fifo
	mkdir folder
	timeout 10 "$ASTERISM" profile annotate simulation >shown 2>said
	cat said
	grep '4 source files could not be read, such as' said
	[ "$(grep -c 'self cost of' shown)" = 4 ]
	printf 'events: Ir\nob=%s\nfl=%s\nfn=f\n3 10\n' "$PWD/work" "$PWD/work.c" >simulation
	touch -d '+1 hour' work.c
	"$ASTERISM" profile annotate simulation >shown 2>said
	grep 'static long unit' shown
	grep '1 source file is newer than the program' said
}

# callgrind_annotate takes the export without a word, and shows lines of work.c; the sums are those of the report.
exported() {
	"$ASTERISM" profile export -t callgrind -o callgrind.out.1 "$1" 2>said
	callgrind_annotate --auto=yes --threshold=100 callgrind.out.1 >annotated 2>complaints
	[ ! -s complaints ]
	! grep -i warning annotated
	python3 - <(sed -n '/^events:/,$p' callgrind.out.1) <<-'END'
		import sys
		said, total, is_call = {}, 0, False
		for line in open(sys.argv[1]):
		    key, _, value = line.strip().partition(": ")
		    if key in ("summary", "totals"):
		        said[key] = int(value.split()[0])
		    elif line[0].isdigit():
		        total += 0 if is_call else int(line.split()[1])
		        is_call = False
		    else:
		        is_call = line.startswith("calls=") or is_call
		assert said["summary"] == said["totals"] == total, (said, total)
	END
}

@test "an export to callgrind has lines: of samples, of a simulation, and of both" {
	command -v callgrind_annotate >/dev/null || skip "needs valgrind (tools/packages.txt)"
	recorded ./work 40000000
	simulated ./work 100000
	"$ASTERISM" profile complete -o completed samples simulation 2>said
	for profile in samples simulation completed; do
		exported "$profile"
		grep -E '^ *[0-9,]+ \([0-9. ]+%\)  .*for \(volatile long i = 0; i < n \* unit; i\+\+\)$' annotated
		[ $profile = samples ] || grep -A1 -E '^ .*shared\(6\);$' annotated | grep -E '=> .*work.c:shared \(1x\)$'
	done
	# What is exported has the lines that the profile has.
	"$ASTERISM" profile import callgrind.out.1 -o imported
	lines imported thrice >shown
	grep -E '^work.c 12 (9.|100)$' shown
	grep -E '^work.c 15 0 shared/1$' shown
	# Without debugging information, and of a part of a function, the cost is at no line; nothing gets lost.
	strip -o bare work
	"$ASTERISM" profile record -F 2000 -e task-clock -o samples -- ./bare 40000000 2>why
	exported samples
	grep 'bare has no debugging information of lines: costs there are at no line' said
	grep -E '^0 [0-9]+$' callgrind.out.1
}

@test "parts of a cost that are not whole, or more than it, come to the cost when they are exported" {
	command -v callgrind_annotate >/dev/null || skip "needs valgrind (tools/packages.txt)"
	cat >parts <<-'END'
		# asterism profile
		positions: line
		events: Ir
		ob=/nowhere/a
		fl=/nowhere/a.c
		fn=f
		1 1000000.5
		spot=2 - 0.25
		sfl=/nowhere/b.h
		spot=3 - 333333.4
		spot=4 - 333333.4
		cfn=g
		calls=3 7
		1 10.5
		from=3 - 2 7.2
		from=4 - 2 7.2
		fn=g
		7 10.5
		spot=8 - 700
	END
	exported parts
	diff - <(grep -E '^(f[ln]|fi|fe|[0-9]|calls|totals)' callgrind.out.1 | sed 's/([0-9]*) *//') <<-'END'
		fl=/nowhere/a.c
		fn=f
		fi=/nowhere/b.h
		3 3333334
		4 3333334
		fe=
		1 3333337
		fi=
		calls=2 7
		3 72
		calls=1 7
		4 33
		fl=
		fn=
		fi=
		8 105
		totals: 10000110
	END
}

@test "a profile with wrong spots is refused, and none is taken for another function's" {
	head='# asterism profile\nevents: Ir\nfn=f\n0 10\n'
	for line in 'spot=1' 'spot=x - 1' 'spot=1 -5 1' 'spot=1 - 1 2' 'spot=1 0x 1' 'from=1 - 1 1'; do
		printf "$head$line\\n" >wrong
		run "$ASTERISM" profile annotate wrong
		echo "$line: $output"
		case $line in
		'spot=1') [ "$status" = 2 ] ;;
		*) [ "$status" = 2 ] ;;
		esac
	done
	printf '# asterism profile\nevents: Ir\nspot=1 - 1\n' >wrong
	run -2 "$ASTERISM" profile annotate wrong
}

@test "both runs say of which build their objects are, and complete says where these differ" {
	recorded ./work 40000000
	simulated ./work 40000
	grep -E "^desc: build-id $PWD/work: [0-9a-f]{40}$" samples
	[ "$(grep "build-id $PWD/work:" samples)" = "$(grep "build-id $PWD/work:" simulation)" ]
	"$ASTERISM" profile complete -o completed samples simulation 2>said
	! grep build-id said
	grep "build-id $PWD/work:" completed
	callgrind_annotate simulation 2>complaints >annotated
	[ ! -s complaints ]
	cc -g -O1 -DOTHER -Wl,--build-id=0x12345678 -o work work.c
	simulated ./work 40000
	"$ASTERISM" profile complete -o completed samples simulation 2>said
	grep "the runs differ in build-id $PWD/work: '.*' was sampled, '12345678' was simulated" said
	[ "$(grep -c 'differ in build-id' said)" = 1 ]
}
