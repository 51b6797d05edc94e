#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Veto: which system calls fail, which do not, and that nobody ever waits for an answer that does not come. Needs root.

bats_require_minimum_version 1.5.0
load ../../wait

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	plant="${ASTERISM_TEST_PROGRAMS:-$(dirname "$ASTERISM")/../../tests/kernel}/veto-plant"
	cd "$BATS_TEST_TMPDIR"
	echo secret >secret
	echo public >public
	cat >name.rule <<-'END'
		RULE name PATTERN { sys_enter_openat:o } WHERE { o.filename LIKE "*/secret" } DO { CALL Veto() }
	END
	cat >heard.rule <<-'END'
		RULE heard SKIPTILLANY PATTERN { [sys_enter_recvfrom:r, sys_enter_openat:o] }
		WHERE { [pid], o.filename LIKE "*/secret" } RETURN { o.filename AS file } DO { CALL Veto("EACCES") }
	END
}

# How many times as long as on an ordinary machine things may take here.
: "${ASTERISM_TEST_PATIENCE:=1}"

# `held RULE CMD...`: its matches are in the file out.
held() {
	local rule=$1
	shift
	run --separate-stderr timeout $((60 * ASTERISM_TEST_PATIENCE)) "$ASTERISM" run -q -f json --allow-actions -o out "$rule" -- "$@"
}

# Whether a process has ended; one that nobody has reaped yet has.
has_ended() {
	[ ! -e "/proc/$1" ] || [[ $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) == Z* ]] || [ ! -e "/proc/$1" ]
}

wait_for_end() {
	wait_for has_ended "$1" || { ps -o pid,stat,wchan,args -p "$1"; false; }
}

# `field JSON-PATH`: of the line of statistics in out.
stats() {
	tail -n 1 out | python3 -c 'import json, sys
said = json.load(sys.stdin)["stats"]
for part in sys.argv[1].split("."): said = said[part]
print(said)' "$1"
}

@test "what completes the constellation fails, what only looks like it does not" {
	held heard.rule "$plant" calls "$PWD/secret" hear "$PWD/public" "$PWD/secret" "$PWD/secret"
	[ "$status" = 0 ]
	[ "$output" = $'ok\nok\nEACCES\nEACCES' ]
	[ "$(wc -l <out)" = 3 ]
	[[ $(head -n 1 out) == *'"comm":"veto-plant","return":{"file":"'"$PWD"'/secret"}'*'"function":"Veto","args":["EACCES"],"done":true,"by":"asterism"'* ]]
}

@test "a process that has not heard anything may open it, whatever another one has heard" {
	held heard.rule sh -c '"$0" calls hear "$1/public"; "$0" calls "$1/secret"' "$plant" "$PWD"
	[ "$output" = $'ok\nok' ]
	[ "$(wc -l <out)" = 1 ]
}

@test "under SKIPTILLNEXT a constellation is over with its match and must come about anew" {
	sed 's/SKIPTILLANY//' heard.rule >once.rule
	held once.rule "$plant" calls hear "$PWD/secret" "$PWD/secret" hear "$PWD/secret"
	[ "$output" = $'EACCES\nok\nEACCES' ]
}

# The page's first rule, over a file of the test's own.
page_rule() {
	sed -n '/^```$/,/^```$/p' "$BATS_TEST_DIRNAME/../../../docs/veto.md" | sed '1d; /^```$/,$d' |
		sed "s|/etc/secret/\*|$PWD/secret|" >page.rule
	grep -q "$PWD/secret" page.rule
}

@test "docs: however often another process receives, the rule of veto.md refuses the one that received before" {
	page_rule
	held page.rule "$plant" crowd 17000 "$PWD/public" "$PWD/secret" "$PWD/secret" hear "$PWD/secret"
	[ "$output" = $'ok\nEACCES\nok\nEACCES' ]
	[ "$(stats rules.secret_after_network.runs_live_max)" -le 3 ]
	# One run a process that stays: each attempt is refused, once.
	sed -e 's/^LATEST$/POOL 16384 PER KEY 1/' -e 's/^RULE .*/& SKIPTILLANY/' page.rule >stays.rule
	held stays.rule "$plant" crowd 17000 "$PWD/public" "$PWD/secret" "$PWD/secret" hear "$PWD/secret"
	[ "$output" = $'ok\nEACCES\nEACCES\nEACCES' ]
	[ "$(stats rules.secret_after_network.matches)" = 3 ]
}

@test "docs: however many processes have received and ended, the rule of veto.md refuses the one that received before" {
	page_rule
	sed -i 's/^LATEST$/& POOL 512/' page.rule # that many are had soon also where a fork takes long
	grep -q 'POOL 512' page.rule
	held page.rule "$plant" crowds 1000 "$PWD/public" "$PWD/secret" "$PWD/secret" hear "$PWD/secret"
	[ "$output" = $'ok\nEACCES\nok\nEACCES' ]
	[ "$(stats rules.secret_after_network.replaced)" = 0 ]
	# Who has ended takes no place.
	[ "$(stats rules.secret_after_network.runs_live_max)" -le 3 ]
}

@test "what one who has ended received is not held against another one with its number" {
	page_rule
	for who in process thread executor; do
		held page.rule "$plant" again "$who" "$PWD/secret" hear "$PWD/secret"
		[ "$output" = $'ok\nEACCES' ]
		sed -i 's/\[pid\]/[tid]/' page.rule # of threads since Linux 6.9
		[ "$(printf '%s\n' 6.9 "$(uname -r)" | sort -V | head -n 1)" = 6.9 ] || break
	done
}

@test "nor where the kernel judges" {
	page_rule
	sed -i '/^DO /d; s/sys_enter_recvfrom/sys_exit_recvfrom/; s/\[pid\]/[tid]/' page.rule
	for who in process thread executor; do
		held page.rule "$plant" again "$who" "$PWD/secret" hear "$PWD/secret"
		[ "$output" = $'ok\nok' ]
		[ "$(stats rules.secret_after_network.matches)" = 1 ]
	done
}

@test "more processes than descriptors: their ends are not noticed, which is reported at once, and calls are refused all the same" {
	page_rule
	mkfifo go
	prlimit --nofile=100:100 timeout $((60 * ASTERISM_TEST_PATIENCE)) "$ASTERISM" run -q --allow-actions page.rule -- \
		sh -c 'for i in $(seq 120); do (read -r _ <"$1"; read -r _ <go) & done; "$0" calls hear "$2" hear "$2"; read -r _ <go || true; wait' \
		"$plant" "$PWD/public" "$PWD/secret" >said 2>err &
	session=$!
	wait_for grep -q 'cannot watch some processes or threads for their end (Too many open files)' err
	grep -q '^help: allow more open files: ulimit -n' err
	wait_for grep -q EACCES said
	exec 9<>go # all of them read the end of it
	sleep 0.2
	exec 9>&-
	wait "$session"
	[ "$(grep -cx EACCES said)" = 2 ]
}

@test "a full pool is reported at once" {
	sed 's/^RETURN/POOL 1 &/; s/ RETURN/ POOL 1 RETURN/' heard.rule >one.rule
	mkfifo go
	timeout $((60 * ASTERISM_TEST_PATIENCE)) "$ASTERISM" run -q -f json --allow-actions -o out one.rule -- \
		sh -c '"$0" calls hear hear hear; read -r _ <go' "$plant" &
	session=$!
	wait_for grep -q '^{"notice":"pool","rule":"heard"' out
	echo >go
	wait "$session"
}

@test "threads, forks and programs that are executed are held, too" {
	held heard.rule "$plant" thread "$PWD/secret"
	[ "$output" = EACCES ]
	held heard.rule "$plant" fork hear "$PWD/secret"
	[ "$output" = EACCES ]
	held heard.rule "$plant" exec "$PWD/public" "$PWD/secret"
	[ "$output" = $'ok\nEACCES' ]
	held heard.rule "$plant" fork "$PWD/secret"
	[ "$output" = ok ]
}

@test "programs that are spawned, and setuid programs" {
	held name.rule "$plant" spawn "$PWD/secret" "$PWD/public"
	[ "$output" = $'EPERM\nok' ]
	command -v setpriv >/dev/null || skip "needs setpriv"
	folder=$(mktemp -d)
	cp "$plant" "$folder/setuid"
	cp secret "$folder/secret"
	chmod 755 "$folder"
	chmod 4755 "$folder/setuid"
	held name.rule setpriv --reuid 65534 --regid 65534 --clear-groups "$folder/setuid" calls uid "$folder/secret"
	rm -r "$folder"
	[[ $output != *65534* ]] || skip "setuid programs are not respected in $folder"
	[ "$output" = $'0\nEPERM' ]
}

@test "the error is the one that the rule names, EPERM where it names none or none that there is" {
	for case in ':EPERM' '"ENOENT":ENOENT' '"eacces":EACCES' '28:ENOSPC' '512:EPERM' 'o.dfd:EPERM' '0:EPERM'; do
		sed "s/Veto()/Veto(${case%:*})/" name.rule >error.rule
		held error.rule "$plant" calls "$PWD/secret" "$PWD/public"
		[ "$output" = "${case#*:}"$'\nok' ]
	done
}

@test "without leave the call goes on, and the match says so" {
	run --separate-stderr timeout $((60 * ${ASTERISM_TEST_PATIENCE:-1})) "$ASTERISM" run -f json -o out name.rule -- "$plant" calls "$PWD/secret"
	[ "$output" = ok ]
	[[ $stderr == *"rule name calls Veto, which is only reported, not done"* ]]
	[[ $(head -n 1 out) == *'"done":false,"why":"not allowed"'* ]]
	echo 'allow Message' >policy
	run --separate-stderr -2 timeout $((60 * ${ASTERISM_TEST_PATIENCE:-1})) "$ASTERISM" run --policy policy name.rule -- "$plant" calls "$PWD/secret"
	[[ $stderr == *"rule name calls Veto, which the policy does not allow"* ]]
	echo 'allow Veto' >policy
	run --separate-stderr timeout $((60 * ${ASTERISM_TEST_PATIENCE:-1})) "$ASTERISM" run -q -o out --policy policy name.rule -- "$plant" calls "$PWD/secret"
	[ "$output" = EPERM ]
}

@test "processes that run already cannot be held" {
	run --separate-stderr -2 timeout $((60 * ${ASTERISM_TEST_PATIENCE:-1})) "$ASTERISM" run --allow-actions name.rule -p $$
	[[ $stderr == *"rule name calls Veto, which does not work for processes that are already running"* ]]
	run --separate-stderr -2 timeout $((60 * ${ASTERISM_TEST_PATIENCE:-1})) "$ASTERISM" run --allow-actions name.rule -a
	[[ $stderr == *"-- CMD"* ]]
}

@test "numbers in registers: a call that is not executed leaves nothing behind" {
	cat >kill.rule <<-'END'
		RULE kill PATTERN { sys_enter_kill:k } WHERE { k.sig == 9 } DO { CALL Veto() }
	END
	held kill.rule sh -c 'sleep 60 & kill -9 $! 2>/dev/null; echo $?; kill -0 $! && echo alive; kill $!'
	[ "$output" = $'1\nalive' ]
}

@test "rules that only watch go on beside it: a refused call ends without having begun" {
	cat >beside.rule <<-'END'
		RULE name PATTERN { sys_enter_openat:o } WHERE { o.filename LIKE "*/secret" } DO { CALL Veto() }
		RULE began PATTERN { [sys_enter_openat:o, sys_exit_openat:x] } WHERE { [tid], x.ret == -1 }
		RULE ended PATTERN { sys_exit_openat:x } WHERE { x.ret == -1 } DO { CALL Count("refused") }
	END
	held beside.rule "$plant" calls "$PWD/public" "$PWD/secret"
	[ "$output" = $'ok\nEPERM' ]
	[ "$(stats rules.name.matches)" = 1 ]
	[ "$(stats counters.refused)" = "$(stats rules.ended.matches)" ]
	[ "$(stats rules.ended.matches)" = 1 ]
}

@test "every call can be held, those of the start included" {
	[ -z "${TSAN_OPTIONS:-}" ] || skip "the sanitizer makes calls of its own before execve"
	cat >every.rule <<-'END'
		RULE every PATTERN { sys_enter:s } WHERE { s.id == 257, s.arg2 == 0x80000, s.id != 257 } DO { CALL Veto() }
	END
	held every.rule sh -c 'cat public | tr p q; exit 7'
	[ "$status" = 7 ]
	[ "$output" = qublic ]
	[ "$(stats events)" -gt 100 ]
	printf 'RULE no PATTERN { sys_enter:s } WHERE { s.id == 39 } DO { CALL Veto("ENOSYS") }\n' >getpid.rule
	held getpid.rule "$plant" calls "$PWD/public"
	[ "$output" = ok ]
}

@test "the execve that starts the command is seen, but never refused" {
	printf 'RULE exec PATTERN { sys_enter_execve:e } RETURN { e.filename AS f } DO { CALL Veto() }\n' >exec.rule
	held exec.rule /bin/sh -c '/bin/true; echo $?'
	[ "$output" = 126 ]
	[ "$(wc -l <out)" = 3 ]
	[[ $(sed -n 1p out) == *'"f":"/bin/sh"'*'"done":false,"why":"the call starts the command itself, or its thread ended meanwhile"'* ]]
	[[ $(sed -n 2p out) == *'"f":"/bin/true"'*'"done":true'* ]]
}

@test "a command that cannot be run is an error as always" {
	[ -z "${TSAN_OPTIONS:-}" ] || skip "the sanitizer makes calls of its own before execve"
	printf '#!/nonexistent\n' >broken
	chmod +x broken
	printf 'RULE every PATTERN { sys_enter:s } DO { CALL Veto() }\n' >every.rule
	held every.rule ./broken
	[ "$status" = 2 ]
	[[ $stderr == *"./broken"* ]]
	held every.rule ./nonexistent
	[ "$status" = 2 ]
}

@test "calls of 32-bit code end the process, those of x32 are unknown" {
	if [ "$("$plant" compat)" = ok ]; then
		held name.rule "$plant" compat
		[ "$status" = 159 ]
		[ -z "$output" ]
	fi
	held name.rule "$plant" x32
	[ "$output" = ENOSYS ]
}

@test "path names at the ends of memory" {
	held name.rule "$plant" edges "$PWD/secret"
	[ "$output" = $'EFAULT\nEFAULT\nEPERM' ]
	held name.rule "$plant" edges "$PWD/public"
	[ "$output" = $'EFAULT\nEFAULT\nok' ]
}

@test "100,000 calls are answered, refused ones and others, and every match is told" {
	local each=$((25000 / ASTERISM_TEST_PATIENCE))
	local all=$((4 * each))
	held name.rule "$plant" storm $all "$PWD/public"
	[ "$output" = "ok $all EPERM 0 ENOSYS 0 other 0" ]
	[ "$(stats rules.name.matches)" = 0 ]
	held name.rule "$plant" storms $each "$PWD/secret"
	[ "$output" = "ok 0 EPERM $all ENOSYS 0 other 0" ]
	[ "$(stats rules.name.matches)" = $all ]
	[ $(($(wc -l <out) - 1 + $(stats lost))) = $all ]
}

@test "a call is judged once, however many signals come" {
	local count=$((20000 / ASTERISM_TEST_PATIENCE))
	held name.rule "$plant" alarms $count "$PWD/secret"
	[ "$status" = 0 ]
	[ "$output" = "ok 0 EPERM $count ENOSYS 0 other 0" ]
	[ "$(stats rules.name.matches)" = $count ]
}

@test "nobody reads the matches: calls are answered all the same" {
	mkfifo pipe
	exec {keep}<>pipe
	timeout $((60 * ${ASTERISM_TEST_PATIENCE:-1})) "$ASTERISM" run -q -f json --allow-actions name.rule -- \
		sh -c '"$0" storm 50000 "$1/secret" >&2' "$plant" "$PWD" >pipe 2>told {keep}>&- 3>&- &
	session=$!
	wait_for grep -qs "EPERM 50000" told
	# The pipe holds 64 KiB, far less than 50,000 matches: the session still waits to write.
	[ -e "/proc/$session" ]
	timeout 60 cat <pipe >matches {keep}>&- 3>&- &
	reader=$!
	exec {keep}>&-
	local ended=0
	wait "$session" || ended=$?
	wait "$reader"
	# What found no room while nobody read is counted, and then the status is 3.
	cp matches out
	lost=$(stats lost)
	[ $ended = $((lost ? 3 : 0)) ]
	[ $(($(grep -c '"match":"' matches) + lost)) = 50000 ]
}

@test "kill -9 in a storm of calls: they fail with ENOSYS, and nobody waits" {
	for pause in 0 0.01 0.1 0.3; do
		rm -f told
		"$ASTERISM" run -q -f json --allow-actions -o out name.rule -- "$plant" forever "$PWD/public" >told 3>&- &
		session=$!
		wait_for grep -qs going told
		child=$(cat "/proc/$session/task/$session/children")
		sleep "$pause"
		kill -9 "$session"
		wait "$session" || true
		wait_for_end "${child% }"
		[ "$(cat told)" = $'going\nENOSYS' ]
	done
}

@test "kill -9 while calls are held: they fail with ENOSYS" {
	"$ASTERISM" run -q -f json --allow-actions -o out name.rule -- "$plant" forever "$PWD/public" >told 3>&- &
	session=$!
	wait_for grep -qs going told
	child=$(cat "/proc/$session/task/$session/children")
	kill -STOP "$session"
	wait_for grep -q '^257 ' "/proc/${child% }/syscall"
	# Nobody answers: it stays in the same call.
	before=$(cat "/proc/${child% }/syscall")
	[[ $before == 257\ * ]]
	[ "$(cat told)" = going ]
	kill -9 "$session"
	wait "$session" || true
	wait_for_end "${child% }"
	[ "$(cat told)" = $'going\nENOSYS' ]
}

@test "kill -9 at any moment of the beginning leaves nobody behind" {
	# Every call fails then, exit_group too, and the runtime of that sanitizer calls it again and again.
	[ -z "${TSAN_OPTIONS:-}" ] || skip "the sanitizer of threads does not end where its exit is refused"
	printf 'RULE every PATTERN { sys_enter:s } WHERE { s.id == 9999 } DO { CALL Veto() }\n' >every.rule
	for i in $(seq 0 40); do
		"$ASTERISM" run -q --allow-actions -o out every.rule -- "$plant" storm 10 "$PWD/public" >/dev/null 2>&1 3>&- &
		session=$!
		sleep "0.0$(printf %02d "$i")"
		children=$(cat "/proc/$session/task/$session/children" 2>/dev/null || true)
		kill -9 "$session" 2>/dev/null || true
		wait "$session" || true
		for child in $children; do
			wait_for_end "$child"
		done
	done
}

# What bash starts in the background ignores SIGINT; SIGTERM stands for it where the command is to be ended by it.
@test "a signal ends the command and the session; a second one leaves calls unanswered, which fail" {
	"$ASTERISM" run -f json --allow-actions -o out name.rule -- "$plant" forever "$PWD/secret" >told 2>said 3>&- &
	session=$!
	wait_for grep -qs going told
	child=$(cat "/proc/$session/task/$session/children")
	kill -TERM "$session"
	wait "$session" || true
	wait_for_end "${child% }"
	[ "$(cat told)" = going ]
	"$ASTERISM" run -f json --allow-actions -o out name.rule -- sh -c 'trap "" INT; exec "$0" forever "$1/secret"' \
		"$plant" "$PWD" >told 2>said 3>&- &
	session=$!
	wait_for grep -qs going told
	child=$(cat "/proc/$session/task/$session/children")
	kill -INT "$session"
	wait_for has_taken_signals "$session"
	kill -INT "$session"
	wait "$session" || true
	wait_for_end "${child% }"
	[ "$(tail -n 1 told)" = ENOSYS ]
}

@test "a process that never lets its memory be read stalls itself, not the session" {
	"$ASTERISM" run -q -f json --allow-actions -o out name.rule -- "$plant" stall >told 2>said 3>&- &
	session=$!
	for _ in $(seq 200); do
		! grep -q userfaultfd said || skip "no userfaultfd here"
		! grep -q going told || break
		sleep 0.05
	done
	child=$(cat "/proc/$session/task/$session/children")
	kill -INT "$session" # which the command ignores
	wait_for has_taken_signals "$session"
	kill -INT "$session"
	wait "$session" || true
	wait_for_end "${child% }"
	[ "$(cat told)" = $'going\nENOSYS' ]
}

@test "a session within a held command: a clear error" {
	held name.rule "$ASTERISM" run -q --allow-actions name.rule -- true
	[ "$status" = 4 ]
	[[ $stderr == *"another program already holds asterism's own system calls"* ]]
}

@test "without CAP_SYS_ADMIN the command gives up gaining privileges, and is told so" {
	command -v setpriv >/dev/null || skip "needs setpriv"
	run --separate-stderr timeout 60 setpriv --bounding-set=-sys_admin "$ASTERISM" run -f json --allow-actions -o out \
		name.rule -- sh -c 'grep NoNewPrivs /proc/self/status; "$0" calls "$1/secret"' "$plant" "$PWD"
	[ "$status" = 0 ] || skip "rules cannot be loaded without CAP_SYS_ADMIN here: $stderr"
	[ "$output" = $'NoNewPrivs:\t1\nEPERM' ]
	[[ $stderr == *"cannot gain privileges by setuid programs (no_new_privs)"* ]]
}
