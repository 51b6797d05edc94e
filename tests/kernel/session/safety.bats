#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# A live session leaves the host, the command and itself in order, however it ends.

bats_require_minimum_version 1.5.0
load ../../wait

setup() {
	cd "$BATS_TEST_TMPDIR"
	echo 'RULE slow PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid], b.ts - a.ts > 50ms } RETURN { a.id AS id }' >slow.rule
	echo 'RULE each PATTERN { sys_enter:a } RETURN { a.id AS id }' >each.rule
	needs_asterism run -q slow.rule -- true
}

# `session SIGNAL WHEN ARG...`: runs asterism with ARGs in a process group of its own, sends it the signal, and shows its
# status. WHEN is FILE:TEXT, once the file has the text, or seconds after its programs are in the kernel.
session() {
	python3 -c 'import glob, subprocess, sys, signal, time
def has_programs(pid):
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        try:
            if "prog_id" in open(path).read():
                return True
        except OSError:
            pass
    return False
def has_text(path, text):
    try:
        return text in open(path).read()
    except OSError:
        return False
process = subprocess.Popen([sys.argv[3], *sys.argv[4:]], start_new_session=True, stderr=open("err", "w"), stdout=open("out", "w"),
                           preexec_fn=lambda: [signal.signal(s, signal.SIG_DFL) for s in (signal.SIGINT, signal.SIGHUP)])
path, colon, text = sys.argv[2].partition(":")
while process.poll() is None and not (has_text(path, text) if colon else has_programs(process.pid)):
    time.sleep(0.05)
try:
    process.wait(0 if colon else float(path))
except subprocess.TimeoutExpired:
    process.send_signal(getattr(signal, sys.argv[1]))
print(process.wait())' "$1" "$2" "$ASTERISM" "${@:3}"
}

is_statistics() {
	[[ $1 == '{"stats":{"events":'* ]]
}

@test "the status is that of the command, as a shell has it" {
	run -0 "$ASTERISM" run -q slow.rule -- true
	run -7 "$ASTERISM" run -q slow.rule -- sh -c 'exit 7'
	for signal in KILL:137 TERM:143 SEGV:139; do
		run "$ASTERISM" run -q slow.rule -- sh -c "kill -${signal%:*} \$\$"
		[ "$status" = "${signal#*:}" ]
	done
}

@test "the command gets no descriptor of ours" {
	exec 9</dev/null
	ls /proc/self/fd 3<&- 4<&- >expected
	"$ASTERISM" run -q slow.rule -o matches -- ls /proc/self/fd 3<&- 4<&- >got
	diff expected got
	grep -qx 9 got
}

@test "signals, limits and priority of the command are the caller's" {
	cat >state.sh <<-'END'
		grep -E '^(SigBlk|SigIgn|SigCgt|Cap|NoNewPrivs|Seccomp):' /proc/self/status
		cat /proc/self/limits /proc/self/oom_score_adj /proc/self/timerslack_ns
		nice
	END
	cat >with.py <<-'END'
		import os, signal, subprocess, sys
		def prepare():
		    signal.pthread_sigmask(signal.SIG_SETMASK, {signal.SIGUSR1, signal.SIGTERM})
		    signal.signal(signal.SIGPIPE, getattr(signal, sys.argv[1]))
		    signal.signal(signal.SIGQUIT, signal.SIG_IGN)
		    os.nice(3)
		sys.exit(subprocess.run(sys.argv[2:], preexec_fn=prepare, restore_signals=False).returncode)
	END
	for pipe in SIG_DFL SIG_IGN; do
		python3 with.py $pipe sh state.sh >expected
		python3 with.py $pipe "$ASTERISM" run -q slow.rule -o matches -- sh state.sh >got
		diff expected got
	done
}

@test "standard input, output and error are the command's" {
	run --separate-stderr -0 "$ASTERISM" run -q slow.rule -o matches -- sh -c 'cat; echo said >&2' <<<"typed"
	[ "$output" = typed ]
	[ "$stderr" = said ]
}

@test "the first event is the command's execve, not what leads to it" {
	"$ASTERISM" run -q -f json each.rule -- true >out
	[[ $(head -n 1 out) == *'"return":{"id":59}'* ]] || [ "$(uname -m)" != x86_64 ]
}

@test "--for ends the command; one that does not listen goes on" {
	run --separate-stderr -143 timeout $((10 * ${ASTERISM_TEST_PATIENCE:-1})) "$ASTERISM" run --for 300ms -f json slow.rule -- sleep 30
	is_statistics "${lines[-1]}"
	local times=${ASTERISM_TEST_PATIENCE:-1}
	run --separate-stderr -0 "$ASTERISM" run --for $((300 * times))ms slow.rule -- sh -c "trap '' TERM; sleep $((2 + times))"
	[[ $stderr == *"the command continues unobserved"* ]]
}

@test "SIGINT, SIGTERM and SIGHUP: the command gets it, the statistics come last" {
	# The command has its own way to end, and its status counts.
	for signal in SIGINT SIGTERM SIGHUP; do
		run -0 session $signal $signal.set:yes run -f json slow.rule -- \
			sh -c "trap 'echo got >$signal; exit 3' ${signal#SIG}; echo yes >$signal.set; while :; do sleep 0.1; done"
		[ "$output" = 3 ]
		[ "$(cat $signal)" = got ]
		is_statistics "$(tail -n 1 out)"
	done
}

@test "a command that ignores the signal goes on: the status is that of the signal, also after a second one" {
	cat >ignored.py <<-'END'
		import os, signal, subprocess, sys, time
		def until(happened):
		    while not happened():
		        time.sleep(0.02)
		number, count, *command = sys.argv[1:]
		number = getattr(signal, number)
		child = ["python3", "-c", "import os, signal, time; [signal.signal(s, signal.SIG_IGN) for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]; "
		         "open('own', 'w').write(str(os.getpid())); os.rename('own', 'ignores'); time.sleep(600)"]
		if os.path.exists("ignores"):
		    os.unlink("ignores")
		process = subprocess.Popen([*command, "--", *child], start_new_session=True, stdout=open("out", "w"), stderr=open("err", "w"),
		                           preexec_fn=lambda: [signal.signal(s, signal.SIG_DFL) for s in (signal.SIGINT, signal.SIGHUP)])
		until(lambda: os.path.exists("ignores") or process.poll() is not None)
		for i in range(int(count)):
		    if process.poll() is None:
		        process.send_signal(number)
		    # Signals of one number that come at once are one.
		    until(lambda: process.poll() is not None or not int([line for line in open("/proc/%d/status" % process.pid) if line.startswith("ShdPnd:")][0].split()[1], 16))
		print(process.wait())
		number = int(open("ignores").read())
		os.kill(number, 0)
		os.kill(number, signal.SIGKILL)
	END
	for row in "SIGINT 1 130" "SIGINT 2 130" "SIGTERM 2 143" "SIGHUP 1 129"; do
		read -r signal count expected <<<"$row"
		run -0 python3 ignored.py "$signal" "$count" "$ASTERISM" run -f json slow.rule
		[ "$output" = "$expected" ]
		is_statistics "$(tail -n 1 out)"
		grep -q "the command continues unobserved (process $(cat ignores))" err
	done
	run -0 python3 ignored.py SIGINT 1 "$ASTERISM" record -q -o trace -e sys_enter
	[ "$output" = 130 ]
	"$ASTERISM" dump trace >/dev/null
}

@test "SIGINT and SIGTERM without a command: status 0" {
	sleep 30 3>&- &
	for signal in SIGINT SIGTERM; do
		run -0 session $signal err:observing run -v -f json slow.rule -p $!
		[ "$output" = 0 ]
		is_statistics "$(tail -n 1 out)"
		run -0 session $signal err:observing run -v slow.rule -p $!
		grep -q '^slow  *0 ' err
	done
	kill -0 $!
	kill $!
}

@test "a signal while many rules are loaded ends the session at once" {
	for i in {1..400}; do
		echo "RULE r$i PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid], b.ts - a.ts > ${i}ms } POOL 10"
	done >many.rule
	run -0 session SIGINT 0.3 run -f json many.rule -- touch ran
	[ "$output" = -2 ]
	[ ! -e ran ]
}

@test "an observed process that ends: the session ends" {
	sh -c 'until [ -e seen ]; do sleep 0.1; done' 3>&- &
	"$ASTERISM" run -v -f json slow.rule -p $! >out 2>err 3>&- &
	for _ in $(seq 600); do grep -q observing err && break; sleep 0.1; done
	: >seen
	wait $!
	is_statistics "$(tail -n 1 out)"
}

@test "a reader that goes away: no complaint, the command goes on, its status counts" {
	run --separate-stderr -0 bash -c '"$0" run -f json each.rule -- sh -c "ls / >/dev/null; sleep 0.2; ls / >/dev/null; : >ran; exit 6" | head -n 1
		exit $((PIPESTATUS[0] - 6))' "$ASTERISM"
	[ -z "$stderr" ]
	[ ${#lines[@]} = 1 ]
	[ -e ran ]
}

@test "output that cannot be written: said at once and counted at the end, status 3, the command unharmed" {
	[ -c /dev/full ] || skip "there is no /dev/full"
	run --separate-stderr -3 "$ASTERISM" run -f json -o /dev/full each.rule -- sh -c 'sleep 0.2; : >ran'
	[ "${stderr_lines[0]}" = "asterism: error: cannot write /dev/full: No space left on device" ]
	[ "${stderr_lines[1]}" = "help: the session continues; at its end it reports how many matches are missing" ]
	[[ ${stderr_lines[2]} == "asterism: warning: "*" matches could not be written to /dev/full" ]]
	[ "${stderr_lines[3]}" = "asterism: warning: cannot write the end of /dev/full, with the statistics" ]
	[ ${#stderr_lines[@]} = 4 ]
	[ -e ran ]
	run --separate-stderr -2 "$ASTERISM" run -o missing/out each.rule -- touch started
	[ "$stderr" = "asterism: error: cannot write missing/out: No such file or directory" ]
	[ ! -e started ]
}

@test "a closed standard output is an error, and nobody else's descriptor" {
	run --separate-stderr -2 sh -c '"$0" run -f json slow.rule -- true >&-' "$ASTERISM"
	[[ $stderr == *"cannot write standard output: Bad file descriptor" ]]
}

@test "kill -9: within a second nothing of ours is in the kernel, the command goes on" {
	command -v bpftool >/dev/null || skip "bpftool is not installed"
	"$ASTERISM" run -f json slow.rule -- sh -c 'sleep 2; : >ran' >out 3>&- &
	sleep 1
	grep -hE '^(prog|map|link)_id:' /proc/$!/fdinfo/* | sort -u >held
	for kind in prog map link; do
		grep -q "^${kind}_id" held || [ $kind = link ]
	done
	kill -KILL $!
	sleep 1
	while read -r kind id; do
		run bpftool "${kind%%_id:}" show id "$id"
		[ "$status" != 0 ] || { echo "$kind $id is still there"; false; }
	done <held
	sleep 1
	[ -e ran ]
}

@test "nothing is left after a session, and nothing is pinned" {
	command -v bpftool >/dev/null || skip "bpftool is not installed"
	"$ASTERISM" run -f json -o out slow.rule -- sh -c 'grep -hE "^(prog|map|link)_id:" /proc/$PPID/fdinfo/* | sort -u' >held
	[ -s held ]
	sleep 0.5
	while read -r kind id; do
		run bpftool "${kind%%_id:}" show id "$id"
		[ "$status" != 0 ] || { echo "$kind $id is still there"; false; }
	done <held
	[ -z "$(find /sys/fs/bpf -mindepth 1 -name '*asterism*' 2>/dev/null)" ]
}

@test "in which bucket a key belongs is another matter in each session: nobody can choose keys that share one" {
	command -v bpftool >/dev/null || skip "bpftool is not installed"
	cat >keyed.rule <<-'END'
		MACHINE keyed KEY { k }
		STATE Fresh { ON sys_enter_lseek BY { offset } -> Seen }
		STATE Seen { ON sys_enter_lseek BY { offset } -> Seen }
	END
	for i in 1 2; do
		"$ASTERISM" run -q -o out keyed.rule -- sh -c 'for id in $(sed -n "s/^prog_id://p" /proc/$PPID/fdinfo/* | sort -u); do
			bpftool prog dump xlated id $id; done' >code
		grep -oE 'r2 = 0x9e3779[0-9a-f]{10}' code | sort -u >factor$i
		[ "$(wc -l <factor$i)" = 1 ]
	done
	run ! cmp factor1 factor2
}

@test "asterism never observes itself" {
	sleep 30 3>&- &
	cat >own.py <<-'END'
		import os, sys
		own, other = os.getpid(), int(sys.argv[2])
		rule = "RULE %s PATTERN { %s:a } WHERE { a.pid == %d } RETURN { a.pid }\n"
		with open("own.rule", "w") as file:
		    for event in ("sys_enter", "sys_exit", "page_fault_user", "sys_enter_epoll_wait", "sys_enter_bpf"):
		        file.write(rule % ("own_" + event, event, own))
		    file.write(rule % ("other", "sys_exit", other))
		os.execv(sys.argv[1], [sys.argv[1], "run", "-f", "json", "-o", "out", "own.rule", "-a", "--for", "1s"])
	END
	{ sleep 0.6; kill $!; } 3>&- &
	run python3 own.py "$ASTERISM" $!
	[ "$status" != 2 ] && [ "$status" != 4 ]
	run -1 grep '"match":"own_' out
	is_statistics "$(tail -n 1 out)"
	run --separate-stderr -2 sh -c 'exec "$0" run slow.rule -p $$' "$ASTERISM"
	[[ $stderr == *"a session does not observe itself"* ]]
}

@test "at most 10 MB of memory, also under a flood of matches" {
	cat >flood.sh <<-'END'
		timeout 0.5 sh -c 'while :; do kill -0 $$; done'
		grep VmHWM /proc/$PPID/status
	END
	# Where the kernel's type information cannot be mapped (before 6.16), there is a copy of it for a while.
	copied=$("$ASTERISM" features -f json | python3 -c 'import json, os, sys
rows = {row["feature"]: row["has"] for row in json.load(sys.stdin)["features"]}
print(0 if rows["mapped type information"] else os.path.getsize("/sys/kernel/btf/vmlinux") // 1024)')
	for rule in slow each; do
		run "$ASTERISM" run -q -o out $rule.rule -- sh flood.sh
		read -r _ kilobytes _ <<<"$(grep VmHWM <<<"$output")"
		[ "$kilobytes" -gt 0 ]
		[ "$kilobytes" -le $((10240 + copied)) ] || { echo "$rule: $kilobytes kB"; false; }
	done
}

@test "the pool takes the kernel memory that explain says" {
	for pool in 100 16384 1000000; do
		sed "s/\$/ POOL $pool/" slow.rule >sized.rule
		said=$("$ASTERISM" explain -f json sized.rule | python3 -c 'import json, sys; print(json.load(sys.stdin)["kernel_bytes"])')
		taken=$("$ASTERISM" run -q -o out sized.rule -- sh -c 'cat /proc/$PPID/fdinfo/*' |
			awk '$1 == "map_type:" { type = $2 } $1 == "value_size:" { size = $2 } $1 == "map_id:" && type != 27 { bytes[$2] = size }
				END { for (i in bytes) sum += bytes[i]; print sum }')
		# Beside the pool: counters per CPU, the scope's bits, tables of a few pages.
		[ "$taken" -ge "$said" ]
		[ "$taken" -le $((said + said / 20 + 262144)) ] || { echo "POOL $pool: $said said, $taken taken"; false; }
	done
}

@test "without privilege: one sentence, status 4, and the command does not run" {
	[ "$(id -u)" = 0 ] || skip "needs root to give it up"
	chmod 777 .
	cp "$ASTERISM" asterism
	nobody="setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all"
	for how in "run slow.rule -- touch ran" "run slow.rule -a --for 1s"; do
		run --separate-stderr -4 $nobody ./asterism $how
		[ -z "$output" ]
		[ "$stderr" = "asterism: error: observing the kernel needs the capabilities CAP_BPF and CAP_PERFMON (or root)" ]
	done
	[ ! -e ran ]
}

@test "without type information of the kernel: one sentence, status 4" {
	hide='mount -t tmpfs none /sys/kernel/btf && exec "$0" run slow.rule -- touch ran'
	unshare -m true 2>/dev/null || skip "no mount namespaces"
	run --separate-stderr -4 unshare -m sh -c "$hide" "$ASTERISM"
	[[ $stderr == "asterism: error: this kernel has no type information at /sys/kernel/btf/vmlinux"* ]]
	[ ${#stderr_lines[@]} = 1 ]
	[ ! -e ran ]
}

@test "too few open files are told, and no feature of the kernel is missing for it" {
	for files in 20 50 58 66 80 110; do
		run --separate-stderr bash -c 'ulimit -n "$1"; exec "$ASTERISM" run @default -- true' - $files
		[ "$status" -gt 1 ]
		[[ $stderr == *"Too many open files"*"help: raise the limit on open files of a process: ulimit -n"* ]] ||
			{ echo "$files: $stderr"; false; }
	done
}

@test "an event that is only declared: status 2, before anything runs" {
	printf 'EVENT A { x: i64 }\nRULE r PATTERN { A:a }\n' >declared.rule
	run --separate-stderr -2 "$ASTERISM" run declared.rule -- touch ran
	[[ $stderr == *"rule r waits for A, which is only declared"* ]]
	[ ! -e ran ]
}

@test "a machine none of whose events any kernel raises: status 2, for run and record" {
	cat >vain.rule <<-'END'
		EVENT A { x: i64 }
		EVENT B { x: i64 }
		MACHINE m
		KEY { x }
		STATE S { ON A -> T }
		STATE T { ON B -> END }
	END
	run --separate-stderr -2 "$ASTERISM" run vain.rule -- touch ran
	[[ $stderr == *"machine m waits for A, which is only declared: the kernel does not raise it"* ]]
	run --separate-stderr -2 "$ASTERISM" record -o vain vain.rule -- touch ran
	[[ $stderr == *"machine m waits for A, which is only declared: the kernel does not raise it"* ]]
	printf 'EVENT A { x: i64 }\nRULE r PATTERN { A:a }\n' >declared.rule
	run --separate-stderr -2 "$ASTERISM" record -o vain declared.rule -- touch ran
	[[ $stderr == *"rule r waits for A, which is only declared"* ]]
	[ ! -e vain ] && [ ! -e ran ]
	# Beside what can be seen it is told, and the rest is at work.
	echo 'RULE calls PATTERN { sys_enter_close } RETURN NOTHING' >calls.rule
	run --separate-stderr -0 "$ASTERISM" run -f json calls.rule vain.rule -- true
	[[ $stderr == *"warning: machine m waits for A, which is only declared: the kernel does not raise it"* ]]
	[[ $output == *'"calls":{"matches":'[1-9]* ]]
	run --separate-stderr -0 "$ASTERISM" run -q @kernel-locks @long-syscall -- true
	[[ $stderr == *"warning: machine kernel_locks_held waits for lockdep_lock_acquire"* ]]
	run --separate-stderr -0 "$ASTERISM" record -q -o beside @kernel-locks @long-syscall -- true
	[[ $stderr == *"warning: machine kernel_locks_held waits for lockdep_lock_acquire"* ]]
	run --separate-stderr -0 "$ASTERISM" record -q -o meanwhile --rules @kernel-locks --rules @long-syscall -- true
	[ "$(grep -c 'machine kernel_locks_held waits for lockdep_lock_acquire' <<<"$stderr")" = 1 ]
	sed -e 's/KEY { x }/KEY { tid }/' -e 's/ON B/ON sys_enter_close/' vain.rule >half.rule
	run -0 "$ASTERISM" run -q half.rule -- true
}

@test "no event of our own threads, not even one that is about an observed process" {
	cp "$ASTERISM" myself
	echo 'RULE own PATTERN { sched_switch:s } WHERE { s.comm == "myself" } RETURN { s.next_prio AS prio }' >own.rule
	run --separate-stderr -0 ./myself run -f json --for 1s -a own.rule
	[ ${#lines[@]} = 1 ]
	is_statistics "${lines[0]}"
}
