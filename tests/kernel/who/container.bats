#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The field `container`: the kernel calls containers as user space does. The cgroups are the tests' own, called as runtimes
# call theirs. Needs root.

bats_require_minimum_version 1.5.0
load ../../wait

setup_file() {
	cgroups=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)
	export own="${cgroups:+$cgroups/asterism-container-$$}"
}

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -n "$own" ] || skip "needs a mounted cgroup2"
	mkdir "$own"
	cd "$BATS_TEST_TMPDIR"
	id=3f2a9c1d0b5e4f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8
	echo here >file
}

teardown() {
	[ -z "$own" ] || find "$own" -depth -type d -exec rmdir {} +
}

# `values NAME`: what matches return under NAME, one a line.
values() {
	jq -r "select(.match) | .return[\"$1\"]" | sort -u
}

# `within PATH COMMAND...`: as sh -c takes it: the command in the cgroup at PATH below ours.
within() {
	mkdir -p "$own$1"
	printf "echo 0 >'%s/cgroup.procs'; " "$own$1"
	shift
	printf '%s\n' "$*"
}

opened='[sys_enter_openat:a, sys_exit_openat:b] WHERE { [tid], a.filename == "file" }'

@test "the kernel calls every container as user space does" {
	cat >enter.py <<-'END'
		import os, sys
		own, table = sys.argv[1:]
		said = open("said", "wb")
		for number, row in enumerate(open(table, "rb").read().split(b"\n")):
		    if not row or row.startswith(b"#"):
		        continue
		    path, container, unit = row.split(b"\t")
		    if b".." in path or b"x" * 101 in path: # no folder is called so
		        continue
		    folder = own.encode() + path
		    os.makedirs(folder, exist_ok=True)
		    with open(folder + b"/cgroup.procs", "wb") as file:
		        file.write(b"%d" % os.getpid())
		    try:
		        os.open(b"row-%d" % number, os.O_RDONLY)
		    except FileNotFoundError:
		        pass
		    said.write(b"row-%d %s\n" % (number, container))
		open(own + "/../cgroup.procs", "w").write(str(os.getpid()))
	END
	run -0 --separate-stderr "$ASTERISM" run -f json -r '[sys_enter_openat:a] WHERE { a.filename LIKE "row-*" } RETURN { a.filename AS row, a.container AS is }' -- \
		python3 enter.py "$own" "$BATS_TEST_DIRNAME/../../unit/base/container-paths.txt"
	[ "$(wc -l <said)" -gt 100 ]
	diff said <(jq -r 'select(.match) | .return.row + " " + .return.is' <<<"$output")
}

@test "conditions and exceptions on it are judged in the kernel" {
	rule='RULE r PATTERN { sys_enter_openat:a } WHERE { a.filename == "file", a.container LIKE "docker:3f2a*" } RETURN { a.container }'
	run -0 "$ASTERISM" explain -r "$rule"
	[[ $output == *"executed   in the kernel"* ]]
	run -0 --separate-stderr "$ASTERISM" run -f json -r "$rule" -- sh -c "head -c0 file; $(within "/system.slice/docker-$id.scope" head -c0 file)"
	[ "$(grep -c '"match"' <<<"$output")" = 1 ]
	[ "$(values a.container <<<"$output")" = docker:3f2a9c1d0b5e ]
	run -0 "$ASTERISM" run --fail-on-match -r "${rule/docker:3f/docker:3e}" -- sh -c "$(within "/docker/$id" exec head -c0 file)"
	rule='[sys_enter_openat:a] WHERE { a.filename == "file" } EXCEPT { a.container == "machine:web-7f" }'
	run -0 "$ASTERISM" run --fail-on-match -r "$rule" -- sh -c "$(within '/machine-web\x2d7f.scope/payload' exec head -c0 file)"
	run -1 "$ASTERISM" run --fail-on-match -r "$rule" -- sh -c "$(within '/machine-web\x2d7.scope' exec head -c0 file)"
}

@test "a process in a unit of systemd, or in none, is in no container" {
	rule='[sys_enter_openat:a] WHERE { a.filename == "file" } RETURN { a.container }'
	run -0 --separate-stderr "$ASTERISM" run -f json -r "$rule" -- sh -c "$(within /system.slice/nginx.service 'head -c0 file'); $(within "/machine.slice/libpod-conmon-$id.scope" head -c0 file)"
	[ "$(jq -c 'select(.match) | .return["a.container"]' <<<"$output")" = '""
""' ]
}

@test "it is a join field, and a key of aggregates and of machines" {
	both="$(within "/docker/$id" 'head -c0 file'); $(within /lxc/web 'head -c0 file; head -c0 file')"
	rule='[sys_enter_openat:a, sys_enter_openat:b] WHERE { [container], a.pid != b.pid, a.filename == "file", b.filename == "file" } RETURN { b.container }'
	run -0 --separate-stderr "$ASTERISM" run -f json -r "$rule" -- sh -c "$both"
	[ "$(jq -r 'select(.match) | .return["b.container"]' <<<"$output")" = lxc:web ]
	run -0 --separate-stderr "$ASTERISM" run -f json -r "$opened AGGREGATE { COUNT } BY { container }" -- sh -c "$both"
	[ "$(jq -c 'select(.aggregate) | [.by.container, .COUNT]' <<<"$output")" = '["lxc:web",2]
["docker:3f2a9c1d0b5e",1]' ]
	cat >machine.rule <<-'END'
		MACHINE containers KEY { container }
		  STATE None { ON sys_enter_openat:a WHERE a.filename == "file" -> Some }
		  STATE Some { ON sys_enter_openat:a WHERE a.filename == "file" { WARN "again in {container}" } }
	END
	run -0 --separate-stderr "$ASTERISM" run -f json machine.rule -- sh -c "$both"
	[ "$(jq -r 'select(.warning) | .warning' <<<"$output")" = "again in lxc:web" ]
}

# `same LIVE TRACE RULE`: the trace's replay gives what was given live, in user space and in the kernel.
same() {
	for engine in user kernel; do
		"$ASTERISM" replay -f json --engine "$engine" "$3" "$2" >replayed 2>/dev/null
		diff <(undated <"$1" | grep '"match"') <(grep '"match"' replayed)
	done
}

@test "a recording holds it where a rule or --about asks for it, and gives what was given live" {
	both="$(within "/docker/$id" 'head -c0 file'); $(within /lxc/web 'head -c0 file')"
	echo 'RULE r PATTERN { [sys_enter_openat:a, sys_exit_openat:b] } WHERE { [tid], a.filename == "file", b.container != "" } RETURN { a.container, b.container AS then }' >container.rule
	"$ASTERISM" record -q -f json -o trace --rules container.rule -- sh -c "$both" >live
	[ "$(values then <live)" = "docker:3f2a9c1d0b5e
lxc:web" ]
	same live trace container.rule
	"$ASTERISM" record -q -o with --about container -- sh -c "$both"
	"$ASTERISM" record -q -o without -- sh -c "$both"
	run -0 --separate-stderr "$ASTERISM" replay -f json container.rule with
	[ "$(values a.container <<<"$output")" = "$(values a.container <live)" ]
	run -2 "$ASTERISM" replay container.rule without
	[[ $output == *"sys_enter_openat:container, sys_exit_openat:container were not recorded"*"--about container"* ]]
}

@test "events that only user space can match carry it, too" {
	rule='[sys_enter_openat:a] WHERE { a.filename == "file", a.uid * 1.5 < 3.0, a.container == "lxc:web" } RETURN { a.container }'
	run -0 "$ASTERISM" explain -r "$rule"
	[[ $output != *"executed   in the kernel"* ]]
	run -0 --separate-stderr "$ASTERISM" run -f json -r "$rule" -- sh -c "head -c0 file; $(within /lxc/web head -c0 file)"
	[ "$(grep -c '"match"' <<<"$output")" = 1 ]
}

@test "the container of a cgroup too deep to be followed is unread, never guessed" {
	deep=$(printf '/x%.0s' {1..60})
	run -3 "$ASTERISM" run -f json -r '[sys_enter_openat:a] WHERE { a.filename == "file" } RETURN { a.container }' -- \
		sh -c "$(within "$deep" exec head -c0 file)"
	[[ $output != *'"match"'* && $output == *'"unread":'[1-9]* ]]
	[[ $output == *"a cgroup more than 48 deep"* ]]
}

@test "JSON says the container or the unit of a process that is there, as text does" {
	echo : >script
	rule='[sys_enter_openat:a] WHERE { a.filename == "./script" }'
	for row in "/docker/$id/init.scope,\"container\":\"docker:3f2a9c1d0b5e\"" '/system.slice/nginx.service/worker,"systemd_unit":"nginx.service"'; do
		command=$(within "${row%%,*}" '. ./script; sleep 0.5')
		run -0 --separate-stderr "$ASTERISM" run -f json -r "$rule" -- sh -c "$command"
		[[ ${lines[0]} == *'"tainted":false,'"${row#*,}"',"time":"'*'"}' ]]
		run -0 --separate-stderr "$ASTERISM" run -r "$rule" -- sh -c "$command"
		shown=${row#*\":\"}
		[[ ${lines[0]} == *"] ${shown%\"}  "*"cpu "* ]]
	done
}

@test "of a process that has ended nothing is guessed, but the field was read at the event" {
	rule='[sys_enter_exit_group:a, ~sys_enter_dup] WHERE { [tid], a.container != "" } WITHIN 500ms RETURN { a.container }'
	run -0 --separate-stderr "$ASTERISM" run -f json -r "$rule" -- sh -c "($(within "/docker/$id" exit 3)); sleep 1.5"
	[ "$(jq -c 'select(.match) | [.return["a.container"], has("container"), has("systemd_unit")]' <<<"$output")" = '["docker:3f2a9c1d0b5e",false,false]' ]
}

@test "a process that has got the number of an ended one lends it no container" {
	cat >reuse.py <<-'END'
		import ctypes, os, signal, struct, sys, time
		own, libc = sys.argv[1], ctypes.CDLL(None, use_errno=True)
		def enter(name):
		    os.makedirs(own + name, exist_ok=True)
		    open(own + name + "/cgroup.procs", "w").write(str(os.getpid()))
		first = os.fork()
		if first == 0:
		    enter("/docker/" + sys.argv[2])
		    os._exit(0)
		os.waitpid(first, 0)
		time.sleep(0.1)
		number = ctypes.c_int(first)
		clone = struct.pack("11Q", 0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, ctypes.addressof(number), 1, 0) # set_tid
		second = libc.syscall(435, clone, len(clone))
		if second == 0:
		    enter("/lxc/web")
		    time.sleep(2)
		    os._exit(0)
		open("result", "w").write("again" if second == first else os.strerror(ctypes.get_errno()))
		if second > 0:
		    os.waitpid(second, 0)
	END
	rule='[sys_enter_exit_group:a, ~sys_enter_dup] WHERE { [tid], a.container LIKE "docker:*" } WITHIN 1s RETURN { a.container }'
	run -0 --separate-stderr "$ASTERISM" run -f json -r "$rule" -- python3 reuse.py "$own" "$id"
	[ "$(cat result)" = again ] || skip "its number was taken: $(cat result)"
	[ "$(jq -c 'select(.match) | [.return["a.container"], has("container"), has("systemd_unit")]' <<<"$output")" = '["docker:3f2a9c1d0b5e",false,false]' ]
}
