#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What is written is for its owner, and takes the place of nobody else's: every command with -o FILE.

bats_require_minimum_version 1.5.0
load ../wait

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	export ASTERISM_CATALOGS=${ASTERISM_CATALOGS:-$BATS_TEST_DIRNAME/../../catalogs}
	cd "$BATS_TEST_TMPDIR"
	echo 'EVENT note { text: string } RULE every PATTERN { note:a } RETURN { a.text AS text }' >every.rule
	echo '{"ts":1,"event":"note","text":"seen"}' >events.jsonl
	"$(dirname "$ASTERISM")/../../tests/trace/make-trace" -n 6 t
}

# `peak ARGUMENT...`: runs asterism and says how many KiB were resident at most.
peak() {
	python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$ASTERISM" "$@"
}

# `write COMMAND OPTION...`: has the command write a result.
write() {
	case $1 in
	compile) "$ASTERISM" compile every.rule "${@:2}" ;;
	header) "$ASTERISM" compile --header every.rule "${@:2}" ;;
	replay) "$ASTERISM" replay -q every.rule events.jsonl "${@:2}" ;;
	dump) "$ASTERISM" dump t "${@:2}" ;;
	esac
}

mode() {
	stat -c %a "$1"
}

# `refused COMMAND FILE WHY`
refused() {
	run --separate-stderr -2 write "$1" -o "$2"
	[ "$stderr" = "asterism: error: cannot write $2: $3" ]
}

@test "a new file is for its owner alone, whatever the umask, unless --mode says otherwise" {
	for command in compile header replay dump; do
		(umask 0 && write $command -o out)
		[ "$(mode out)" = 600 ]
		[ -s out ]
		rm out
		(umask 077 && write $command -o out --mode 644)
		[ "$(mode out)" = 644 ]
		rm out
	done
}

@test "--mode takes modes for files only" {
	for text in 0 7 640x rw 400 755 1600 -600 ''; do
		run --separate-stderr -2 write dump -o out --mode "$text"
		[ "${stderr_lines[0]}" = "asterism: error: --mode: invalid file mode '$text'" ]
		[ ! -e out ]
	done
}

@test "an own file is overwritten, and is for its owner then" {
	for command in compile header replay dump; do
		seq 10000 >out
		chmod 644 out
		write $command -o out
		[ "$(mode out)" = 600 ]
		write $command -o new
		cmp out new
		rm new
	done
}

@test "a symbolic link is not followed" {
	echo mine >target
	ln -s target link
	ln -s missing dangling
	for command in compile header replay dump; do
		refused $command link "it is a symbolic link, and links are not followed: name its target"
		refused $command dangling "it is a symbolic link, and links are not followed: name its target"
	done
	[ "$(cat target)" = mine ]
	[ ! -e missing ]
	mkdir folder
	ln -s folder way # only the last component counts
	write dump -o way/out
	[ -s folder/out ]
}

@test "what belongs to somebody else, or has other names, stays as it is" {
	echo mine >file
	ln file other
	for command in compile header replay dump; do
		refused $command file "it has more than one hard link and will not be overwritten"
	done
	[ "$(cat file)" = mine ]
	refused dump /dev/full/x "Not a directory"
	mkdir folder
	refused dump folder "Is a directory"
	[ "$(id -u)" = 0 ] || skip "needs root for more"
	rm other
	chown nobody file
	chmod 666 file
	for command in compile header replay dump; do
		refused $command file "it belongs to another user and will not be overwritten"
	done
	[ "$(cat file)" = mine ]
}

@test "a pipe that nobody reads, and a socket, are refused rather than waited for" {
	mkfifo pipe
	python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
	refused dump pipe "no process is reading this pipe: start its reader first"
	for command in compile header replay dump; do
		refused $command socket "it is not a regular file, pipe or character device"
	done
}

@test "pipes, devices and descriptors work as everywhere" {
	for command in compile header replay dump; do
		write $command -o out
		write $command -o /dev/stdout | cmp - out
		write $command -o - | cmp - out
		write $command -o /dev/stderr 2>&1 >/dev/null | cmp - out
		write $command -o /dev/null
		[ -c /dev/null ]
		mkfifo pipe
		write $command -o pipe 3>&- &
		cmp pipe out
		wait $!
		rm pipe
		write $command -o >(cat >copy)
		wait_for cmp -s copy out
		write $command -o /dev/fd/5 5>through
		cmp through out
		echo before >appended
		write $command -o /dev/stdout >>appended
		{ echo before && cat out; } | cmp - appended
		rm out copy
	done
	[ -e /dev/stdout ]
}

@test "report: a file whose ending names no form is refused, with the forms that there are" {
	for file in page.png trace.d/page.pdf; do
		run --separate-stderr -2 "$ASTERISM" report -o "$file" t
		[ "${stderr_lines[0]}" = "asterism: error: reports cannot be written as .${file##*.}: $file" ]
		[[ ${stderr_lines[1]} == "help: use .txt, .json, .csv, .html, .svg or .dot; "* ]]
		[ ! -e "$file" ]
	done
}

@test "report: a name without an ending is text, and -f decides for any name" {
	mkdir some.d
	"$ASTERISM" report -o some.d/page t
	"$ASTERISM" report -f text -o page.svg t
	cmp some.d/page page.svg
}

@test "report: the pictures in the docs are those of these traces; where they differ write them anew" {
	root=$BATS_TEST_DIRNAME/../..
	for report in path processes; do
		"$ASTERISM" report --only $report -f svg "$root/tests/golden/report/path/trace.jsonl" | cmp - "$root/docs/pictures/$report.svg"
	done
	"$ASTERISM" report --only waits -f svg "$root/tests/report/pictures-waits.jsonl" | cmp - "$root/docs/pictures/waits.svg"
}

@test "what a command reads is not written to, and no file twice" {
	printf '%s\n' '{"event":"sched_process_exec","ts":1,"cpu":0,"pid":7,"tid":7,"comm":"a","filename":"/bin/a","old_pid":7}' >events.jsonl
	cp events.jsonl before
	cp -r t t.before
	ln events.jsonl linked
	for to in events.jsonl ./events.jsonl linked; do
		for option in --chrome --folded --perfetto --speedscope "-f json -o"; do
			run --separate-stderr -2 "$ASTERISM" report $option "$to" events.jsonl
			[[ ${stderr_lines[0]} == "asterism: error: refusing to overwrite $to: this command reads it, or a file inside it" ]]
			cmp before events.jsonl
		done
	done
	run --separate-stderr -2 "$ASTERISM" dump -f json -o events.jsonl events.jsonl
	cmp before events.jsonl
	for file in t/*; do
		run --separate-stderr -2 "$ASTERISM" report --folded "$file" t
		run --separate-stderr -2 "$ASTERISM" report -f text -o "$file" t
	done
	diff -r t t.before
	"$ASTERISM" report -o t/page.html t
	run --separate-stderr -2 "$ASTERISM" report --chrome same --folded ./same t
	[[ ${stderr_lines[0]} == "asterism: error: ./same and same are the same file" ]]
	run --separate-stderr -2 "$ASTERISM" report --only overview -o same --chrome same t
	"$ASTERISM" report --chrome /dev/null --folded /dev/null t
}

@test "report: pictures are XML whatever threads are called, and the least number is a result" {
	python3 - <<-'END'
		import json
		head = {"cpu": 0, "pid": 7, "tid": 7, "comm": "a\ufffeb\uffffc"}
		print(json.dumps({"event": "sched_process_exec", "ts": 1, **head, "filename": "/bin/a", "old_pid": 7}), file=open("odd.jsonl", "w"))
		with open("odd.jsonl", "a") as file:
		    args = {f"arg{i}": 0 for i in range(6)}
		    print(json.dumps({"event": "sys_enter", "ts": 2, **head, "id": 1, **args}), file=file)
		    print(json.dumps({"event": "sys_exit", "ts": 3, **head, "id": 1, "ret": -2**63}), file=file)
	END
	"$ASTERISM" report --only processes -o odd.svg odd.jsonl
	python3 -c 'import xml.dom.minidom; assert "a?b?c" in xml.dom.minidom.parse("odd.svg").documentElement.toxml()'
	run -0 "$ASTERISM" report --only syscalls -f csv odd.jsonl
	[[ $output == *',"write",0,'* ]]
}

@test "report: a page keeps to --size, whatever the trace, and says what its tables omit" {
	root=$BATS_TEST_DIRNAME/../..
	while read -r threads events size; do
		python3 "$root/tests/report/large.py" "$threads" "$events" 8 "$threads" >large.jsonl
		run --separate-stderr -0 "$ASTERISM" report --size "$size" -o page.html large.jsonl
		[ "$stderr" = "" ]
		(($(stat -c %s page.html) <= $(numfmt --from=iec "$size"))) || { ls -l page.html; echo "$threads $events $size"; false; }
		rows=$("$ASTERISM" report --only interruptions -f csv large.jsonl | grep -c ^interruptions,interruptions,)
		shown=$(sed -n '/What interrupted them/,/<.table>/p' page.html | grep -c ^'<tr><td')
		grep -qF "$((rows - shown)) more rows: asterism report --only interruptions -f csv<" page.html
	done <<-END
		1000 40000 1M
		4000 20000 2M
		40 40000 300K
	END
}

@test "report: a page that cannot keep to --size says so" {
	python3 "$BATS_TEST_DIRNAME/../report/large.py" 3000 3001 >large.jsonl
	run --separate-stderr -0 "$ASTERISM" report --size 60K -o page.html large.jsonl
	[[ $stderr == "asterism: warning: the page has $(stat -c %s page.html) bytes, more than --size: "* ]]
}

@test "report: memory does not grow with what is kept: pairs of threads, past intervals, exact slices" {
	! grep -q __asan_init "$ASTERISM" || skip "a sanitised program keeps what it frees: its memory tells nothing"
	python3 "$BATS_TEST_DIRNAME/../report/large.py" 1500 400000 >large.jsonl
	run -0 peak report --only interruptions -f csv -o pairs.csv large.jsonl
	((output < 24000)) || { echo "$output KiB"; false; }
	(($(grep -c ^interruptions,interruptions, pairs.csv) > 100000))
	# 64 MiB and 300 bytes for each thread is the limit of longer traces, too: bench/run --only report-memory
	run -0 peak report -o page.html large.jsonl
	((output < 60000)) || { echo "$output KiB"; false; }
	# A page is the same where no file can be made for what memory has no room for.
	TMPDIR=/nowhere "$ASTERISM" report -o same.html large.jsonl
	cmp page.html same.html
}

@test "report: memory does not grow with the pages that faults are on" {
	! grep -q __asan_init "$ASTERISM" || skip "a sanitised program keeps what it frees: its memory tells nothing"
	# Each process comes back to pages of which other ones have pushed the counts out of memory.
	python3 - >faults.jsonl <<-'END'
		import json
		for i in range(600_000):
		    pid, page = 7 + i % 3, i * 7 % 250_000
		    print(json.dumps({"event": "page_fault_user", "ts": 1000 + i, "cpu": 0, "pid": pid, "tid": pid, "comm": "a",
		                      "address": page << 12 | i % 4096, "ip": i % 100_000 if i % 2 else 4096, "error_code": 6}))
	END
	run -0 peak report --only faults -f csv -o faults.csv faults.jsonl
	((output < 24000)) || { echo "$output KiB"; false; }
	python3 - <<-'END'
		import collections, csv
		pages, places = collections.defaultdict(set), collections.Counter()
		for i in range(600_000):
		    pages[7 + i % 3].add(i * 7 % 250_000)
		    places[7 + i % 3, i % 100_000 if i % 2 else 4096] += 1
		rows = [line for line in csv.reader(open("faults.csv"))]
		shown = {row[2]: int(row[-1]) for row in rows if row[:2] == ["faults", "processes"] and row[-1].isdigit()}
		assert sorted(shown.values()) == sorted(map(len, pages.values())), (shown, {pid: len(of) for pid, of in pages.items()})
		most = [int(row[-1]) for row in rows if row[:2] == ["faults", "places"] and row[-1].isdigit()]
		assert most == [count for _, count in places.most_common(100)], most
	END
}
