#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Rules stay on whatever becomes of their output: full disks, closed pipes, readers that are gone.

bats_require_minimum_version 1.5.0
load ../rig/recording

setup() {
	recording_setup
	disk= group=
	cat >kill.rule <<-'END'
		SYNCHRONOUS RULE forbidden PATTERN { sys_enter_getpgid:a } WHERE { a.target_pid == 1000077 } DO { CALL Kill(a#PID) }
		RULE every PATTERN { sys_enter_getpgid:a } RETURN { a.target_pid AS p }
	END
	# What asterism itself does at a match.
	cat >exec.rule <<-'END'
		RULE done PATTERN { sys_enter_getpgid:a } WHERE { a.target_pid == 1000077 } DO { CALL Exec("touch", "done") }
		RULE every PATTERN { sys_enter_getpgid:a } RETURN { a.target_pid AS p }
	END
}

teardown() {
	[ -z "$disk" ] || umount "$disk"
	[ -z "$group" ] || rmdir "$group"
}

# A file system of so many bytes at ./disk, until the test ends, that has no room left.
full_disk() {
	mkdir disk
	mount -t tmpfs -o size="$1" none disk || skip "no file system can be mounted"
	disk=$PWD/disk
	: >disk/out
	head -c 10m /dev/zero >disk/filler 2>/dev/null || true
}

# A program whose first calls fill what there is to fill; the last one is forbidden. It says that it came further.
victim() {
	printf '%s\n' '"$0" flood 70; sleep 0.5; "$0" flood 78; echo "status $?" >>after; sleep 0.3'
}

killed() {
	[ "$(cat after)" = "status 137" ] || { echo "not killed: $(cat after)"; false; }
}

@test "-o on a full disk: Kill still kills; what is missing is counted; status 3" {
	full_disk 64k
	run --separate-stderr -3 "$ASTERISM" run --allow-actions -f json -o disk/out kill.rule -- bash -c "$(victim)" "$plant"
	killed
	[ "${stderr_lines[0]}" = "asterism: error: cannot write disk/out: No space left on device" ]
	[[ $stderr == *"warning: 149 matches could not be written to disk/out"* ]]
}

@test "a limit for files (ulimit -f) or for time: rules stay on; what is missing is counted; status 3" {
	run --separate-stderr -3 bash -c 'ulimit -f 1; exec "$@"' sh "$ASTERISM" run --allow-actions -f json -o out kill.rule -- \
		bash -c 'kill -XCPU $PPID; '"$(victim)" "$plant"
	killed
	[ "${stderr_lines[0]}" = "asterism: error: cannot write out: File too large" ]
	[[ $stderr == *"matches could not be written to out"* ]]
}

@test "-o on a disk that gets full and has space again: whole lines, and the rest is counted" {
	full_disk 256k
	truncate -s 200k disk/filler
	run --separate-stderr -3 "$ASTERISM" run -f json -o disk/out kill.rule -- \
		bash -c '"$0" flood 2000; sleep 0.2; "$0" flood 2000; sleep 0.2; rm disk/filler; "$0" flood 20; sleep 0.2' "$plant"
	missing=$(sed -n 's/^asterism: warning: \([0-9]*\) matches could not be written.*/\1/p' <<<"$stderr")
	[ "$missing" -gt 0 ]
	# Only whole lines, the last one included; each of the 4020 calls matches once, and two of them twice.
	python3 -c 'import json
lines = [json.loads(line) for line in open("disk/out")]
print(sum("match" in line for line in lines), "stats" in lines[-1])' >said
	[ "$(cat said)" = "$((4022 - missing)) True" ]
}

@test "--snapshot on a full disk: Kill still kills; the snapshot is told; status 3" {
	full_disk 64k
	truncate -s 48k disk/filler
	run --separate-stderr -3 "$ASTERISM" run --allow-actions -q -o out --snapshot disk/box kill.rule -- bash -c "$(victim)" "$plant"
	killed
	[[ $stderr == *"No space left on device"* ]]
	[[ $stderr == *"could not be written completely"* ]]
	[ "$(grep -c 'error:' <<<"$stderr")" = 1 ]
}

@test "record --rules on a full disk: Kill still kills; every event is in the trace or told; status 3" {
	full_disk 256k
	truncate -s 200k disk/filler
	head -n 1 kill.rule >only.rule
	run --separate-stderr -3 "$ASTERISM" record -o disk/trace --allow-actions --rules only.rule -f json -- \
		bash -c 'for i in $(seq 100); do "$0" flood 70; done; '"$(victim)" "$plant"
	killed
	[[ $stderr == *"No space left on device"* ]]
	[ "$(grep -c 'error:' <<<"$stderr")" = 1 ]
	lost=$(sed -n 's/^asterism: warning: \([0-9]*\) events were lost: they could not be written$/\1/p' <<<"$stderr")
	# 100 times 70, 70, and 78 before it was killed.
	[ $(($(count disk/trace sys_enter_getpgid) + lost)) = 7148 ]
	[ "$(count disk/trace lost)" = "$lost" ]
}

@test "a reader that is gone: Kill still kills, without a word" {
	run --separate-stderr -137 bash -c '"$0" run -q --allow-actions -f json kill.rule -- bash -c "$1; exit 137" "$2" | head -n 1
		exit ${PIPESTATUS[0]}' "$ASTERISM" "$(victim)" "$plant"
	killed
	[ ${#lines[@]} = 1 ]
	[[ $stderr != *asterism* ]]
	run --separate-stderr -137 bash -c '"$0" record -q -o trace --allow-actions --rules kill.rule -f json -- bash -c "$1; exit 137" "$2" | head -n 1
		exit ${PIPESTATUS[0]}' "$ASTERISM" "$(victim)" "$plant"
	[ ${#lines[@]} = 1 ]
	[[ $stderr != *asterism* ]]
	# The recording is not what is read: it goes on.
	[ "$(count trace sys_enter_getpgid)" = 148 ]
}

@test "a reader that is gone: what asterism does at a match is done" {
	run --separate-stderr -0 bash -c '"$0" run -q --allow-actions -f json exec.rule -- bash -c "$1; true" "$2" | head -n 1
		exit ${PIPESTATUS[0]}' "$ASTERISM" "$(victim)" "$plant"
	[ -e done ]
	[ -z "$stderr" ]
}

@test "a reader that is gone: nothing may act, so the session is over, and the command goes on" {
	run --separate-stderr -0 bash -c '"$0" run -q -f json kill.rule -- bash -c "$1; true" "$2" | head -n 1
		exit ${PIPESTATUS[0]}' "$ASTERISM" "$(victim)" "$plant"
	[ "$(cat after)" = "status 0" ]
	[ -z "$stderr" ]
}

@test "asterism is stopped for a while: what comes meanwhile is told or counted, and the deadlines are kept" {
	cat >stopped.rule <<-'END'
		RULE each PATTERN { sys_enter_fsync:a } WHERE { a.fd == 1000077 } RETURN { a.fd AS n }
		RULE late PATTERN { [sys_enter_fchdir:a, ~sys_enter_fchdir:b] } WHERE { [pid], a.fd == 1000077, b.fd == 1000078 }
		WITHIN 50ms RETURN { a.fd AS n }
	END
	cat >stops.py <<-'END'
		import ctypes, os, signal, time
		call = ctypes.CDLL(None).fsync
		asterism = os.getppid()
		os.kill(asterism, signal.SIGSTOP)
		ctypes.CDLL(None).fchdir(1000077)
		for _ in range(100000):
		    call(1000077)
		time.sleep(0.1)
		os.kill(asterism, signal.SIGCONT)
	END
	run --separate-stderr -3 "$ASTERISM" run -f json stopped.rule -- python3 stops.py
	python3 - "${lines[-1]}" <<-'END'
		import json, sys
		rules = json.loads(sys.argv[1])["stats"]["rules"]
		assert rules["each"]["lost"] > 0 and rules["each"]["matches"] + rules["each"]["lost"] == 100000, rules
		assert rules["late"]["matches"] == 1 and rules["late"]["lost"] == 0, rules
	END
	[[ $stderr == *"rule each lost "*" events or matches: they came faster than they could be taken"* ]]
}

@test "too few descriptors: that is said, and nothing about the kernel" {
	# So many that none is left for what asks the kernel, for the maps, or for one of the programs.
	for count in {6..26}; do
		prlimit --nofile="$count" "$ASTERISM" run -q @deadlock -p $$ --for 10ms 2>told ||
			grep -q ': Too many open files$' told || { echo "$count: $(<told)"; false; }
	done
}

# A control group of ours with so much memory; what runs in a subshell that calls `enter_group` is in it.
make_group() {
	if [ -e /sys/fs/cgroup/memory/memory.limit_in_bytes ]; then
		group=/sys/fs/cgroup/memory/asterism-test-$$
		mkdir "$group"
		echo "$1" >"$group/memory.limit_in_bytes"
	else
		grep -qw memory /sys/fs/cgroup/cgroup.subtree_control 2>/dev/null || skip "needs control groups with a limit of memory"
		group=/sys/fs/cgroup/asterism-test-$$
		mkdir "$group"
		echo "$1" >"$group/memory.max"
	fi
}

enter_group() {
	echo "$BASHPID" >"$group/cgroup.procs"
}

@test "a control group with little memory: rings are as small as it asks for, and who asks for more is told why not" {
	make_group 32M
	cat >large.rule <<-'END'
		RULE large PATTERN { [sys_enter_fchdir:a, sys_enter_fsync:b] } WHERE { b.fd == a.fd } POOL 4000000
	END
	(enter_group && exec "$ASTERISM" record -q -e sys_enter_fsync -o small -- true)
	(enter_group && exec "$ASTERISM" run -q large.rule -- touch started) 2>told && status=0 || status=$?
	[ "$status" = 2 ]
	[ ! -e started ]
	grep -q '^asterism: error: the kernel has no memory for a pool of [0-9]* bytes$' told
	grep -q '^help: maps count for the control group that asterism runs in' told
}

@test "a control group with less memory than it takes to ask for large pools: they are not called larger than the kernel allows" {
	make_group 9M
	cat >large.rule <<-'END'
		RULE large PATTERN { [sys_enter_fchdir:a, sys_enter_fsync:b] } WHERE { b.fd == a.fd } POOL 400000
	END
	(enter_group && exec "$ASTERISM" run -q large.rule -- touch started) 2>told && status=0 || status=$?
	[ "$status" = 2 ] || { cat told; false; }
	[ ! -e started ]
	grep -q '^asterism: error: the kernel has no memory for a pool of [0-9]* bytes$' told
}
