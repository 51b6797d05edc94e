#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Rules of the library about what a program runs with, against ordinary tools; the rules' own tests have the rest. Needs root.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	command -v busybox >/dev/null || skip "needs busybox"
	cd "$BATS_TEST_TMPDIR"
}

# TEXT in a shell, with a free PORT; what is told, by name.
told() {
	port=$(python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
	run --separate-stderr "$ASTERISM" run -f json -o told "@$1" -- sh -c "${2//PORT/$port}"
	names=$(grep -o '"match":"[a-z_]*"' told | cut -d'"' -f4 | tr '\n' ' ')
}

# A client that tries until there is a server; what it says to it is TEXT.
client() {
	echo "import socket, time
while True:
    try: s = socket.create_connection((\"127.0.0.1\", PORT)); break
    except OSError: time.sleep(0.05)
s.sendall(b\"$1\\n\"); s.shutdown(socket.SHUT_WR)
while s.recv(4096): pass"
}

@test "nc -e, asking for the connection and accepting it; a program of another kind on the same way" {
	told reverse-shell "(echo exit 0 | timeout 20 busybox nc -l -p PORT >/dev/null & sleep 0.5
		timeout 20 busybox nc 127.0.0.1 PORT -e sh; wait)"
	[ "$names" = "reverse_shell " ]
	told reverse-shell "timeout 20 busybox nc -l -p PORT -e sh & python3 -c '$(client "exit 0")'; wait"
	[ "$names" = "bind_shell " ]
	told reverse-shell "timeout 20 busybox nc -l -p PORT -e cat & python3 -c '$(client "exit 0")'; wait"
	[ "$names" = "" ]
}

@test "a connection from before the session" {
	cat >before.py <<-'END'
		import os, signal, socket, sys
		listening = socket.create_server(("127.0.0.1", 0))
		connection = socket.create_connection(listening.getsockname())
		there = listening.accept()[0]
		signal.sigwait([signal.SIGUSR1])
		for way, mine in ("sh", connection), ("cat", there):
		    if not os.fork():
		        for fd in range(3):
		            os.dup2(mine.fileno(), fd)
		        os.execvp(way, [way, "/dev/null"])
		    os.wait()
	END
	python3 -c 'import signal, os, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1]); os.execvp("python3", ["python3", "before.py"])' &
	local started=$!
	until [ "$(find /proc/$started/fd -lname 'socket:*' | wc -l)" = 3 ]; do sleep 0.1; done
	"$ASTERISM" run -v -f json -o told @reverse-shell -p $started 2>said 3>&- &
	local session=$!
	until grep -q observing said; do kill -0 $session; sleep 0.05; done
	kill -USR1 $started
	wait $started
	wait $session
	[ "$(grep -c '"match":"reverse_shell"' told)" = 1 ]
	[ "$(grep -c '"match":"' told)" = 1 ]
}

@test "what a tool takes back for a moment is no gain; what it runs with is" {
	told credential-change-exec 'setpriv --reuid=65534 --clear-groups true; runuser -u nobody true; su -s /bin/sh nobody -c true'
	[ "$names" = "" ]
	told credential-change-exec 'perl -e "\$) = 0; \$> = 65534; \$> = 0; exec q(true)"'
	[ "$names" = "credential_change_exec " ]
}

@test "a root directory that a process gives up for one outside of it, and one within" {
	mkdir -p jail/inner
	told chroot-escape 'python3 -SEc "import os; os.chroot(\"jail\"); os.chroot(\"../../../../..\")"'
	[ "$names" = "chroot_escape " ]
	told chroot-escape 'python3 -SEc "import os; os.chroot(\"jail\"); os.chdir(\"/\"); os.chroot(\"inner\"); os.chdir(\"/\"); os.chroot(\".\")"'
	[ "$names" = "" ]
}

@test "a program between pipes is seen whole, however long its command line" {
	run --separate-stderr "$ASTERISM" run @reverse-shell -- sh -c 'echo a | env true "$(printf %0700d 7)" | cat'
	[ "$status" -eq 0 ]
	[[ $stderr != *completely* ]]
}
