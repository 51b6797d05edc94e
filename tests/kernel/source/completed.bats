#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The events of completed.events, sockets.events and tcp.events, each from a process that does the thing. Needs root.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
}

# `observe RULE PYTHON`: the returned values of the matches, one line each.
observe() {
	printf 'EVENTS "completed.events" EVENTS "sockets.events" EVENTS "tcp.events"\nRULE probe PATTERN { %s }\n' "$1" >probe.rule
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

@test "a file is refused, with path and error" {
	run observe 'file_refused:a } WHERE { a.path LIKE "file*" OR a.path LIKE "no-dir/*" } RETURN { a.path AS path, a.error AS error' '
open("file", "w").close()
for name, flags in (("file-not-there", 0), ("no-dir/file", os.O_CREAT), ("file", os.O_CREAT | os.O_EXCL), ("file", 0)):
    try: os.open(name, flags)
    except OSError: pass'
	[ "$output" = $'path:file-not-there,error:-2\npath:no-dir/file,error:-2\npath:file,error:-17' ]
}

@test "sockets: what comes and goes, by whichever call, and files are none" {
	run observe '(socket_sent:s | socket_received:r) } RETURN { s.fd AS s, s.bytes AS out, s.call AS by, r.fd AS r, r.bytes AS inn, r.call AS byr' '
a, b = (os.dup2(end.fileno(), 100 + n) for n, end in enumerate(socket.socketpair()))
a, b = socket.socket(fileno=100), socket.socket(fileno=101)
file = os.open("file", os.O_RDWR | os.O_CREAT)
os.write(file, b"12345678")
os.write(100, b"1"); os.read(101, 9)
os.writev(100, [b"1", b"2"]); os.readv(101, [bytearray(9)])
a.send(b"123"); b.recv(9)
a.sendmsg([b"1234"]); b.recvmsg(9)
os.sendfile(100, file, 0, 5); os.read(101, 9)
b.setblocking(False)
try: b.recv(9)
except OSError: pass'
	[ "$(sed 's/,\?[a-z]*:null,\?//g' <<<"$output")" = "s:100,out:1,by:1
r:101,inn:1,byr:0
s:100,out:2,by:20
r:101,inn:2,byr:19
s:100,out:3,by:44
r:101,inn:3,byr:45
s:100,out:4,by:46
r:101,inn:4,byr:47
s:100,out:5,by:40
r:101,inn:5,byr:0" ]
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

@test "what is read and written where in a file, whichever way" {
	# `whence TYPE`: descriptor, offset and bytes of each event about the file "data".
	whence() {
		observe "$1:a } WHERE { a.ino == $(stat -c %i data) } RETURN { a.fd AS fd, a.offset AS at, a.bytes AS bytes" '
f, g, out = os.dup2(os.open("data", os.O_RDWR), 100), os.dup2(100, 101), os.open("out", os.O_RDWR | os.O_CREAT)
os.write(f, b"x" * 100)
os.writev(g, [b"y" * 10, b"z" * 5])
os.pwrite(f, b"q" * 7, 50)
os.pwritev(f, [b"a" * 3], 60)
h = os.dup2(os.open("data", os.O_WRONLY | os.O_APPEND), 102)
os.write(h, b"12")
os.pwrite(h, b"345", 0)
os.lseek(f, 20, 0)
os.read(g, 11)
os.pread(g, 5, 3)
os.preadv(f, [bytearray(4)], 9)
os.readv(f, [bytearray(2), bytearray(1)])
os.sendfile(out, f, 5, 6)
os.sendfile(out, f, None, 4)
os.sendfile(f, os.dup2(out, 103), 0, 2)
os.copy_file_range(f, out, 8, 2, 30)
os.lseek(103, 0, 0)
os.copy_file_range(out, g, 3)
os.read(os.open("data", os.O_RDONLY), 7)'
	}
	: >data
	run whence file_written
	echo "$output"
	[ "$output" = $'fd:100,at:0,bytes:100\nfd:101,at:100,bytes:15\nfd:100,at:50,bytes:7\nfd:100,at:60,bytes:3
fd:102,at:115,bytes:2\nfd:102,at:117,bytes:3\nfd:100,at:38,bytes:2\nfd:101,at:40,bytes:3' ]
	: >data
	run whence file_read
	echo "$output"
	[[ $output == $'fd:101,at:20,bytes:11\nfd:101,at:3,bytes:5\nfd:100,at:9,bytes:4\nfd:100,at:31,bytes:3
fd:100,at:5,bytes:6\nfd:100,at:34,bytes:4\nfd:100,at:2,bytes:8\nfd:'*',at:0,bytes:7' ]]
	run observe "file_synced:a } WHERE { a.ino == $(stat -c %i data) } RETURN { a.fd AS fd" '
f = os.dup2(os.open("data", os.O_RDWR), 100)
os.fsync(f)
os.fdatasync(f)'
	[ "$output" = $'fd:100\nfd:100' ]
}

@test "pipes, sockets, devices and directories are no files that are read; another file of an old number is another one" {
	run observe 'file_read:a } WHERE { a.fd >= 100, a.fd < 110 } RETURN { a.fd AS fd' '
r, w = os.pipe()
os.write(w, b"x")
os.read(os.dup2(r, 100), 1)
a, b = socket.socketpair()
os.write(a.fileno(), b"x")
os.read(os.dup2(b.fileno(), 101), 1)
os.read(os.dup2(os.open("/dev/zero", os.O_RDONLY), 102), 1)'
	[ -z "$output" ]
	[ "$status" = 0 ]
	run -0 observe '[file_written:a, file_written:b] } WHERE { a.fd == 100, b.fd == 101 } RETURN { (a.dev == b.dev) AS dev, (a.ino != b.ino OR a.generation != b.generation) AS other' '
f = os.dup2(os.open("one", os.O_RDWR | os.O_CREAT), 100)
os.write(100, b"x")
os.close(f)
os.unlink("one")
f = os.dup2(os.open("two", os.O_RDWR | os.O_CREAT), 101)
os.write(101, b"x")'
	[ "$output" = 'dev:true,other:true' ]
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

@test "a shell begins a script, whatever its options; what a redirection reads is none" {
	echo 'exec 2>/dev/null; read -r line <data; exec 3<data; while read -r line; do :; done <&3' >script
	echo one >data
	run observe 'script_begun:s } RETURN { s.path AS path, (s.ino == '"$(stat -c %i script)"') AS is_it' '
for command in (["bash", "-u", "script"], ["/usr/bin/dash", "-eu", "script"], ["dash", "-c", ". ./script"], ["bash", "-c", "read -r line <script"],
                ["sh", "-c", "exec 4<script; grep -q x <&4"], ["grep", "-q", "x", "script"], ["bash", "-c", "exec 11>>data 12<&11"]):
    os.spawnvp(os.P_WAIT, command[0], command)'
	echo "$output"
	[ "$output" = "path:$PWD/script,is_it:true
path:$PWD/script,is_it:true
path:$PWD/script,is_it:true" ]
}

@test "what is run from a folder for temporary files, and what is not" {
	cp /bin/true program
	chmod 1777 .
	printf '#!/bin/sh\ntrue\n' >script
	chmod +x script
	echo 1 >script.py
	mkdir -p deep/er && cp program script script.py deep/er
	run observe 'run_from_temporary:r } RETURN { r.program AS program' '
here = os.getcwd()
for command in (["./program"], [here + "/program"], ["deep/er/program"], ["./script"], ["/bin/true"], ["perl", "script.py"], ["sh", "-c", "true"],
                ["/usr/bin/python3", "-u", "deep/er/script.py"], ["perl", "-w", here + "/script.py"], ["python3", "-c", ""], ["perl", "-e", "1", "script.py"],
                ["python3", "/dev/null"]):
    os.spawnvp(os.P_WAIT, command[0], command)'
	[ "$output" = "program:./program
program:$PWD/program
program:deep/er/program
program:./script
program:script.py
program:deep/er/script.py
program:$PWD/script.py" ]
	mkdir -p /var/lib/asterism-test.$$
	cp script script.py program /var/lib/asterism-test.$$
	run observe 'run_from_temporary:r } RETURN { r.program AS program' "
os.chdir('/var/lib/asterism-test.$$')
for command in (['./program'], ['./script'], ['perl', 'script.py']):
    os.spawnvp(os.P_WAIT, command[0], command)"
	rm -r /var/lib/asterism-test.$$
	[ -z "$output" ]
}
