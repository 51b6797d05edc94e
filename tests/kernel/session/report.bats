#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Reports of what was really recorded: every interval as an independent computation has it, sums as the kernel counts.

bats_require_minimum_version 1.5.0

setup()
{
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	root=$BATS_TEST_DIRNAME/../../..
	[ "$(id -u)" = 0 ] || skip "needs root"
	programs=${ASTERISM_TEST_PROGRAMS:-$root/build/tests/kernel}
	cd "$BATS_TEST_TMPDIR" || return
}

# `record_waits TRACE WITH COMMAND...`: its waits; WITH is "probes" in its locks, or "none".
record_waits()
{
	local trace=$1 with=$2 more=()
	shift 2
	[ "$with" = none ] || more=(--catalog "$root/catalogs/pthread.events" -e 'pthread_mutex_*,pthread_cond_wait*')
	timeout 60 $ASTERISM record -q --for-report "${more[@]}" -o "$trace" -- "$@" || [ $? = 142 ]
	$ASTERISM report --only waits -f json -o "$trace.json" "$trace"
}

# `record_locks TRACE WITH ARGUMENT...`: what plant-locks does with these.
record_locks() { record_waits "$1" "$2" "$programs/plant-locks" "${@:3}"; }

# `record_together TRACE WITH ARGUMENTS...`: what several of it do at once; TRACE.pids has a line `PID ARGUMENTS` for each.
record_together()
{
	record_waits "$1" "$2" sh -c 'for arguments; do "$0" $arguments & echo "$! $arguments"; done >'"$1.pids; wait" \
		"$programs/plant-locks" "${@:3}"
	[ "$(wc -l <"$1.pids")" = $(($# - 2)) ]
}

@test "states of a random workload are those of another computation, and sums the kernel's" {
	timeout 120 $ASTERISM record -o trace -- python3 "$root/tests/report/workload.py" 1 7 stat
	python3 "$root/tests/report/states.py" $ASTERISM trace --schedstat stat --tick 10000000
}

@test "calls, faults, processes, waits, interruptions, rates and sequences are those of another computation" {
	timeout 120 $ASTERISM record -q --for-report -o trace -- python3 "$root/tests/report/workload.py" 0.5 11
	run python3 "$root/tests/report/naive.py" $ASTERISM trace syscalls faults processes waits interruptions rates sequences
	[[ $status = 0 && $output == *" 0 tables wrong" ]] || { echo "$output"; false; }
}

@test "the processes of a command as pictures: a name that attacks is text in them" {
	cat >attack.py <<-'END'
		import os
		for name in ('</title><x>', '"];evil [', "a&b\\\xff", "\u202e\x1b[2J"):
		    child = os.fork()
		    if not child:
		        open("/proc/self/comm", "wb").write(name.encode("latin-1", "replace"))
		        os._exit(0)
		    os.waitpid(child, 0)
	END
	timeout 60 $ASTERISM record -q --for-report -o trace -- python3 attack.py
	$ASTERISM report --only processes -o tree.svg trace
	$ASTERISM report --only processes -o tree.dot trace
	python3 - <<-'END'
		import re, xml.dom.minidom
		tree = xml.dom.minidom.parse("tree.svg").documentElement
		texts = [node.firstChild.data for node in tree.getElementsByTagName("text")]
		assert any(text.startswith("</title><x>") for text in texts), texts
		assert not tree.getElementsByTagName("x") and len(tree.getElementsByTagName("rect")) >= 6
		text = open("tree.dot", encoding="utf-8").read()
		assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e]", text), text
		quoted = re.sub(r'"(\\.|[^"\\])*"', "TEXT", text)
		assert "evil" not in quoted and quoted.count('"') == 0 and quoted.count("->") >= 4, quoted
	END
}

@test "rates of another pair of events; a pair that is none" {
	timeout 60 $ASTERISM record -q --for-report -o trace -- sh -c 'for i in 1 2 3 4 5; do sleep 0.02; done'
	$ASTERISM report --only rates --pair sched_process_exec,sched_process_exit -f json trace >rates.json
	python3 - <<-'END'
		import json
		tables = json.load(open("rates.json"))["reports"]["rates"]["tables"]
		totals = tables["totals"][0]
		assert totals["count"] >= 6 and totals["waiting_ns"] > 5 * 15e6 > totals["running_ns"] / 10, totals
		assert sum(row["ended"] for row in tables["rates"]) == totals["count"], tables
	END
	$ASTERISM report --only rates -o rates.svg trace
	python3 -c 'import xml.dom.minidom; assert xml.dom.minidom.parse("rates.svg").getElementsByTagName("polyline").length == 2'
	run -0 $ASTERISM report --only rates --pair nothing,never trace
	[[ $output == *"The trace has no complete pair: choose other events with --pair BEGIN,END."* ]]
	run -2 $ASTERISM report --pair sys_enter trace
	[[ $output == *"--pair needs the names of two events: sys_enter"* ]]
}

@test "marks of rules are listed where they fired" {
	cat >exec.rule <<-'END'
		RULE second PATTERN { [sched_process_exec:a, sched_process_exec:b] } WHERE { [pid] } RETURN { b.filename AS file }
	END
	timeout 60 $ASTERISM record -q --rules exec.rule --for-report -o trace -- sh -c 'exec sh -c "exec true"'
	$ASTERISM report --only matches -f json trace >matches.json
	python3 - <<-'END'
		import json
		tables = json.load(open("matches.json"))["reports"]["matches"]["tables"]
		assert tables["rules"][0]["rule"] == "second" and tables["rules"][0]["count"] == len(tables["matches"]) >= 1, tables
		assert all("bin/" in row["values"] for row in tables["matches"]), tables
	END
	run -0 $ASTERISM report --only matches --redact trace
	[[ $output != *"bin/"* ]]
}

@test "rules that run over a trace are in its report as their matches live were" {
	cat >exec.rule <<-'END'
		RULE second PATTERN { [sched_process_exec:a, sched_process_exec:b] } WHERE { [pid] } RETURN { b.filename AS file }
	END
	timeout 60 $ASTERISM record -q --rules exec.rule --for-report -o trace -- sh -c 'exec sh -c "exec true"'
	$ASTERISM report --only matches -f json trace >marks.json
	$ASTERISM report --only matches --rules exec.rule -f json trace >both.json
	python3 - <<-'END'
		import json
		marks, both = (json.load(open(name))["reports"]["matches"]["tables"] for name in ("marks.json", "both.json"))
		assert both["rules"][0]["count"] == 2 * marks["rules"][0]["count"] > 0, both
		# the rules and the recording each read the clock at an event
		of_rules = [row for row in both["matches"] if row not in marks["matches"]]
		for mark, match in zip(marks["matches"], of_rules, strict=True):
		    assert mark["thread"] == match["thread"] and abs(mark["time_ns"] - match["time_ns"]) < 1e6, both
		    assert json.loads(mark["values"])["return"] == json.loads(match["values"])["return"], both
	END
	python3 -c 'for i in range(1, 70001): print("""{"event":"A","ts":%d,"cpu":0,"pid":1,"tid":1,"comm":"a"}""" % i)' >many.jsonl
	echo 'EVENT A { }' >a.events
	echo 'EVENT A { } RULE each PATTERN { A:a }' >each.rule
	run -3 --separate-stderr $ASTERISM report --only matches --catalog a.events --rules each.rule -f csv many.jsonl
	[[ $stderr == *"4464 later matches are not in the report, which holds 65536"* ]]
	run -2 $ASTERISM report --rules exec.rule -
	[[ $output == *"which standard input does not allow"* ]]
	run -2 $ASTERISM report --rules nothing.rule trace
	run -2 $ASTERISM report --rules @deadlock trace
	[[ $output == *"was not recorded"* ]]
}

@test "other viewers get every slice, every switch and every wake-up" {
	timeout 120 $ASTERISM record -q --for-report -o some -- python3 "$root/tests/report/workload.py" 0.3 5
	python3 "$root/tests/report/exports.py" $ASTERISM some some
	python3 "$root/tests/report/workload.py" 2 5 3>&- & # the machine may have nothing else to do
	timeout 120 $ASTERISM record -q -a --for-report --for 1s -o whole
	wait $!
	python3 "$root/tests/report/exports.py" $ASTERISM whole whole
	run -0 --separate-stderr $ASTERISM report --folded out.folded some
	[ -z "$output" ]
	run -0 --separate-stderr $ASTERISM report --folded out.folded --only overview some
	[[ $output == "Overview:"* ]]
	run -2 $ASTERISM report --chrome /dev/full some
	[[ $output == *"cannot write /dev/full: No space left on device"* ]]
	run -2 $ASTERISM report --chrome /nowhere/out some
	[[ $output == *"/nowhere/out"* ]]
}

@test "paths of a random workload are those of another computation, without gaps" {
	for seed in 11 12; do
		timeout 120 $ASTERISM record -q --for-report -o trace$seed -- python3 "$root/tests/report/workload.py" 0.3 $seed
		run -0 python3 "$root/tests/report/naive.py" $ASTERISM trace$seed path
		[[ $output == *" 0 tables wrong" ]]
	done
}

@test "the path of a thread that waits for one that waits for a third is that of the third, then the second" {
	cat >chain.py <<-'END'
		import os, time
		def name(text):
		    open("/proc/self/comm", "w").write(text)
		def spin(seconds):
		    until = time.monotonic() + seconds
		    while time.monotonic() < until:
		        pass
		second, third = os.pipe(), os.pipe()
		if not os.fork():
		    name("second")
		    if not os.fork():
		        name("third")
		        spin(0.1)
		        time.sleep(0.15)
		        spin(0.05)
		        os.write(third[1], b"x")
		        os._exit(0)
		    os.read(third[0], 1)
		    spin(0.08)
		    os.write(second[1], b"x")
		    os._exit(0)
		name("first")
		os.read(second[0], 1)
		spin(0.06)
	END
	cat >judge.py <<-'END'
		import json
		tables = json.load(open("path.json"))["reports"]["path"]["tables"]
		rows = tables["path"]
		assert all(a["end_ns"] == b["begin_ns"] for a, b in zip(rows, rows[1:]))
		length = rows[-1]["end_ns"] - rows[0]["begin_ns"]
		assert sum(row["sum_ns"] for row in tables["reasons"]) == length
		def joined(pieces):
		    found = []
		    for who, what, ns in pieces:
		        if found and found[-1][:2] == [who, what]:
		            found[-1][2] += ns
		        else:
		            found.append([who, what, ns])
		    return found
		chain = joined((row["thread"]["comm"], "busy" if row["what"] in ("running", "ready") else row["what"],
		                row["took_ns"]) for row in rows)
		chain = joined(piece for piece in chain if piece[2] >= 10000000)
		wanted = [["third", "busy"], ["third", "timer"], ["third", "busy"], ["second", "busy"], ["first", "busy"]]
		assert [piece[:2] for piece in chain[-5:]] == wanted, chain
		least = [0.1, 0.15, 0.05, 0.08, 0.06]
		assert all(piece[2] >= 0.95e9 * ns for piece, ns in zip(chain[-5:], least)), chain
	END
	# That asterism leaves a processor is not recorded: on a busy machine who comes then may be unknown for a while.
	for attempt in 1 2 3; do
		rm -rf trace
		timeout 60 $ASTERISM record -q --for-report -o trace -- python3 chain.py
		$ASTERISM report --only path -f json trace >path.json
		python3 judge.py && break
		[ $attempt != 3 ]
	done
	$ASTERISM report --only path -o path.svg trace
	python3 - <<-'END'
		import xml.dom.minidom
		picture = xml.dom.minidom.parse("path.svg").documentElement
		names = {node.firstChild.data.split()[0] for node in picture.getElementsByTagName("text")}
		assert {"first", "second", "third", "running", "timer"} <= names, names
		assert not any(node.hasAttribute("style") for node in picture.getElementsByTagName("*"))
	END
}

@test "priorities and inversions of a command are those of another computation, and the planted ones" {
	cat >prio.py <<-'END'
		import os, time
		def name(text):
		    open("/proc/self/comm", "w").write(text)
		def real_time(priority):
		    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
		def spin(seconds):
		    until = time.monotonic() + seconds
		    while time.monotonic() < until:
		        pass
		os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
		urgent, begun = os.pipe(), os.pipe()
		if not os.fork():
		    name("urgent")
		    real_time(20)
		    os.write(urgent[1], b"x")
		    os.read(begun[0], 1)
		    for priority in (20, 2, 20):
		        real_time(priority)
		        for i in range(10):
		            time.sleep(0.01)
		    os._exit(0)
		if not os.fork():
		    name("hog")
		    os.read(urgent[0], 1)
		    real_time(5)
		    os.write(begun[1], b"x")
		    spin(0.25)
		    os._exit(0)
		os.wait(); os.wait()
	END
	timeout 60 $ASTERISM record -q --for-report -o trace -- python3 prio.py
	run -0 python3 "$root/tests/report/naive.py" $ASTERISM trace priorities path
	[[ $output == *" 0 tables wrong" ]]
	$ASTERISM report --only priorities -f json trace >prio.json
	python3 - <<-'END'
		import json
		tables = json.load(open("prio.json"))["reports"]["priorities"]["tables"]
		urgent, = [row for row in tables["threads"] if row["thread"]["comm"] == "urgent"]
		assert urgent["first"] >= 100 and urgent["changes"] >= 3, urgent
		times = {row["prio"] for row in tables["times"] if row["thread"]["comm"] == "urgent"}
		assert times == {urgent["first"], 97, 79}, times
		behind = [row for row in tables["inversions"] if row["thread"]["comm"] == "urgent"]
		assert any((row["prio"], row["behind"]["comm"], row["behind_prio"]) == (79, "hog", 94) for row in behind), behind
		assert all(row["prio"] < row["behind_prio"] for row in tables["inversions"])
	END
	$ASTERISM report --only priorities -o prio.svg trace
	python3 -c 'import xml.dom.minidom
texts = [node.firstChild.data for node in xml.dom.minidom.parse("prio.svg").documentElement.getElementsByTagName("text")]
assert any(text.startswith("urgent") for text in texts) and "rt 20" in texts, texts'
}

@test "circles of 2, 3 and 5 threads: with probes who has what is proved, without them suspected" {
	record_together proved probes "joined 2" "joined 3" "joined 5"
	record_together suspected none "joined 2" "joined 3" "joined 5"
	python3 - <<-'END'
		import json
		for proof in "proved", "suspected":
		    tables = json.load(open(f"{proof}.json"))["reports"]["waits"]["tables"]
		    assert len(tables["circles"]) == 3, tables
		    for line in open(f"{proof}.pids"):
		        pid, length = (int(word) for word in line.split() if word != "joined")
		        members = [member for member in tables["members"] if member["thread"]["pid"] == pid]
		        number, = {member["circle"] for member in members}
		        circle, = [row for row in tables["circles"] if row["circle"] == number]
		        assert (circle["length"], circle["proof"], circle["count"]) == (length, proof, 1), circle
		        assert circle["most_ns"] > 500_000_000 and circle["end"] in ("signal", "threads ended"), circle
		        tids = [member["thread"]["tid"] for member in members]
		        assert len(set(tids)) == len({member["object"] for member in members}) == length, members
		        assert all(member["object"].startswith("mutex ") for member in members), members
		        holders = [member["holder"] and member["holder"]["tid"] for member in members]
		        assert holders == (tids[1:] + tids[:1] if proof == "proved" else [None] * length), members
		        edges = [row for row in tables["edges"] if row["thread"]["pid"] == pid]
		        joins = [row for row in edges if row["object"].startswith("join ")]
		        assert len(joins) == 1 and joins[0]["thread"]["tid"] == pid, joins
	END
	python3 "$root/tests/report/naive.py" $ASTERISM proved waits
	python3 "$root/tests/report/naive.py" $ASTERISM suspected waits
}

@test "circles of made-up programs are those that their locks are in" {
	python3 "$root/tests/report/locks.py" $ASTERISM 1 60
}

@test "programs that live have no circle, however long they wait for locks" {
	for with in none probes; do
		record_together $with $with "ring 3" "ring 2" orderly "convoy 50" handed "one 4"
		python3 - $with <<-'END'
			import json, sys
			with_ = sys.argv[1]
			tables = json.load(open(f"{with_}.json"))["reports"]["waits"]["tables"]
			assert not tables["circles"], tables
			for line in open(f"{with_}.pids"):
			    assert any(row["process"]["pid"] == int(line.split()[0]) for row in tables["objects"]), (with_, line, tables)
		END
	done
}

@test "threads that stand while the first one sleeps are no proof: it may have their locks" {
	record_locks trace none circle 2
	record_locks probed probes circle 2
	python3 - <<-'END'
		import json
		circles = [json.load(open(f"{name}.json"))["reports"]["waits"]["tables"]["circles"] for name in ("trace", "probed")]
		assert not circles[0], circles
		assert [(row["length"], row["proof"]) for row in circles[1]] == [(2, "proved")], circles
	END
}

@test "the graph of waits: threads wait for the same mutex, the first one joins them" {
	record_locks trace none convoy 400
	$ASTERISM report --only waits -o waits.dot trace
	$ASTERISM report --only waits -o waits.svg trace
	python3 - <<-'END'
		import json, re, xml.dom.minidom
		tables = json.load(open("trace.json"))["reports"]["waits"]["tables"]
		mutexes = [row for row in tables["objects"] if row["object"].startswith("mutex ")]
		assert mutexes[0]["threads"] == 4 and mutexes[0]["proof"] == "suspected", mutexes
		joined = [row["holder"]["tid"] for row in tables["objects"] if row["object"].startswith("join ")]
		waiters = {row["thread"]["tid"] for row in tables["edges"] if row["object"] == mutexes[0]["object"]}
		assert len(waiters) == 4 and joined and set(joined) <= waiters, (joined, waiters)
		pairs = [row for row in tables["pairs"] if row["reason"] == "mutex"]
		assert pairs and all(row["waiter"]["tid"] in waiters and row["waker"]["tid"] in waiters for row in pairs), pairs
		text = open("waits.dot").read()
		diamond = re.search(rf'(o\d+) \[shape=diamond, label="{mutexes[0]["object"]} ', text)[1]
		assert len(re.findall(rf"t\d+ -> {diamond} ", text)) == 4 and "red" not in text, text
		assert re.search(rf"{diamond} -> t\d+ \[style=dashed\]", text), text
		tree = xml.dom.minidom.parse("waits.svg").documentElement
		assert len(tree.getElementsByTagName("polygon")) == len(tables["objects"])
		assert "#cc0000" not in open("waits.svg").read()
	END
}

@test "what is drawn of waits has at most 300 nodes and says what is not; a circle of a thousand threads is found" {
	python3 - >big.jsonl <<-'END'
		import json
		ts = 0
		def put(event, tid, **fields):
		    global ts
		    ts += 1000
		    print(json.dumps({"event": event, "ts": ts, "cpu": 0, "pid": 100, "tid": tid, "comm": '"];evil ["<x>', **fields}))
		for i in range(1000):
		    put("pthread_mutex_lock", 100 + i, mutex=4096 + 64 * i, caller=0)
		    put("pthread_mutex_lock_return", 100 + i, ret=0)
		for i in range(1000):
		    address = 4096 + 64 * ((i + 1) % 1000)
		    put("pthread_mutex_lock", 100 + i, mutex=address, caller=0)
		    put("sys_enter", 100 + i, id=202, arg0=address, arg1=128, arg2=2, arg3=0, arg4=0, arg5=0)
	END
	$ASTERISM report --only waits -f json -o big.json big.jsonl
	$ASTERISM report --only waits -o big.dot big.jsonl
	$ASTERISM report --only waits -o big.svg big.jsonl
	python3 - <<-'END'
		import json, re, xml.dom.minidom
		tables = json.load(open("big.json"))["reports"]["waits"]["tables"]
		circle, = tables["circles"]
		assert (circle["length"], circle["proof"], circle["end"], circle["end_ns"]) == (1000, "proved", "stands", None), circle
		tids = [row["thread"]["tid"] for row in tables["members"]]
		assert tids == list(range(100, 1100)), tids
		text = open("big.dot").read()
		quoted = re.sub(r'"(\\.|[^"\\])*"', "TEXT", text)
		assert "evil" not in quoted and '"' not in quoted
		nodes = len(re.findall(r"shape=(?:box|diamond)", quoted))
		drawn = len(re.findall(r"t\d+ -> o\d+ .*color=red", quoted))
		assert 250 < nodes <= 300, nodes
		assert f"{1000 - drawn} more waits are not drawn" in text, drawn
		tree = xml.dom.minidom.parse("big.svg").documentElement
		assert not tree.getElementsByTagName("x")
		assert any("more waits are not drawn" in node.firstChild.data for node in tree.getElementsByTagName("text"))
	END
}

# `record_queue TRACE PROGRAM`: a producer and a consumer.
record_queue()
{
	timeout 120 $ASTERISM record -q --for-report -o "$1" -- "$2" queue 20
}

@test "threads have the names of the functions that they began with, from the program's symbols" {
	cp "$programs/plant-locks" program
	record_queue trace "$PWD/program"
	run -0 $ASTERISM report --only waits,processes trace
	[[ $output =~ "consumer "[0-9]+"  condition" && $output =~ "  producer "[0-9]+"  condition" ]]
	[[ $output =~ "program "[0-9]+ && $output != *"start functions"* ]]
	$ASTERISM report --only waits -o waits.dot trace
	[[ $(<waits.dot) =~ label=\"consumer\ [0-9]+\" && $(<waits.dot) == *label=\"producer\ * ]]
	$ASTERISM report -f json -o named.json trace
	$ASTERISM report -o page.html trace
	$ASTERISM report --redact -o redacted.html trace
	python3 - <<-'END'
		import base64, json, re, zlib

		def functions(name):
		    page = open(name, encoding="utf-8").read()
		    assert name == "page.html" or "consumer" not in page
		    meta = re.search(r'id="meta">([^<]*)<', page).group(1)
		    return {name for name in json.loads(zlib.decompress(base64.b64decode(meta), -15))["threads"]["function"]}

		assert functions("page.html") == {"", "producer", "consumer"}
		assert functions("redacted.html") == {""}
		reports = json.load(open("named.json"))["reports"]
		threads = reports["processes"]["tables"]["threads"]
		assert [row["function"] for row in threads] == ["producer", "consumer"], threads
		for row in reports["waits"]["tables"]["edges"]:
		    is_first = row["thread"]["tid"] == row["thread"]["pid"]
		    assert row["function"] in ([None] if is_first else ["producer", "consumer"]), row
		assert any(row["function"] == "consumer" for row in reports["waits"]["tables"]["edges"])
	END
	for form in text csv dot json; do
		run -0 $ASTERISM report --redact --only waits -f $form trace
		[[ $output != *consumer* && $output != *"start functions"* ]]
	done
	# Those that are no threads of the process, and those behind a gap, did not begin with what was announced.
	$ASTERISM dump -f json trace >told.jsonl
	sed 's/\("sched_process_fork".*"child_pid":\)\([0-9]*\),"child_tgid":[0-9]*/\1\2,"child_tgid":\2/' told.jsonl >forked.jsonl
	sed 's/^{"event":"sched_process_fork",/{"lost":1}\n&/' told.jsonl >lossy.jsonl
	[[ $($ASTERISM report --only waits told.jsonl) == *"consumer "* ]]
	run -0 $ASTERISM report --only waits forked.jsonl
	[[ $output != *"consumer "* && $output == *"program "* ]]
	run -3 $ASTERISM report --only waits lossy.jsonl
	[[ $output != *"consumer "* && $output =~ "program "[0-9]+"  condition" ]]
	echo >>program # it is not what was recorded
	run -0 $ASTERISM report --only waits,processes trace
	[[ $output != *"consumer "* && ${output//$'\n'/ } == *"The start functions of 2 threads are unknown: "* ]]
}

@test "a stripped program: its threads are shown without functions, and that is said" {
	strip --strip-all -o stripped "$programs/plant-locks"
	record_queue trace ./stripped
	run -0 $ASTERISM report --only waits trace
	[[ $output =~ "stripped "[0-9]+ && $output != *"producer "* && $output != *"consumer "* ]]
	[[ ${output//$'\n'/ } == *"The start functions of 2 threads are unknown: "* ]]
}

@test "where the C library cannot be probed, and without --for-report, threads have no functions" {
	cp -r "$root/catalogs" catalogs
	sed -i 's/"lib\(c\|pthread\)\.so\.[0-9]:pthread_create"/"libnone.so.1:pthread_create"/' catalogs/linux.events
	ASTERISM_CATALOGS=$PWD/catalogs record_queue trace "$programs/plant-locks"
	timeout 120 $ASTERISM record -q -o usual -- "$programs/plant-locks" queue 2
	for made in trace usual; do
		run -0 $ASTERISM report --only waits $made
		[[ $output != *"consumer "* && ${output//$'\n'/ } == *"are unknown: the trace has no thread_made (use record --for-report)."* ]]
	done
}

@test "where events are missing, waits and holders are forgotten, and that is said" {
	timeout 60 $ASTERISM record -q --for-report --catalog "$root/catalogs/pthread.events" -e 'pthread_mutex_*' -o trace -- \
		taskset -c 0 "$programs/plant-locks" joined 2 || [ $? = 142 ]
	python3 - <<-'END'
		import struct
		with open("trace/stream_0", "r+b") as file:
		    stream, at, packets = file.read(), 0, []
		    while at < len(stream):
		        packets.append(at)
		        at += struct.unpack_from("<Q", stream, at + 56)[0] // 8
		    assert len(packets) > 2
		    for at in packets[-2:]:  # the last one only says when the recording ended
		        file.seek(at + 64)
		        file.write(struct.pack("<Q", 7))
	END
	run -3 $ASTERISM report --only waits -f json -o lossy.json trace
	run -3 $ASTERISM report --only waits trace
	[[ ${output//$'\n'/ } == *"are forgotten at each gap of missing events (1 times)"*" waits are not counted: the trace does not have their return."* ]]
	[[ $output != *"mutex 0"* ]]
	python3 - <<-'END'
		import json
		tables = json.load(open("lossy.json"))["reports"]["waits"]["tables"]
		circle, = tables["circles"]
		assert circle["proof"] == "proved" and circle["end"] is None and circle["most_ns"] < 500_000_000, circle
	END
}

@test "a program that stands: waits without an end, and those from before the recording, are said" {
	cat >stand.py <<-'END'
		import threading
		lock = threading.Lock()
		lock.acquire()
		thread = threading.Thread(target=lock.acquire, daemon=True)
		thread.start()
		open("ready", "w").close()
		thread.join()
	END
	run -143 timeout 60 $ASTERISM record -q --for-report --for 3s -o trace -- /usr/bin/python3 -SE stand.py
	run -0 $ASTERISM report --only waits trace
	[[ ${output//$'\n'/ } == *" waits do not end in the trace: they are counted up to its end, at "*"."* ]]
	# No event came while it stood: the waits last to the end of the recording all the same.
	$ASTERISM report --only waits -f json -o standing.json trace
	python3 - <<-'END'
		import json
		edges = json.load(open("standing.json"))["reports"]["waits"]["tables"]["edges"]
		assert max(edge["most_ns"] for edge in edges) > 1_500_000_000, edges
	END
	# A recording without the calls that threads are in: for what they wait cannot be told.
	rm ready
	/usr/bin/python3 -SE stand.py 3>&- &
	pid=$!
	for i in {1..100}; do [ -e ready ] || sleep 0.1; done
	sleep 0.2
	timeout 60 $ASTERISM record -q --for-report -e '!call_state' --for 200ms -p $pid -o attached
	kill $pid
	run -0 $ASTERISM report --only waits attached
	[[ ${output//$'\n'/ } == *"2 threads waited from before the recording until its end"* ]]
}

@test "a recording of a program that hangs already says for what its threads wait, and finds the circle" {
	(trap '' ALRM; exec "$programs/plant-locks" joined 3) 3>&- &
	pid=$!
	# Until it waits for the first of its threads, and they for each other.
	for i in {1..100}; do
		[ "$(cat /proc/$pid/task/*/syscall 2>/dev/null | grep -c '^202 ')" = 4 ] && break
		sleep 0.05
	done
	timeout 60 $ASTERISM record -q --for-report --for 400ms -p $pid -o hung
	kill $pid
	$ASTERISM report --only waits,timeline,path -f json -o hung.json hung
	python3 - $pid <<-'END'
		import json, sys
		pid, reports = int(sys.argv[1]), json.load(open("hung.json"))["reports"]
		tables = reports["waits"]["tables"]
		circle, = tables["circles"]
		assert (circle["length"], circle["proof"], circle["end"]) == (3, "suspected", "stands"), circle
		assert circle["most_ns"] > 200_000_000, circle
		members = [(member["thread"]["tid"], member["object"]) for member in tables["members"]]
		assert len(set(members)) == 3 and all(object.startswith("mutex ") and tid != pid for tid, object in members), members
		joins = [row for row in tables["edges"] if row["object"].startswith("join ")]
		assert [row["thread"]["tid"] for row in joins] == [pid], tables
		waits = reports["timeline"]["tables"]
		assert "futex" in json.dumps(waits) and "futex" in json.dumps(reports["path"]), reports
	END
	run -0 $ASTERISM report --only waits hung
	[[ ${output//$'\n'/ } == *"4 waits began before the recording: they are counted from its beginning."* ]]
	[[ $output != *"Start the recording with the program"* ]]
}

@test "a picture is that of one report, which has one" {
	timeout 60 $ASTERISM record -q --for-report -o trace -- true
	run -2 $ASTERISM report -o all.svg trace
	[[ $output == *".svg can show only one report"*"name it with --only: processes, waits, path, priorities, rates"* ]]
	run -2 $ASTERISM report --only latency -f dot trace
	[[ $output == *".dot can show only one report"* ]]
	$ASTERISM report -o page.html trace
	python3 - <<-'END'
		import re
		page = open("page.html", encoding="utf-8").read()
		pictures = re.findall(r'<section id="([^"]*)">(?:(?!</section>).)*<details open><summary>Picture</summary>\n(<svg.*?</svg>\n)</details>', page, re.S)
		assert [name for name, _ in pictures] == ["processes", "waits", "path", "priorities", "rates"], [name for name, _ in pictures]
		assert not any(re.search(r"<style|<script|style=|\son\w+=", picture) for _, picture in pictures)
	END
	run -2 $ASTERISM report -o all.png trace
	[[ $output == *"reports cannot be written as .png"* ]]
}

@test "command lines: at exec, of what was there; none where they are left out or redacted" {
	commands() { "$ASTERISM" report "$@" --only processes -f json trace | grep -o '"arguments":"[^"]*"' || true; }
	"$ASTERISM" record -q --for-report -o trace -- sh -c '/usr/bin/env printf %s "a b" >/dev/null; true'
	[[ $(commands) == *'"arguments":"printf %s a b"'* ]]
	[ -z "$(commands --redact)" ]
	rm -r trace
	"$ASTERISM" record -q --for-report -e '!process_arguments' -o trace -- sh -c '/bin/true; true'
	[ -z "$(commands)" ]
	rm -r trace
	bash -c 'while read -t 60; do :; done' "a name" with arguments <> <(:) &
	started=$!
	for i in {1..100}; do
		[ "$(tr '\0' ' ' </proc/$started/cmdline)" != "$(tr '\0' ' ' </proc/$$/cmdline)" ] && break
		sleep 0.05
	done
	"$ASTERISM" record -q --for-report -p $started --for 300ms -o trace
	kill $started
	[[ $(commands) == *'done a name with arguments"'* ]]
}

@test "a recording begins with the threads that are there" {
	sleep 1000 3>&- &
	pid=$!
	timeout 60 $ASTERISM record -p $pid --for 100ms -o trace
	kill $pid
	run -0 --separate-stderr $ASTERISM dump -e thread_state -f json trace
	[ "${#lines[@]}" = 1 ]
	python3 - "$pid" "$$" "$output" <<-'END'
		import json, sys
		event = json.loads(sys.argv[3])
		assert event["target_tid"] == event["target_pid"] == int(sys.argv[1]), event
		assert event["state"] == "S" and event["target_comm"] == "sleep" and not event["is_kernel"], event
		assert 100 <= event["prio"] < 140, event
	END
}

@test "the report of a command is about the command: who else ran or was woken is no row of it" {
	python3 -c 'import time; end = time.time() + 60
while time.time() < end: pass' 3>&- &
	stranger=$!
	timeout 60 $ASTERISM record -q --for-report -o trace -- sh -c 'sleep 0.1; echo a | cat; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'
	kill $stranger
	$ASTERISM report --only overview,timeline,slices -f json trace >report.json
	python3 - <<-'END'
		import json
		report = json.load(open("report.json"))
		comms = set()
		def walk(value, key=None):
		    if isinstance(value, dict):
		        if "comm" in value and key != "waker":
		            comms.add(value["comm"])
		        for name, more in value.items():
		            walk(more, name)
		    elif isinstance(value, list):
		        for more in value:
		            walk(more, key)
		walk(report)
		assert comms and comms <= {"sh", "sleep", "cat", "asterism"}, comms
	END
}
