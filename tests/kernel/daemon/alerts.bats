#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# examples/daemon: actions and alerts get out of what asterismd.service shuts the daemon in: its capabilities, files that
# cannot be written, no network. Needs root.

bats_require_minimum_version 1.5.0
load daemon

setup() {
	daemon_setup
	example=$BATS_TEST_DIRNAME/../../../examples/daemon
}

teardown() {
	[ -z "$listener" ] || kill "$listener" 2>/dev/null || true
	daemon_teardown
}

# Stands in for the socket's unit, which starts `alert` for each connection, and for a web hook that keeps what it gets.
listen() {
	python3 -c 'import http.server, os, socket, subprocess, sys, threading
class Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open("posted", "ab") as file:
            file.write(body)
        self.send_response(204)
        self.end_headers()
hook = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
threading.Thread(target=hook.serve_forever, daemon=True).start()
alerts = socket.socket(socket.AF_UNIX)
alerts.bind("alerts.sock")
os.chmod("alerts.sock", 0o600)
alerts.listen()
environment = dict(os.environ, URL=f"http://127.0.0.1:{hook.server_port}/hook")
while True:
    connection, _ = alerts.accept()
    subprocess.Popen([sys.argv[1]], stdin=connection, stdout=open("journal", "ab"), env=environment)
    connection.close()' "$example/alert" 2>listener.log 3>&- 6<&- 7>&- &
	listener=$!
	touch posted
	wait_for [ -S alerts.sock ]
}

@test "a policy's actions are done, and alerts reach the journal and a web hook" {
	command -v curl >/dev/null || skip "curl is not installed"
	caps=$(sed -n 's/^CapabilityBoundingSet=//p' "$build/data/asterismd.service" | tr 'A-Z' 'a-z' | sed 's/cap_/+/g; s/ /,/g')
	options=$(sed -n '/^ExecStart=.*asterismd/,/[^\\]$/p' "$example/alerts.conf" | tr -d '\\\n' | sed 's/^[^ ]* //
		s|/etc/asterism/policy|policy|; s|/run/asterism-alerts.sock|alerts.sock|; s|--group asterism|--group nogroup|
		s|--recordings [^ ]*|--recordings recordings|')
	[[ $options == *"--policy policy "*"--output unix:alerts.sock" ]]
	install -m 644 "$example/policy" policy
	printf 'RULE ends PATTERN { [sys_exit_getpgid:a] } SEVERITY high DO { CALL Kill(#PID) }\n' >rules/ends.rule
	printf 'RULE low PATTERN { [sys_exit_getppid:a] } SEVERITY low\n' >rules/low.rule
	listen
	export ASTERISM_SENSORS=$PWD/sensors
	unshare --mount --net sh -c 'mount --bind . . && mount -o remount,bind,ro / && cd "$PWD" && exec "$@"' - \
		setpriv --bounding-set="-all,$caps" --no-new-privs "$asterismd" --rules rules --socket ctl.sock --pid "$puppet" $options 2>log 3>&- 6<&- 7>&- &
	daemon=$!
	await observing log
	! nsenter --target "$daemon" --mount touch /etc/asterism-was-here
	[ ! -e /etc/asterism-was-here ]
	call 2
	echo pgid >&7
	puppet_ends 137
	await '"match":"ends"' posted
	grep -q '"done":true' posted
	grep -q '"match":"ends"' journal
	! grep -q '"match":"low"' posted
}

@test "the units of the example are right" {
	command -v systemd-analyze >/dev/null || skip "systemd-analyze is not installed"
	mkdir -p units/asterismd.service.d
	cp "$example"/asterism-alerts* units
	cp "$example/alerts.conf" units/asterismd.service.d
	cp "$build/data/asterismd.service" units
	sed -i 's/^ExecStart=[^ ]\{1,\}/ExecStart=\/bin\/true/; /^Documentation=/d' units/*.service units/*/*
	cd units
	run -0 systemd-analyze verify ./asterismd.service ./asterism-alerts.socket ./asterism-alerts@1.service
	[ -z "$output" ]
}
