#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# asterism-boot.service: right, and what it starts works with what there is early in the boot. Needs root.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	build=$(cd "$(dirname "$ASTERISM")/../.." && pwd)
	unit=$build/data/asterism-boot.service
	cd "$BATS_TEST_TMPDIR"
}

# `line NAME`: what the unit says so.
line() {
	sed -n "s/^$1=-\\?//p" "$unit"
}

@test "the unit for the boot is right" {
	command -v systemd-analyze || skip "there is no systemd-analyze"
	sed 's/^ExecStart=[^ ]*/ExecStart=\/bin\/true/; /^Documentation=/d' "$unit" >asterism-boot.service
	run -0 systemd-analyze verify ./asterism-boot.service
	[ -z "$output" ]
	grep -q '^DefaultDependencies=no$' "$unit"
	grep -q '^Before=sysinit.target' "$unit"
	grep -q 'systemctl --no-block stop asterism-boot.service' "$build/data/asterismd.service"
}

@test "it records where nothing but /run can be written, and hands its trace over when there is /var" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	local caps
	caps=$(line CapabilityBoundingSet | tr 'A-Z' 'a-z' | sed 's/cap_/+/g; s/ /,/g')
	line ExecStart | sed "s#^[^ ]*#exec setpriv --bounding-set=-all,$caps --no-new-privs '$ASTERISM'#; s/--for 5min/--for 2s/" >start
	line ExecStopPost | sed "s#^/bin/sh -c '\\(.*\\)'\$#\\1#; s/%b/0123/" >stop
	cat >early <<-'END'
		set -e
		mount -t tmpfs tmpfs /run
		mount -t tmpfs -o ro tmpfs /var
		sh start || [ $? = 3 ]
		"$1" stat /run/asterism-boot >here/counts || [ $? = 3 ]
		ls -ld /run/asterism-boot >here/mode
		sh stop 2>/dev/null && exit 1
		[ -e /run/asterism-boot/metadata ]
		mount -o remount,rw /var
		sh stop
		[ ! -e /run/asterism-boot ]
		"$1" stat /var/lib/asterism/recordings/boot-0123 >/dev/null || [ $? = 3 ]
	END
	mkdir here
	env -i PATH="$PATH" unshare -m sh early "$ASTERISM"
	grep -q '^sched_switch ' here/counts
	grep -q '^drwx------' here/mode
}

@test "systemd is told when it records, so that what starts after it is in the trace" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ "$(line Type)" = notify ]
	cat >wait.py <<-'END'
		import os, socket, subprocess, sys
		with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
		    told.bind("told")
		    told.settimeout(60)
		    recorder = subprocess.Popen([sys.argv[1], "record", "-q", "-o", "trace", "-p", str(os.getpid()), "--no-children",
		                                 "-e", "sched_process_fork"], env={**os.environ, "NOTIFY_SOCKET": os.path.abspath("told")})
		    assert told.recv(100) == b"READY=1"
		    for _ in range(3):
		        if not os.fork():
		            os._exit(0)
		        os.wait()
		    recorder.terminate()
		    recorder.wait()
	END
	timeout 90 python3 wait.py $ASTERISM
	[ "$($ASTERISM dump trace | grep -c ' sched_process_fork ')" = 3 ]
}
