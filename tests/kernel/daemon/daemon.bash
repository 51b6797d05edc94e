# SPDX-License-Identifier: BSD-2-Clause
# What the tests of asterismd share: a folder, some rules, a process to observe, and how to talk to the daemon.

load ../../wait

daemon_setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	build=$(cd "$(dirname "$ASTERISM")/../.." && pwd)
	export ASTERISM_CATALOGS=${ASTERISM_CATALOGS:-$BATS_TEST_DIRNAME/../../../catalogs}
	asterismd=$build/src/cmd/asterismd
	cd "$BATS_TEST_TMPDIR"
	chmod 755 .
	mkdir rules
	cat >pair.rule <<-'END'
		RULE pair PATTERN { [sys_enter_getppid:a, sys_exit_getppid:b] } WHERE { [tid] } RETURN { a.pid AS who }
	END
	start_puppet
}

daemon_teardown() {
	[ -z "$daemon" ] || { kill -KILL "$daemon"; wait "$daemon"; } 2>/dev/null || true
	[ -z "$puppet" ] || { kill -KILL "$puppet"; wait "$puppet"; } 2>/dev/null || true
	[ ! -s log ] || cat log
}

# A process that does what it is told: `call N` has it call getppid so many times, `call pgid` getpgid once.
start_puppet() {
	mkfifo to from
	exec 6<>from 7<>to
	python3 -c 'import os
for line in open("to"):
    if line.strip() == "pgid":
        os.getpgid(0)
    else:
        for _ in range(int(line)):
            os.getppid()
    print(line, end="", flush=True)' >from 3>&- 6<&- 7>&- &
	puppet=$!
	call 0
}

call() {
	echo "$1" >&7
	read -r _ <&6
}

# `start OPTION...`: asterismd, observing the puppet.
start() {
	: >log # not of a daemon before
	"$asterismd" --rules rules --socket ctl.sock --pid "$puppet" --output out "$@" 2>log 3>&- 6<&- 7>&- &
	daemon=$!
	wait_for says_or_ended observing "$daemon" log && grep -q observing log
}

# `says_or_ended TEXT PID FILE`
says_or_ended() {
	grep -q "$1" "$3" || ! kill -0 "$2" 2>/dev/null
}

stop() {
	kill -TERM "$daemon"
	wait "$daemon"
	daemon=
}

ctl() {
	"$ASTERISM" ctl --socket ctl.sock "$@"
}

control() {
	python3 "$BATS_TEST_DIRNAME/control.py" ctl.sock "$@"
}

# `await TEXT FILE [COUNT]`: until so many lines of the file hold the text.
await() {
	wait_for holds "$@" || { cat "$2"; return 1; }
}

holds() {
	[ "$(grep -c "$1" "$2")" -ge "${3:-1}" ]
}

# `asked PYTHON [UNIT]`: an expression over the reply q to query.
asked() {
	ctl -f json query ${2+"$2"} | python3 -c 'import json, sys
q = json.load(sys.stdin)
u = {unit["unit"]: unit for unit in q["units"]}
print(('"$1"'))'
}

as_nobody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

# `puppet_ends STATUS`. Not `run wait`: a subshell knows of a child only where the shell itself has seen it end already.
puppet_ends() {
	local status=0
	wait "$puppet" || status=$?
	puppet=
	[ "$status" = "$1" ]
}
