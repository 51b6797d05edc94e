#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What is told of processes that are there when observation begins. Needs root.

bats_require_minimum_version 1.5.0
load ../../wait

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
	cat >seed.rule <<-END
		RULE process PATTERN { process_state:a } RETURN { a.target_pid AS of, a.parent_pid AS parent, a.euid AS euid,
			a.cwd AS cwd, a.root AS root }
		RULE descriptor PATTERN { descriptor_state:a } RETURN { a.target_pid AS of, a.fd AS fd, a.target AS target }
	END
	needs_asterism run -q seed.rule -- true
}

teardown() {
	[ -z "${started:-}" ] || kill -KILL $started 2>/dev/null || true
}

@test "the command's descriptors are told before it runs, and none that it will not have" {
	echo x >kept
	"$ASTERISM" run -q -f json -o out seed.rule -- true 17<kept
	[ "$(grep -c '"match":"process"' out)" -eq 1 ]
	grep -q '"fd":17,"target":"'"$PWD"'/kept"' out
	run ! grep -q 'anon_inode' out
}

@test "a process that runs is told of with its parent, user and directories" {
	sleep 60 &
	started=$!
	"$ASTERISM" run -q -f json -o out seed.rule --for 50ms -p $started
	grep -q '"of":'$started',"parent":'$$',"euid":0,"cwd":"'"$PWD"'","root":"/"' out ||
		grep -q '"of":'$started',"parent":[0-9]*,"euid":0,"cwd":"'"$PWD"'","root":"/"' out
	grep -q '"of":'$started',"fd":0,' out
	[ "$(grep '"match"' out | grep -vc '"of":'$started',')" -eq 0 ]
}

@test "there are more descriptors than fit into a ring at once: none is lost, live and recorded" {
	python3 -c 'import os, time
for _ in range(900): os.dup(0)
pids = [os.getpid()]
for _ in range(19):
    pid = os.fork()
    if not pid: time.sleep(600)
    pids.append(pid)
open("pids.new", "w").write(" ".join(map(str, pids)))
os.rename("pids.new", "pids")
time.sleep(600)' &
	started=$!
	wait_for test -e pids
	started=$(cat pids) # all are ended in the end
	"$ASTERISM" run -q -f json -o out seed.rule --for 20ms $(printf -- '-p %s ' $started)
	[ "$(grep -c '"match":"descriptor"' out)" -ge 18000 ]
	"$ASTERISM" record -q -o trace -e descriptor_state --ring 64K --for 20ms $(printf -- '-p %s ' $started)
	[ "$("$ASTERISM" dump trace | grep -c descriptor_state)" -ge 18000 ]
}

@test "asterism tells nothing of itself" {
	"$ASTERISM" run -q -f json -o out seed.rule --for 20ms -a &
	started=$!
	wait $started
	[ "$(grep -c '"match":"process"' out)" -gt 1 ]
	run ! grep -q '"of":'$started',' out
}

@test "a recording holds it, and rules over it find the same" {
	"$ASTERISM" record -q -f json --rules seed.rule -o trace -- true >live
	"$ASTERISM" replay -q -f json seed.rule trace >replayed
	[ "$(grep -c '"match"' live)" -gt 1 ]
	diff <(grep '"match"' live | undated) <(grep '"match"' replayed)
}

@test "a recording without rules holds it where it is asked for" {
	"$ASTERISM" record -q -e process_state,sched_process_exit -o trace -- true
	[ "$("$ASTERISM" dump trace | grep -c process_state)" -eq 1 ]
	"$ASTERISM" record -q -e sched_process_exit -o none -- true
	[ "$("$ASTERISM" dump none | grep -c process_state)" -eq 0 ]
}

@test "two sessions at once hear of their own processes only" {
	sleep 60 &
	one=$!
	sleep 60 &
	two=$!
	started="$one $two"
	"$ASTERISM" run -q -f json -o first seed.rule --for 400ms -p $one &
	first=$!
	"$ASTERISM" run -q -f json -o second seed.rule --for 100ms -p $two
	wait $first
	[ "$(grep -c '"match":"process"' first)" -eq 1 ]
	[ "$(grep -c '"match":"process"' second)" -eq 1 ]
}

@test "a process that has left its root before is known to a machine" {
	cat >roam.py <<-END
		import os, sys, time
		os.mkdir("jail")
		if sys.argv[1] == "inside":
		    os.chdir("jail")
		os.chroot("." if sys.argv[1] == "inside" else "jail")
		for _ in range(300):
		    os.close(os.open(".", os.O_RDONLY))
		    time.sleep(0.01)
	END
	for where in outside inside; do
		mkdir $where
		(cd $where && exec /usr/bin/python3 -SE ../roam.py $where) &
		started=$!
		until [ -e $where/jail ] && [ "$(readlink /proc/$started/root)" != / ]; do sleep 0.01; done
		"$ASTERISM" run -q -f json -o found-$where "$BATS_TEST_DIRNAME/../../../rules/chroot-escape/chroot-escape.rule" --for 200ms -p $started
		kill -KILL $started
	done
	[ "$(grep -c '"match":"chroot_escape"' found-outside)" -eq 1 ]
	[ "$(grep -c '"match"' found-inside)" -eq 0 ]
}
