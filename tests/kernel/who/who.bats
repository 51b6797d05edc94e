#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Who raises an event, beyond its header: parent, user, group, cgroup, number in a pid namespace. Ordinary programs say it of
# themselves in other ways, with which the fields are compared. Needs root; cgroups are the tests' own.

bats_require_minimum_version 1.5.0
load ../../wait

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
	echo here >file
	chmod 755 . .. 2>/dev/null || true
	own=
}

teardown() {
	[ -z "$own" ] || rmdir "$own"
}

# `values NAME`: what matches return under NAME, one a line.
values() {
	jq -r "select(.match) | .return[\"$1\"]" | sort -u
}

opened='[sys_enter_openat:a, sys_exit_openat:b] WHERE { [tid], a.filename == "file" }'

@test "user and group are those of the thread that raises the event" {
	run -0 --separate-stderr "$ASTERISM" run -f json -r "$opened RETURN { a.uid, b.uid AS then, a.gid }" -- \
		setpriv --reuid 65534 --regid 65533 --clear-groups head -c0 file
	[ "$(values a.uid <<<"$output")" = 65534 ]
	[ "$(values then <<<"$output")" = 65534 ]
	[ "$(values a.gid <<<"$output")" = 65533 ]
	run -0 --separate-stderr "$ASTERISM" run -f json -r "$opened RETURN { a.uid }" -- head -c0 file
	[ "$(values a.uid <<<"$output")" = 0 ]
}

@test "conditions on the user are judged in the kernel" {
	rule="[sys_enter_openat:a] WHERE { a.filename == \"file\", a.uid != 0 }"
	run -0 "$ASTERISM" explain -r "$rule"
	[[ $output == *"executed   in the kernel"* ]]
	run -1 "$ASTERISM" run --fail-on-match -r "$rule" -- setpriv --reuid 65534 head -c0 file
	run -0 "$ASTERISM" run --fail-on-match -r "$rule" -- head -c0 file
}

@test "users and groups have the names that this host has for them, live" {
	read -r user group < <(awk -F: '$3 == 65534 { print $1 }' /etc/passwd /etc/group | xargs)
	[ -n "$group" ] || skip "65534 has no name here"
	rule="$opened RETURN { a.uid, a.gid AS of, b.uid * 1 AS number }"
	them="setpriv --reuid 65534 --regid 65534 --clear-groups head -c0 file"
	run -0 --separate-stderr "$ASTERISM" run -r "$rule" -- $them
	[[ $output == *"a.uid=$user  of=$group  number=65534"* ]]
	run -0 --separate-stderr "$ASTERISM" run -f json -r "$rule" -- $them
	[ "$(values a.uid <<<"$output")" = 65534 ]
	[ "$(jq -c 'select(.match) | .names' <<<"$output")" = "{\"a.uid\":\"$user\",\"of\":\"$group\"}" ]
	run -0 --separate-stderr "$ASTERISM" run -r "$rule" -- setpriv --reuid 3000000017 --clear-groups head -c0 file
	[[ $output == *"a.uid=3000000017  of=root"* ]]
	run -0 --separate-stderr "$ASTERISM" run -q -r "[sys_enter_openat:a] WHERE { a.filename == \"file\" } AGGREGATE { COUNT } BY { a.uid }" -- $them
	[[ $output =~ $user\ +1 ]]
}

@test "a replay has no names for users: they may be another machine's" {
	rule="[sys_enter_openat:a] WHERE { a.filename == \"file\", a.uid == nobody } RETURN { a.uid }"
	getent passwd nobody >passwd || skip "there is no nobody here"
	number="$(cut -d: -f3 passwd)"
	run -0 --separate-stderr "$ASTERISM" record -q -o trace -r "$rule" -- setpriv --reuid "$number" --clear-groups head -c0 file
	run -0 --separate-stderr "$ASTERISM" replay -r "$rule" trace
	[[ $output == *"a.uid=$number" ]]
	[[ $stderr != *"stands for"* ]]
	run -0 --separate-stderr "$ASTERISM" replay -f json -r "$rule" trace
	[[ $output == *'"a.uid":'"$number"* ]]
	[[ $output != *names* ]]
	run -0 --separate-stderr unshare -u sh -c 'hostname elsewhere; exec "$@"' - "$ASTERISM" replay -r "$rule" trace
	[[ $stderr == *"warning: 'nobody' was resolved to its number on elsewhere, but the events are from $(uname -n)"* ]]
	run -0 --separate-stderr unshare -u sh -c 'hostname elsewhere; exec "$@"' - "$ASTERISM" replay -r "${rule/nobody/root}" trace
	[[ $stderr != *"stands for"* ]]
}

@test "names of users and groups are numbers in conditions, quoted where they have a hyphen" {
	run -0 --separate-stderr "$ASTERISM" explain -r '[sys_enter_openat:a] WHERE { a.uid IN { root, nobody } }'
	[[ $output == *"IN { 0, $(getent passwd nobody | cut -d: -f3) }"* ]]
	run -0 --separate-stderr "$ASTERISM" explain -r '[sys_enter_openat:a] WHERE { a.gid == "root", "nobody" != a.uid }'
	[[ $output == *"executed   in the kernel"* ]]
	run -2 --separate-stderr "$ASTERISM" check -r '[sys_enter_openat:a] WHERE { a.uid == rooot }'
	[[ $stderr == *"no constant of 'uid' is named 'rooot'"*"did you mean 'root'?"* ]]
	run -2 --separate-stderr "$ASTERISM" check -r '[sys_enter_openat:a] WHERE { a.gid == "no-such-group-here" }'
	[[ $stderr == *"no constant of 'gid' is named 'no-such-group-here'"*"names of users and groups are looked up on this host"* ]]
	run -2 --separate-stderr "$ASTERISM" check -r '[sys_enter_openat:a] WHERE { a.pid == "root" }'
}

@test "the parent is the process that started it" {
	run -0 --separate-stderr "$ASTERISM" run -f json -r "$opened RETURN { a.ppid }" -- sh -c 'echo $$ >parent; head -c0 file; :'
	[ "$(values a.ppid <<<"$output")" = "$(cat parent)" ]
}

@test "the number in a pid namespace is its own, outside of any the usual one" {
	run -0 --separate-stderr "$ASTERISM" run -f json -r "$opened RETURN { a.ns_pid, a.pid }" -- \
		unshare -p -f sh -c 'echo $$ >inner; exec head -c0 file'
	[ "$(values a.ns_pid <<<"$output")" = "$(cat inner)" ]
	[ "$(cat inner)" = 1 ]
	[ "$(values a.pid <<<"$output")" -gt 1 ]
	run -0 --separate-stderr "$ASTERISM" run -f json -r "$opened RETURN { a.ns_pid, a.pid }" -- head -c0 file
	[ "$(values a.ns_pid <<<"$output")" = "$(values a.pid <<<"$output")" ]
}

@test "a cgroup is told by the inode of its folder" {
	cgroups=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)
	[ -n "$cgroups" ] || skip "needs a mounted cgroup2"
	own=$cgroups/asterism-who-$$
	mkdir "$own"
	run -0 --separate-stderr "$ASTERISM" run -f json -r "$opened RETURN { a.cgroup_id }" -- \
		sh -c "head -c0 file; echo 0 >'$own/cgroup.procs'; exec head -c0 file"
	# first where the test itself is, then in its own
	[ "$(values a.cgroup_id <<<"$output" | wc -l)" = 2 ]
	[[ $'\n'$(values a.cgroup_id <<<"$output")$'\n' == *$'\n'"$(stat -c %i "$own")"$'\n'* ]]
}

rule='RULE r PATTERN { sys_enter_openat:a } WHERE { a.filename == "file" } RETURN { a.exe, a.args, a.cgroup }'

@test "the program is told by its file, wherever it is mounted, and by its arguments" {
	run -0 --separate-stderr "$ASTERISM" run -f json -r "$rule" -- head -c0 file
	[ "$(values a.exe <<<"$output")" = "$(readlink -f "$(command -v head)")" ]
	[ "$(values a.args <<<"$output")" = "head -c0 file" ]
	mkdir folder mounted
	cp "$(command -v head)" folder/own
	run -0 --separate-stderr "$ASTERISM" run -f json -r "$rule" -- \
		unshare -m sh -c 'mount --bind folder mounted; exec mounted/own -c0 file'
	[ "$(values a.exe <<<"$output")" = "$PWD/mounted/own" ]
	[ "$(values a.args <<<"$output")" = "mounted/own -c0 file" ]
	rule='[sys_enter_openat:a] WHERE { a.filename == "file", a.exe == "'$(readlink -f "$(command -v head)")'" }'
	run -1 "$ASTERISM" run --fail-on-match -r "$rule" -- head -c0 file
	run -0 "$ASTERISM" run --fail-on-match -r "$rule" -- folder/own -c0 file
}

@test "a title that a program puts over its arguments ends where it does" {
	cat >title.py <<-'END'
		import ctypes, os
		fields = open("/proc/self/stat").read().rpartition(")")[2].split()
		start, end = int(fields[45]), int(fields[46])
		def call_it(title, number):
		    ctypes.memset(start, 0, end - start)
		    ctypes.memmove(start, title, len(title))
		    try:
		        os.getpgid(1000000 + number)
		    except OSError:
		        pass
		call_it(b"own: worker", 1)
		call_it(b"own:\0worker  ", 2)
		call_it(b"", 3)
		call_it(b"x" * (end - start), 4)
	END
	run -0 --separate-stderr "$ASTERISM" run -f json -r 'sys_enter_getpgid:a WHERE { a.target_pid > 1000000 } RETURN { a.target_pid AS n, a.args AS t }' -- \
		/usr/bin/python3 title.py and some more words that leave it room
	[ "$(jq -r 'select(.match) | .return | "\(.n) <\(.t)>"' <<<"$output" | head -3)" = "1000001 <own: worker>
1000002 <own: worker  >
1000003 <>" ]
	[[ $(jq -r 'select(.match and .return.n == 1000004) | .return.t' <<<"$output") =~ ^x{60,}$ ]]
	run -1 "$ASTERISM" run --fail-on-match -r 'sys_enter_getpgid:a WHERE { a.args LIKE "*: worker" }' -- /usr/bin/python3 title.py and more
}

@test "a program's start says its arguments, long ones as far as they fit" {
	run -0 --separate-stderr "$ASTERISM" run -f json -r '[sched_process_exec:a] RETURN { a.args, a.ppid }' -- \
		sh -c 'echo $$ >parent; head -c0 file; head -c0 $(seq 400) 2>/dev/null; :'
	values a.args <<<"$output" | grep -qxF "head -c0 file"
	long="head -c0 $(seq 400 | paste -s -d ' ')"
	values a.args <<<"$output" | grep -qxF "${long:0:255}"
	jq -r 'select(.match) | .return["a.ppid"]' <<<"$output" | grep -qxF "$(cat parent)"
}

@test "a path that is too long is unread, live and recorded, never a part of it" {
	deep=$(printf "/$(printf 'x%.0s' {1..60})%.0s" {1..5})
	mkdir -p ".$deep"
	cp "$(command -v head)" ".$deep/own"
	run -3 "$ASTERISM" run -f json -r "$rule" -- ".$deep/own" -c0 file
	[[ $output != *'"match"'* && $output == *'"unread":'[1-9]* && $output == *"a path of more than 255 bytes or 48 components"* ]]
	echo "$rule" >who.rule
	"$ASTERISM" record -q -o trace who.rule -- ".$deep/own" -c0 file
	for engine in user kernel; do
		run -3 "$ASTERISM" replay -f json --engine "$engine" who.rule trace
		[[ $output != *'"match"'* && $output == *'"unread":'[1-9]* ]]
	done
	# who asks for something else sees it
	run -0 --separate-stderr "$ASTERISM" run -f json -r '[sys_enter_openat:a] WHERE { a.filename == "file" } RETURN { a.args }' -- ".$deep/own" -c0 file
	[ "$(values a.args <<<"$output" | wc -l)" = 1 ]
}

@test "a cgroup is told by its path from the hierarchy's root" {
	cgroups=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)
	[ -n "$cgroups" ] || skip "needs a mounted cgroup2"
	own=$cgroups/asterism-who-$$
	mkdir "$own"
	run -0 --separate-stderr "$ASTERISM" run -f json -r "$rule" -- sh -c "echo 0 >'$own/cgroup.procs'; exec head -c0 file"
	[ "$(values a.cgroup <<<"$output")" = "/asterism-who-$$" ] ||
		[[ $(values a.cgroup <<<"$output") == /*/"asterism-who-$$" ]] # where the machine itself is in a cgroup
}

@test "a container is found by its cgroup's path, in the kernel" {
	cgroups=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)
	[ -n "$cgroups" ] || skip "needs a mounted cgroup2"
	id=$(printf '3f2a9c1d%.0s' {1..8})
	own=$cgroups/docker-$id.scope
	mkdir "$own"
	rule='[sys_enter_openat:a] WHERE { a.filename == "file", a.cgroup LIKE "*/docker-3f2a9c1d*" } RETURN { a.cgroup }'
	run -0 "$ASTERISM" explain -r "$rule"
	[[ $output == *"executed   in the kernel"* ]]
	run -0 --separate-stderr "$ASTERISM" run -f json -r "$rule" -- sh -c "head -c0 file; echo 0 >'$own/cgroup.procs'; exec head -c0 file"
	[[ $(values a.cgroup <<<"$output") == *"/docker-$id.scope" ]]
	[ "$(grep -c '"match"' <<<"$output")" = 1 ]
}

@test "they are keys of strict partitions, for all types of the stream" {
	cat >events.jsonl <<-'END'
		{"event":"sys_enter_close","ts":1,"fd":3,"uid":5}
		{"event":"sys_enter_dup","ts":2,"fildes":3,"uid":5}
		{"event":"sys_exit_close","ts":3,"ret":0,"uid":5}
		{"event":"sys_enter_close","ts":4,"fd":3,"uid":5}
		{"event":"sys_enter_dup","ts":5,"fildes":3,"uid":6}
		{"event":"sys_exit_close","ts":6,"ret":0,"uid":5}
	END
	echo 'RULE r STRICTPARTITION PATTERN { [sys_enter_close:a, sys_exit_close:b] } WHERE { [uid] }
		OVER { sys_enter_close, sys_exit_close, sys_enter_dup } RETURN { a.ts, b.ts AS e }' >strict.rule
	for engine in user kernel; do
		run -0 --separate-stderr "$ASTERISM" replay -f json --engine "$engine" strict.rule events.jsonl
		[ "$(jq -c 'select(.match) | [.return["a.ts"], .return.e]' <<<"$output")" = "[4,6]" ]
	done
	# a line that lacks what is asked for is an error
	sed -i '2s/,"uid":5//' events.jsonl
	run -2 "$ASTERISM" replay strict.rule events.jsonl
	[[ $output == *"field 'uid' of sys_enter_dup is missing"* ]]
}

@test "they are keys of patterns, of machines and of aggregates" {
	both='head -c0 file; setpriv --reuid 65534 head -c0 file'
	run -0 --separate-stderr "$ASTERISM" run -f json -r \
		'[sys_enter_openat:a, sys_enter_openat:b] WHERE { [uid], a.pid != b.pid, a.filename == "file", b.filename == "file" }' \
		-- sh -c "$both"
	[ -z "$(jq 'select(.match)' <<<"$output")" ]
	run -0 --separate-stderr "$ASTERISM" run -f json -r "$opened AGGREGATE { COUNT } BY { uid, comm }" -- sh -c "$both"
	[ "$(jq -c 'select(.aggregate) | [.by.uid, .by.comm, .COUNT]' <<<"$output" | sort)" = '[0,"head",1]
[65534,"head",1]' ]
	run -0 --separate-stderr "$ASTERISM" run -f json -r "$opened AGGREGATE { COUNT } BY { gid, exe }" -- sh -c "$both"
	[ "$(jq -c 'select(.aggregate) | [.by.gid, .by.exe, .COUNT]' <<<"$output")" = '[0,"/usr/bin/head",2]' ]
	cat >machine.rule <<-'END'
		MACHINE users KEY { uid }
		  VAR count: u32;
		  STATE None { ON sys_enter_openat:a WHERE a.filename == "file" -> Some { count = 1 } }
		  STATE Some { ON sys_enter_openat:a WHERE a.filename == "file" { count = count + 1; WARN "user {uid}: {count}, by {a.gid}" } }
	END
	run -0 --separate-stderr "$ASTERISM" run -f json machine.rule -- sh -c "$both; head -c0 file"
	[ "$(jq -r 'select(.warning) | .warning' <<<"$output")" = "user 0: 2, by 0" ]
}

# `same LIVE TRACE RULE`: the trace's replay gives what was given live, in user space and in the kernel.
same() {
	for engine in user kernel; do
		"$ASTERISM" replay -f json --engine "$engine" "$3" "$2" >replayed 2>/dev/null
		diff <(undated <"$1" | grep '"match"') <(grep '"match"' replayed) || return 1
	done
}

@test "a recording holds what its rules ask for, and gives what they gave live" {
	echo 'RULE r PATTERN { sys_enter_openat:a } WHERE { a.filename == "file" } RETURN { a.uid, a.gid, a.ppid, a.ns_pid, a.cgroup_id, a.exe, a.args, a.cgroup }' >who.rule
	"$ASTERISM" record -q -f json -o trace --rules who.rule -- setpriv --reuid 65534 head -c0 file >live
	[ -s live ]
	same live trace who.rule
	"$ASTERISM" compile -o who.image who.rule
	same live trace who.image
	# who did not ask gets none of it, and is not disturbed
	run -0 --separate-stderr "$ASTERISM" replay -f json -r '[sys_enter_openat:a] WHERE { a.filename == "file" } RETURN { a.flags }' trace
	[ "$(values a.flags <<<"$output")" = 0 ]
	"$ASTERISM" dump -f json trace | grep -q '"uid":65534'
}

@test "--about records them with every event, and without them replays say what is missing" {
	"$ASTERISM" record -q -o with --about uid,ppid -- setpriv --reuid 65534 head -c0 file
	"$ASTERISM" record -q -o without -- setpriv --reuid 65534 head -c0 file
	rule='[sys_enter_close:a] WHERE { a.uid == 65534 } RETURN { a.ppid }'
	run -0 --separate-stderr "$ASTERISM" replay -f json -r "$rule" with
	[ -n "$(values a.ppid <<<"$output")" ]
	run -2 "$ASTERISM" replay -r "$rule" without
	[[ $output == *"sys_enter_close:uid+ppid was not recorded"* ]]
	[[ $output == *"--about ppid,uid"* ]]
	run -2 "$ASTERISM" record -o wrong --about upid -- true
	[[ $output == *"not 'upid'"*"did you mean ppid?"* ]]
}

@test "events that only user space can match carry them, too" {
	rule="RULE r PATTERN { [sys_enter_openat:a, sys_exit_openat:b] } WHERE { [tid], a.filename == \"file\", a.uid * 1.5 > 3.0 } RETURN { a.uid, b.ppid }"
	run -0 "$ASTERISM" explain -r "$rule"
	[[ $output != *"executed   in the kernel"* ]]
	run -0 --separate-stderr "$ASTERISM" run -f json -r "$rule" -- sh -c 'echo $$ >parent; setpriv --reuid 65534 head -c0 file; head -c0 file; :'
	[ "$(values a.uid <<<"$output")" = 65534 ]
	[ "$(values b.ppid <<<"$output")" = "$(cat parent)" ]
}

@test "a descriptor says its file, in the kernel, and a pipe has none" {
	run -0 --separate-stderr "$ASTERISM" run -f json -r '[sys_enter_read:a] WHERE { a.fd.path != "" } RETURN { a.fd.path AS p }' -- \
		sh -c 'cat file | cat >/dev/null'
	values p <<<"$output" | grep -qxF "$PWD/file"
	rule='[sys_enter_close:a, sys_exit_close:b] WHERE { [tid], a.fd.path == "'$PWD'/file" } RETURN { a.fd.path AS p, b.ret }'
	run -0 "$ASTERISM" explain -r "$rule"
	[[ $output == *"executed   in the kernel"* ]]
	run -0 --separate-stderr "$ASTERISM" run -f json -r "$rule" -- sh -c 'cat file >/dev/null'
	[ "$(values p <<<"$output")" = "$PWD/file" ]
	run -0 --separate-stderr "$ASTERISM" run -f json -r "$rule" -- sh -c "cat '$BATS_TEST_FILENAME' >/dev/null"
	[ -z "$(values p <<<"$output")" ]
	# where there is no such descriptor there is no file
	run -0 --separate-stderr "$ASTERISM" run -f json -r '[sys_enter_close:a] WHERE { a.fd == 77 } RETURN { a.fd.path AS p }' -- \
		python3 -c 'import os
try: os.close(77)
except OSError: pass'
	[ "$(jq -c 'select(.match) | .return.p' <<<"$output")" = '""' ]
	run -2 "$ASTERISM" check -r '[sys_enter_close:a] RETURN { a.fd.name, a.pid.path }'
	[[ $output == *"'fd' has no 'name'"*"'pid' has no 'path'"* ]]
}

@test "a descriptor is the lower half of its argument, as the kernel takes it: the other half hides nothing" {
	cat >upper.py <<-'END'
		import ctypes, os
		read = {"x86_64": 0, "aarch64": 63}[os.uname().machine]
		fd, buffer = os.open("file", os.O_RDONLY), ctypes.create_string_buffer(400000)
		for upper in 0, 1, 0xffffffff:
		    assert ctypes.CDLL(None).syscall(read, ctypes.c_ulong(upper << 32 | fd), buffer, ctypes.c_ulong(300001)) >= 0
		for absent in 1 << 30, 0xffffffff, 0xffffffff00000000 | 1 << 20:
		    ctypes.CDLL(None).syscall(read, ctypes.c_ulong(absent), buffer, ctypes.c_ulong(300002))
	END
	run -0 --separate-stderr "$ASTERISM" run -f json -r 'sys_enter_read:a WHERE { a.count IN { 300001, 300002 } } RETURN { a.count AS n, a.fd.path AS p }' -- \
		/usr/bin/python3 upper.py
	[ "$(jq -c 'select(.match) | .return | [.n, .p]' <<<"$output" | sort | uniq -c | tr -s ' ')" = " 3 [300001,\"$PWD/file\"]
 3 [300002,\"\"]" ]
}

@test "what has no place in the file system is not the root" {
	cat >placeless.py <<-'END'
		import ctypes, os
		buffer = ctypes.create_string_buffer(400000)
		def look(number, fd):
		    ctypes.CDLL(None).read(fd, buffer, ctypes.c_size_t(300000 + number))
		look(1, os.open("/proc/self/ns/net", os.O_RDONLY))
		look(2, os.pidfd_open(os.getpid()))
		look(3, os.memfd_create("mine"))
		look(4, os.eventfd(1))
		look(5, os.open("/", os.O_RDONLY))
		look(6, os.open("/proc", os.O_RDONLY))
	END
	run -0 --separate-stderr "$ASTERISM" run -f json -r 'sys_enter_read:a WHERE { a.count > 300000, a.count < 300010 } RETURN { a.count - 300000 AS n, a.fd.path AS p }' -- \
		/usr/bin/python3 placeless.py
	[ "$(jq -r 'select(.match) | .return | "\(.n) \(.p)"' <<<"$output")" = "1 
2 
3 memfd:mine
4 [eventfd]
5 /
6 /proc" ]
}

@test "a descriptor's file is a key, a warning's text, and is recorded" {
	echo 'RULE r PATTERN { [sys_enter_read:a, sys_enter_close:b] } WHERE { [tid], a.fd.path == b.fd.path, a.fd.path LIKE "*/file" } RETURN { b.fd.path AS p }' >who.rule
	"$ASTERISM" record -q -f json -o trace --rules who.rule -- sh -c 'cat file >/dev/null' >live
	[ "$(values p <live)" = "$PWD/file" ]
	same live trace who.rule
	cat >machine.rule <<-'END'
		MACHINE files KEY { tid } STATE Any { ON sys_enter_read:a WHERE a.fd.path LIKE "*/file" { WARN "reads {a.fd.path}" } }
	END
	run -0 --separate-stderr "$ASTERISM" run -f json machine.rule -- sh -c 'cat file >/dev/null'
	[[ $output == *"reads $PWD/file"* ]]
}

# `talk`: connects, binds, accepts and sends, to addresses of all kinds; ports goes to a file.
talk() {
	cat >talk.py <<-'END'
		import ctypes, os, socket
		def pair(family, host, to=None):
		    listening = socket.socket(family)
		    if host == "::":
		        listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
		    listening.bind((host, 0))
		    listening.listen()
		    calling = socket.create_connection((to or host, listening.getsockname()[1]))
		    listening.accept()
		    return [listening.getsockname()[1], calling.getsockname()[1]]
		def try_to(family, name):
		    try:
		        socket.socket(family, socket.SOCK_DGRAM).connect(name)
		    except OSError:
		        pass
		ports = pair(socket.AF_INET, "127.0.0.1") + pair(socket.AF_INET6, "::1") + pair(socket.AF_INET6, "::", "127.0.0.1")
		for address in ["2001:db8::1", "fe80::", "1:0:0:2::3", "1:0:2:0:3:0:4:0", "1:2:3:4:5:6:7:8", "::", "::ffff:10.1.2.3"]:
		    try_to(socket.AF_INET6, (address, 9))
		for name in ["/nowhere", "10.0.0.1", "\0abstract name", "x" * 107]:
		    try_to(socket.AF_UNIX, name)
		datagram = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		datagram.sendto(b"x", ("127.0.0.3", 9))
		datagram.connect(("127.0.0.4", 9))
		datagram.send(b"x")
		fd = os.dup(socket.socket().detach())
		ctypes.CDLL(None).connect(fd, None, 16)
		open("ports", "w").write(" ".join(map(str, ports)) + "\n")
	END
}

@test "calls with an address say whose it is, of every family" {
	talk
	run -0 --separate-stderr "$ASTERISM" run -f json -r '[sys_enter_connect:a] RETURN { a.family, a.addr, a.port }' -- python3 talk.py
	read -r port4 from4 port6 from6 mapped from <ports
	[ "$(jq -c 'select(.match) | [.return["a.family"], .return["a.addr"], .return["a.port"]]' <<<"$output")" = "[2,\"127.0.0.1\",$port4]
[10,\"::1\",$port6]
[2,\"127.0.0.1\",$mapped]
[10,\"2001:db8::1\",9]
[10,\"fe80::\",9]
[10,\"1:0:0:2::3\",9]
[10,\"1:0:2:0:3:0:4:0\",9]
[10,\"1:2:3:4:5:6:7:8\",9]
[10,\"::\",9]
[10,\"10.1.2.3\",9]
[1,\"/nowhere\",0]
[1,\"10.0.0.1\",0]
[1,\"@abstract name\",0]
[1,\"$(printf 'x%.0s' {1..107})\",0]
[2,\"127.0.0.4\",9]
[0,\"\",0]" ]
	run -0 --separate-stderr "$ASTERISM" run -f json -r '[sys_exit_accept4:a] RETURN { a.addr, a.port }' -- python3 talk.py
	read -r port4 from4 port6 from6 mapped from <ports
	[ "$(jq -c 'select(.match) | [.return["a.addr"], .return["a.port"]]' <<<"$output")" = "[\"127.0.0.1\",$from4]
[\"::1\",$from6]
[\"127.0.0.1\",$from]" ]
	# what is sent over a connection has no address
	run -0 --separate-stderr "$ASTERISM" run -f json -r '[sys_enter_sendto:a] RETURN { a.to_addr, a.family, a.port }' -- python3 talk.py
	[ "$(jq -c 'select(.match) | .return | [.["a.to_addr"], .["a.family"], .["a.port"]]' <<<"$output")" = '["127.0.0.3",2,9]
["",0,0]' ]
	run -0 --separate-stderr "$ASTERISM" run -r '[sys_enter_connect:a] WHERE { a.addr == "::1" } RETURN { a.addr }' -- python3 talk.py
	[[ $output == *'a.addr="::1"'* ]]
}

# `finds RULE...`: what the rule returns as p, live in the kernel, and in both replays of the recording.
finds() {
	echo "$1" >address.rule
	"$ASTERISM" explain address.rule | grep -qF "executed   in the kernel" || echo "not in the kernel"
	"$ASTERISM" record -q -f json -o trace --rules address.rule -- python3 talk.py >live
	jq -r 'select(.match) | .return.p' live | paste -s -d ' '
	same live trace address.rule >&2 || echo "recorded is not live"
	rm -r trace
}

@test "conditions on addresses are of one family, and v4-mapped addresses are of IPv4" {
	talk
	connect='RULE r PATTERN { sys_enter_connect:a } RETURN { a.addr AS p } WHERE { a.port == 9 OR a.port == 0, '
	[ "$(finds "$connect a.addr IN { \"0.0.0.0/0\" } }")" = "10.1.2.3 127.0.0.4" ]
	[ "$(finds "$connect a.addr IN { \"10.0.0.0/8\" } }")" = "10.1.2.3" ]
	[ "$(finds "$connect a.addr == \"10.0.0.1\" }")" = "" ]
	[ "$(finds "$connect a.addr == \"::ffff:10.1.2.3\" }")" = "10.1.2.3" ]
	[ "$(finds "$connect a.addr IN { \"::/0\" } }")" = "2001:db8::1 fe80:: 1:0:0:2::3 1:0:2:0:3:0:4:0 1:2:3:4:5:6:7:8 ::" ]
	[ "$(finds "$connect a.addr IN { \"2001:db8::/32\", \"fe80::/10\" } }")" = "2001:db8::1 fe80::" ]
	[ "$(finds "$connect a.addr == \"::\" }")" = "::" ]
	[ "$(finds "$connect a.addr IN { \"1:0:0:2::/66\", \"/nowhere\", \"@abstract name\" } }")" = "1:0:0:2::3 /nowhere @abstract name" ]
	[ "$(finds "$connect a.addr != \"10.1.2.3\", a.addr LIKE \"1*\" }")" = "1:0:0:2::3 1:0:2:0:3:0:4:0 1:2:3:4:5:6:7:8 10.0.0.1 127.0.0.4" ]
	[ "$(finds 'RULE r PATTERN { sys_enter_sendto:a } WHERE { a.to_addr IN { "127.0.0.0/8" } } RETURN { a.to_addr AS p }')" = "127.0.0.3" ]
	[ "$(finds 'RULE r PATTERN { sys_enter_bind:a } WHERE { a.addr IN { "::1", "10.0.0.0/8" } } RETURN { a.addr AS p }')" = "::1" ]
	# of connections: the server's end of the third pair is a socket of IPv6 with addresses of IPv4
	state='RULE r PATTERN { inet_sock_set_state:a } RETURN { a.daddr AS p } WHERE { a.newstate == TCP_ESTABLISHED, '
	[ "$(finds "$state a.daddr IN { \"127.0.0.0/8\" } }")" = "127.0.0.1 127.0.0.1 127.0.0.1 127.0.0.1" ]
	[ "$(finds "$state a.daddr IN { \"::/0\" } }")" = "::1 ::1" ]
	[ "$(finds "$state a.saddr == \"::1\", a.sport != 0 }")" = "::1 ::1" ]
	run -2 "$ASTERISM" check -r '[sys_enter_connect:a] WHERE { a.addr == "10.0.0.256" }'
	[[ $output == *"this is not an IP address"* ]]
}

# As the kernel does, which sends there: who leaves the family out is not hidden by it. To connect, it means nobody.
@test "an address of no family is one of IPv4 to bind and to sendto" {
	cat >talk.py <<-'END'
		import ctypes, socket
		libc = ctypes.CDLL(None)
		def of(family, port, *address):
		    return family.to_bytes(2, "little") + port.to_bytes(2, "big") + bytes(address) + bytes(8)
		def new():
		    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		bound, sending, away = new(), new(), new()
		assert libc.bind(bound.fileno(), of(0, 0, 0, 0, 0, 0), 16) == 0
		port = bound.getsockname()[1]
		assert libc.sendto(sending.fileno(), b"x", 1, 0, of(0, port, 127, 0, 0, 1), 16) == 1
		assert bound.recv(2) == b"x"
		away.connect(("127.0.0.1", 9))
		away.send(b"x")
		assert libc.connect(away.fileno(), of(0, 9, 127, 0, 0, 1), 16) == 0
		open("port", "w").write(str(port) + "\n")
	END
	run -0 --separate-stderr "$ASTERISM" run -f json -r 'RULE s PATTERN { sys_enter_sendto:a } RETURN { a.family AS f, a.to_addr AS p, a.port AS port }
		RULE b PATTERN { sys_enter_bind:a } RETURN { a.family AS f, a.addr AS p, a.port AS port }
		RULE c PATTERN { sys_enter_connect:a } RETURN { a.family AS f, a.addr AS p, a.port AS port }' -- python3 talk.py
	[ "$(jq -c 'select(.match) | [.match, .return.f, .return.p, .return.port]' <<<"$output")" = '["b",0,"0.0.0.0",0]
["s",0,"127.0.0.1",'"$(cat port)"']
["c",2,"127.0.0.1",9]
["s",0,"",0]
["c",0,"",0]' ]
	[ "$(finds 'RULE r PATTERN { sys_enter_sendto:a } WHERE { a.to_addr IN { "0.0.0.0/0" } } RETURN { a.to_addr AS p }')" = "127.0.0.1" ]
}

@test "addresses are keys of patterns, of machines and of aggregates" {
	talk
	run -0 --separate-stderr "$ASTERISM" run -f json -r '[sys_enter_bind:a, sys_enter_connect:b] WHERE { a.addr == b.addr } RETURN { b.addr AS p }' -- python3 talk.py
	[ "$(values p <<<"$output" | paste -s -d ' ')" = "127.0.0.1 :: ::1" ]
	run -0 --separate-stderr "$ASTERISM" run -f json -r '[inet_sock_set_state:s] WHERE { s.newstate == TCP_SYN_SENT } AGGREGATE { COUNT } BY { s.daddr AS peer }' -- python3 talk.py
	[ "$(jq -c 'select(.aggregate) | [.by.peer, .COUNT]' <<<"$output")" = '["127.0.0.1",2]
["::1",1]' ]
	cat >machine.rule <<-'END'
		MACHINE peers KEY { daddr } VAR who: string ip;
		  STATE None { ON inet_sock_set_state:s WHERE s.newstate == TCP_SYN_SENT -> Some { who = s.daddr } }
		  STATE Some { ON inet_sock_set_state:s WHERE s.newstate == TCP_ESTABLISHED AND s.oldstate == TCP_SYN_SENT { WARN "to {who}" } }
	END
	run -0 --separate-stderr "$ASTERISM" run -f json machine.rule -- python3 talk.py
	[ "$(jq -r 'select(.warning) | .warning' <<<"$output" | sort -u)" = "to 127.0.0.1
to ::1" ]
}

@test "an address that cannot be read is counted" {
	run -3 "$ASTERISM" run -f json -r '[sys_enter_connect:a] WHERE { a.port != 1 } RETURN { a.port }' -- python3 -c 'import ctypes, socket
s = socket.socket()
ctypes.CDLL(None).connect(s.fileno(), ctypes.c_void_p(1 << 20), 16)'
	[[ $output == *'"unread":1'* ]]
}

@test "a socket's descriptor says who is at the other side" {
	cat >peer.py <<-'END'
		import os, socket
		kept, lines = [], []
		def connect(listening, calling, name):
		    listening.listen()
		    calling.connect(name)
		    kept.extend([listening, calling])
		    os.write(calling.fileno(), b"x")
		for family, host, shown in [(socket.AF_INET, "127.0.0.1", "127.0.0.1"), (socket.AF_INET6, "::1", "[::1]")]:
		    listening = socket.socket(family)
		    listening.bind((host, 0))
		    connect(listening, socket.socket(family), listening.getsockname()[:2])
		    accepted, peer = listening.accept()
		    os.write(accepted.fileno(), b"y")
		    lines += ["%s:%d" % (shown, listening.getsockname()[1]), "%s:%d" % (shown, peer[1])]
		mapped = socket.socket(socket.AF_INET6)
		mapped.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
		mapped.bind(("::", 0))
		connect(mapped, socket.socket(), ("127.0.0.1", mapped.getsockname()[1]))
		accepted, peer = mapped.accept()
		os.write(accepted.fileno(), b"y")
		lines += ["127.0.0.1:%d" % mapped.getsockname()[1], "127.0.0.1:%d" % peer[1]]
		for name, shown in [("./socket", "./socket"), ("\0abstract name", "@abstract name")]:
		    listening = socket.socket(socket.AF_UNIX)
		    listening.bind(name)
		    connect(listening, socket.socket(socket.AF_UNIX), name)
		    lines.append(shown)
		one, other = socket.socketpair()
		os.write(one.fileno(), b"x")
		out, into = os.pipe()
		os.write(into, b"x")
		lines += ["", ""]
		open("peers", "w").write("".join(line + "\n" for line in lines))
	END
	rule='[sys_enter_write:a] WHERE { a.fd > 2, a.count == 1 } RETURN { a.fd.peer AS p }'
	run -0 --separate-stderr "$ASTERISM" run -f json -r "$rule" -- python3 peer.py
	diff peers <(jq -r 'select(.match) | .return.p' <<<"$output")
	run -1 "$ASTERISM" run --fail-on-match -r '[sys_enter_write:a] WHERE { a.fd.peer == "@abstract name" }' -- sh -c 'rm socket; python3 peer.py'
	run -0 "$ASTERISM" run --fail-on-match -r '[sys_enter_write:a] WHERE { a.fd.peer == "@abstract" }' -- sh -c 'rm socket; python3 peer.py'
}
