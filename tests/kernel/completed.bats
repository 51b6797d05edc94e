#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The events of completed.events and tcp.events, each from a process that does the thing. Needs root.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
}

# `observe RULE PYTHON`: the returned values of the matches, one line each.
observe() {
	printf 'EVENTS "completed.events" EVENTS "tcp.events"\nRULE probe PATTERN { %s }\n' "$1" >probe.rule
	"$ASTERISM" run -q -f json -o out probe.rule -- /usr/bin/python3 -S -E -c "import os, socket
$2" || return
	sed -n 's/.*"return":{\(.*\)},"tainted.*/\1/p' out | tr -d '"'
}

@test "descriptors are made, in all ways that give several" {
	run observe 'descriptor_made:a } WHERE { a.fd > 100, a.fd < 110 } RETURN { a.fd AS fd, a.call AS call' '
import fcntl
os.dup2(0, 101)
os.dup2(0, 102, inheritable=False)
fcntl.fcntl(0, fcntl.F_DUPFD, 103)
fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 104)'
	[ "$output" = $'fd:101,call:33\nfd:102,call:292\nfd:103,call:72\nfd:104,call:72' ]
}

@test "a pipe and a pair of sockets are two descriptors each" {
	run observe 'descriptor_made:a } WHERE { a.call IN { 293, 53 } } RETURN { a.call AS call' '
os.pipe()
socket.socketpair()'
	[ "$output" = $'call:293\ncall:293\ncall:53\ncall:53' ]
}

@test "a descriptor is closed once and refused afterwards" {
	run observe '[descriptor_closed:a, descriptor_refused:b]} WHERE { [fd], a.fd == 101 } RETURN { b.call AS call' '
os.dup2(0, 101)
os.close(101)
for use in (lambda: os.read(101, 1), lambda: os.close(101), lambda: os.fsync(101)):
    try: use()
    except OSError: pass'
	[ "$output" = $'call:0' ]
}

@test "a file is opened, with path, flags and user" {
	echo >file
	run observe 'file_opened:a } WHERE { a.path LIKE "file*" } RETURN { a.dfd AS dfd, a.path AS path, a.flags & 3 AS how, a.euid AS euid' '
os.open("file", os.O_RDWR)
os.setresuid(65534, 65534, 65534)
os.open("file", os.O_RDONLY)
try: os.open("file-not-there", os.O_RDONLY)
except OSError: pass'
	[ "$output" = $'dfd:-100,path:file,how:2,euid:0\ndfd:-100,path:file,how:0,euid:65534' ]
}

@test "bytes are read and written, with the place where one was given" {
	run observe 'data_written:a } WHERE { a.fd >= 100 } RETURN { a.bytes AS bytes, a.offset AS offset' '
f = os.dup2(os.open("data", os.O_RDWR | os.O_CREAT), 100)
os.pwrite(f, b"abc", 1000)
os.write(f, b"xy")'
	[ "$output" = $'bytes:3,offset:1000\nbytes:2,offset:-1' ]
	run observe 'data_read:a } WHERE { a.fd >= 100 } RETURN { a.bytes AS bytes, a.offset AS offset' '
f = os.dup2(os.open("data", os.O_RDWR), 100)
os.pread(f, 2, 1001)
os.lseek(f, 1000, 0)
os.read(f, 1)
os.pread(f, 5, 100000)'
	[ "$output" = $'bytes:2,offset:1001\nbytes:1,offset:-1' ]
}

@test "directories and users change" {
	mkdir jail
	run observe '[directory_changed:a, root_changed:b, directory_changed_by_descriptor:c, credentials_changed:d] } RETURN { a.path AS d, b.path AS root, b.euid AS by, d.euid AS euid' '
f = os.open(".", os.O_RDONLY)
os.chdir("jail")
os.chroot(".")
os.fchdir(f)
os.setresuid(65534, 65534, 65534)'
	[ "$output" = 'd:jail,root:.,by:0,euid:65534' ]
}

@test "a connection over loopback is three segments, each sent and received" {
	run observe '[tcp_segment_sent:a, tcp_segment_received:b] } WHERE { [sport], [dport], a.flags == b.flags, a.flags & 1 == 0, a.flags & 4 == 0 } RETURN { a.flags AS flags, (a.saddr == b.saddr) AS same' '
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
c = socket.create_connection(s.getsockname())'
	[ "$(printf '%s\n' "${lines[@]:0:3}")" = $'flags:2,same:true\nflags:18,same:true\nflags:16,same:true' ]
}
