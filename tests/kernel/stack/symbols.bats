#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What addresses of a process are called in matches: mutexes and callers of a program of the test's own. Needs root.

bats_require_minimum_version 1.5.0
load ../../wait

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	planted="$(dirname "$ASTERISM")/../../tests/kernel/plant-mutex"
	cd "$BATS_TEST_TMPDIR"
	cp "$planted" bank
	cat >locks.rule <<-'END'
		EVENTS "pthread.events"
		RULE taken PATTERN { pthread_mutex_lock:m } RETURN { m.mutex AS mutex, m.caller AS caller }
	END
	sed 's/PATTERN.*/PATTERN { [pthread_mutex_lock:m, sched_process_exit:e] } WHERE { [pid] } RETURN { m.mutex AS mutex, m.caller AS caller }/
		s/taken/ended/' locks.rule >ended.rule
	needs_asterism run -q locks.rule -- true
	line=$(grep -n 'pthread_mutex_lock(mutex)' "$BATS_TEST_DIRNAME/../programs/plant-mutex.c" | cut -d: -f1)
}

teardown() {
	[ -z "${session:-}" ] || kill -KILL "$session" 2>/dev/null || true
}

# `observed COUNT ARGUMENTS...`: asterism run with them writes to out; the program goes on when COUNT matches are there.
observed() {
	local count=$1
	shift
	rm -f input out
	mkfifo input
	"$ASTERISM" run -o out "$@" <input 3>&- &
	session=$!
	exec 9>input
	for _ in $(seq 500); do
		[ ! -e out ] || [ "$(grep -cE '"match"|held_asleep|^[^ ].*mutex=' out)" -lt "$count" ] || break
		sleep 0.02
	done
	exec 9>&-
	wait "$session"
	session=
}

# `holds EXPRESSION`: it is true over m, the matches of out.
holds() {
	python3 -c 'import json, re, sys
m = [match for match in map(json.loads, open("out")) if "match" in match]
m = [match for match in m if "_dl_fini" not in match.get("names", {}).get("caller", "")] # the C library has mutexes, too
if not eval(sys.argv[1]):
    print(sys.argv[1], "does not hold of", m)
    sys.exit(1)' "$1"
}

@test "mutexes of a planted program have the names of variables, in the text of a rule and of a machine" {
	observed 4 locks.rule -- "$PWD/bank" wait
	grep -F "mutex=planted_zeroed+0x0 (bank)  caller=planted_hold+0x" out
	grep -F "mutex=planted_record+0x8 (bank)  caller=planted_hold+0x" out
	grep -E 'mutex=\[heap\]\+0x[0-9a-f]+  caller=planted_hold\+0x' out
	grep -E 'mutex=\[stack\]-0x[0-9a-f]+  caller=planted_hold\+0x' out
	[ "$(grep -c "caller=planted_hold+0x[0-9a-f]* (bank) plant-mutex.c:$line$" out)" = 4 ]
	observed 4 @held-asleep -- "$PWD/bank" wait
	grep -E 'the last one planted_zeroed\+0x0 \(bank\), taken at planted_hold\+0x[0-9a-f]+ \(bank\) plant-mutex\.c:'"$line$" out
	grep -F 'the last one planted_record+0x8 (bank), taken at' out
}

@test "JSON keeps the numbers and has the names beside them" {
	observed 4 -f json locks.rule -- "$PWD/bank" wait
	holds 'len(m) == 4 and all(isinstance(x["return"][n], int) for x in m for n in ("mutex", "caller"))'
	holds '[x["names"]["mutex"] for x in m][:2] == ["planted_zeroed+0x0 (bank)", "planted_record+0x8 (bank)"]'
	holds 're.fullmatch(r"\[heap\]\+0x[0-9a-f]+", m[2]["names"]["mutex"])'
	holds 're.fullmatch(r"\[stack\]-0x[0-9a-f]+", m[3]["names"]["mutex"])'
	holds 'all(re.fullmatch(r"planted_hold\+0x[0-9a-f]+ \(bank\) plant-mutex\.c:'"$line"'", x["names"]["caller"]) for x in m)'
}

@test "a stripped program: places, as nm and objdump have them; with debugging information beside it, names" {
	at=$(nm bank | awk '$3 == "planted_zeroed" { print $1 }' | sed 's/^0*/0x/')
	objcopy --only-keep-debug bank bank.debug
	strip --strip-all bank
	observed 4 -f json locks.rule -- "$PWD/bank" wait
	holds 'm[0]["names"]["mutex"] == "'"$at"' (bank)" and re.fullmatch(r"0x[0-9a-f]+ \(bank\)", m[0]["names"]["caller"])'
	objcopy --add-gnu-debuglink=bank.debug bank
	observed 4 -f json locks.rule -- "$PWD/bank" wait
	holds 'm[0]["names"]["mutex"] == "planted_zeroed+0x0 (bank)" and m[1]["names"]["mutex"] == "planted_record+0x8 (bank)"'
	holds 'all(x["names"]["caller"].startswith("planted_hold+0x") for x in m)'
}

@test "a process that has ended: what it had mapped is remembered" {
	"$ASTERISM" run -f json ended.rule -- "$PWD/bank" >out
	holds 'len(m) == 4 and [x["names"]["mutex"] for x in m[:2]] == ["planted_zeroed+0x0 (bank)", "planted_record+0x8 (bank)"]'
	holds 'all(re.fullmatch(r"planted_hold\+0x[0-9a-f]+ \(bank\) plant-mutex\.c:'"$line"'", x["names"]["caller"]) for x in m)'
}

@test "values of two processes have the names that each process has for them" {
	cp bank vault
	sed 's/PATTERN.*/PATTERN { [pthread_mutex_lock:m, pthread_mutex_lock:n] } WHERE { m.comm == "bank", n.comm == "vault" } RETURN { m.mutex AS mutex, m.caller AS caller, n.mutex AS other } DO { CALL Message("{} before {}", m.mutex, n.mutex) }/' locks.rule >crossed.rule
	"$ASTERISM" run -f json crossed.rule -- sh -c './bank fork; ./vault fork' >out
	holds 'm[0]["names"] == {"mutex": "planted_zeroed+0x0 (bank)", "caller": m[0]["names"]["caller"], "other": "planted_zeroed+0x0 (vault)"}'
	holds 'm[0]["names"]["caller"].startswith("planted_hold+0x") and "(bank) plant-mutex.c:'"$line"'" in m[0]["names"]["caller"]'
	holds 'm[0]["calls"][0]["names"] == {"1": "planted_zeroed+0x0 (bank)", "2": "planted_zeroed+0x0 (vault)"}'
	"$ASTERISM" run crossed.rule -- sh -c './bank fork; ./vault fork' >out
	grep -E 'other=planted_zeroed\+0x0 \(vault\)  planted_zeroed\+0x0 \(bank\) before planted_zeroed\+0x0 \(vault\)$' out
	# What could be anybody's is plain.
	sed 's/PATTERN.*/PATTERN { [pthread_mutex_lock[]:m, pthread_mutex_lock:n] } WHERE { m.comm == "bank", n.comm == "vault" } RETURN { m.last.mutex AS mutex }/' locks.rule >any.rule
	"$ASTERISM" run -f json any.rule -- sh -c './bank fork; ./vault fork' >out
	holds 'm and "names" not in m[0] and m[0]["return"]["mutex"] > 4096'
}

@test "through machines that tell each other: locks taken in two orders" {
	"$ASTERISM" run @lock-order -- "$PWD/bank" order >out
	grep -F 'locks planted_record+0x8 (bank) and planted_zeroed+0x0 (bank) are taken in both orders: planted_zeroed+0x0 (bank) at take_both+0x' out
}

@test "events of a sequence have the names of their process" {
	sed 's/PATTERN.*/PATTERN { [pthread_mutex_lock:m, pthread_mutex_unlock:n] } WHERE { [pid] } RETURN SEQUENCE/' locks.rule >whole.rule
	observed 4 whole.rule -- "$PWD/bank" wait
	[ "$(grep -cF 'mutex=planted_zeroed+0x0 (bank)' out)" = 2 ]
}

@test "JSON has names beside the numbers of events, each by its own process" {
	sed 's/PATTERN.*/PATTERN { [pthread_mutex_lock:m, pthread_mutex_lock:n] } WHERE { m.mutex == n.mutex, n.pid != m.pid } RETURN SEQUENCE/' locks.rule >crossed.rule
	"$ASTERISM" run -f json crossed.rule -- "$PWD/bank" fork >out
	holds 'len(m) == 1 and len({e["pid"] for e in m[0]["sequence"]}) == 2'
	holds 'all(e["mutex"] > 4096 and e["names"]["mutex"] == "planted_zeroed+0x0 (bank)" for e in m[0]["sequence"])'
	holds 'all(e["names"]["caller"].startswith("planted_hold+0x") for e in m[0]["sequence"])'
}

@test "messages have the names, and say values as everything else does; their JSON has both" {
	sed 's/PATTERN.*/PATTERN { [pthread_mutex_lock:m, pthread_mutex_unlock:n] } WHERE { [tid] } DO { CALL Message("{} for {}", m.mutex, n.ts - m.ts) }/' locks.rule >said.rule
	observed 4 -f json said.rule -- "$PWD/bank" wait
	holds 'm[0]["calls"][0]["names"] == {"1": "planted_zeroed+0x0 (bank)"}'
	holds 'm[0]["calls"][0]["text"] == "%d for %d" % tuple(m[0]["calls"][0]["args"][1:])'
	"$ASTERISM" run said.rule -- "$PWD/bank" >out
	grep -E '  planted_zeroed\+0x0 \(bank\) for [0-9.]+ms$' out
	grep -E '  planted_record\+0x8 \(bank\) for [0-9.]+ms$' out
}

@test "anonymous memory that processes share is plain: all of it has the same name" {
	[ -x /usr/bin/python3 ] || skip "needs python3"
	cat >shared.py <<-'END'
		import ctypes, mmap
		memory = mmap.mmap(-1, 4096)
		word = ctypes.c_int.from_buffer(memory)
		ctypes.CDLL(None).syscall(202, ctypes.byref(word), 0, 1, None, None, 0)
	END
	run --separate-stderr -0 "$ASTERISM" run -r '[futex_wait:w] WHERE { w.val == 1 } RETURN { w.uaddr AS word }' -- \
		/usr/bin/python3 shared.py
	[[ $output =~ word=0x[0-9a-f]{8,}$ ]]
}

@test "in a replay addresses are plain" {
	echo '{"event":"pthread_mutex_lock","ts":5,"pid":1,"tid":1,"mutex":94158350012608,"caller":94158350000665}' >events.jsonl
	run -0 "$ASTERISM" replay -q locks.rule events.jsonl
	[[ ${lines[0]} == *"  mutex=0x$(printf %x 94158350012608)  caller=0x$(printf %x 94158350000665)" ]]
	run -0 "$ASTERISM" replay -q -f json locks.rule events.jsonl
	[[ ${lines[0]} != *names* ]]
}
