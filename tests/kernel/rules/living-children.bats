#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Rules that follow every child of who was reported: 17,000 of them that stay take all places, and blind nobody. Needs root.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	: "${ASTERISM_TEST_PROGRAMS:=$BATS_TEST_DIRNAME/../../../build/tests/kernel}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ "$(cat /proc/sys/kernel/pid_max)" -gt 25000 ] || skip "needs a pid_max of more than 25000"
	CROWD=$(realpath "$ASTERISM_TEST_PROGRAMS/crowd")
	export CROWD
	cd "$BATS_TEST_TMPDIR"
}

# The first of those who do what TEXT says becomes the crowd; then others do the same, and are to be reported.
session() {
	cat >session.py <<-END
		import ctypes, os, signal, socket, sys, time

		ctypes.CDLL(None).prctl(36, 1) # PR_SET_CHILD_SUBREAPER: nobody is left behind
		$2

		def begin(then, *argv):
		    pid = os.fork()
		    if pid == 0:
		        try:
		            act(then, argv)
		        except BaseException as wrong:
		            print(wrong, file=sys.stderr)
		        os._exit(98)
		    return pid

		crowd = begin(os.environ["CROWD"], "17000", os.path.abspath("there"))
		while not os.path.exists("there"):
		    ended, status = os.waitpid(crowd, os.WNOHANG)
		    if ended:
		        os._exit(os.waitstatus_to_exitcode(status))
		    time.sleep(0.05)
		for i in range(3):
		    os.waitpid(begin("/usr/bin/id"), 0)
		os.kill(crowd, signal.SIGTERM)
		try:
		    while True:
		        os.wait()
		except ChildProcessError:
		    pass
	END
	run --separate-stderr "$ASTERISM" run -f json -o told "@$1" -- python3 session.py
	[ "$status" != 77 ] || skip "no room for 17000 processes: $stderr"
}

# NAME of MACHINE in the last line.
counter() {
	tail -n 1 told | python3 -c 'import json, sys; print(json.load(sys.stdin)["stats"]["rules"][sys.argv[1]][sys.argv[2]])' "$1" "$2"
}

@test "reverse-shell: children of a reported program" {
	session reverse-shell 'listening = socket.create_server(("127.0.0.1", 0))
def act(then, argv):
    connection = socket.create_connection(listening.getsockname())
    for fd in range(2):
        os.dup2(connection.fileno(), fd)
    os.execv(then, [then, *argv])'
	[ "$status" = 0 ]
	[ "$(grep -c '"match":"reverse_shell"' told)" = 4 ]
	[ "$(grep -c '"notice":"pool","rule":"reverse_shell","refused":0,' told)" = 1 ]
	[ "$(counter reverse_shell pool_exhausted)" = 0 ]
	[ "$(counter reverse_shell replaced)" -gt 600 ]
	[[ $stderr == *"machine reverse_shell ended its idlest instance "*" times: its pool of 16384 was full"* ]]
}

@test "chroot-escape: children of a process that has escaped" {
	mkdir jail
	session chroot-escape 'def act(then, argv):
    os.chroot("jail")
    os.chdir("..")
    for i in range(20):
        os.chdir("..")
    os.chroot(".")
    os.execv(then, [then, *argv])'
	[ "$status" = 0 ]
	[ "$(grep -c '"match":"chroot_escape"' told)" = 4 ]
	[ "$(counter chroot_escape pool_exhausted)" = 0 ]
	[ "$(counter chroot_escape replaced)" -gt 600 ]
}
