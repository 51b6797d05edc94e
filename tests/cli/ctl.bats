#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What `asterism ctl` makes of replies, from something that only replies. What asterismd does is tested in tests/kernel.

bats_require_minimum_version 1.5.0
load ../wait

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	cd "$BATS_TEST_TMPDIR"
}

teardown() {
	[ -z "$server" ] || { kill -KILL "$server"; wait "$server"; } 2>/dev/null || true
}

# `reply_with LINE`: one client gets LINE, whatever it asks.
reply_with() {
	printf '%s' "$1" | tr -d '\n\t' >reply
	echo >>reply
	python3 -c 'import socket
server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
server.bind("ctl.sock")
server.listen()
open("ready", "w").close()
client, _ = server.accept()
client.recv(65536)
client.sendall(open("reply", "rb").read())
client.close()' 3>&- &
	server=$!
	wait_for [ -e ready ]
}

@test "a machine's warning is shown with its trail, and nothing that a process wrote reaches the terminal" {
	reply_with '{"ok":true,"unit":"fd","result":{"match":"closed","ts":3001200000,"cpu":1,"pid":7,"tid":8,"comm":"cp",
		"warning":"use of 4 by \u001b[31mx","return":{"fd":4},"trail":[
		{"event":"closed","from":"Open","to":"Closed","ts":3000000000,"cpu":0,"pid":7,"tid":7},
		{"event":"used","from":"Closed","to":"Closed","ts":3001200000,"cpu":1,"pid":7,"tid":8}],"tainted":false}}'
	run --separate-stderr -0 "$ASTERISM" ctl --socket ctl.sock next fd
	[ "${lines[0]}" = 'fd: closed by cp (process 7, thread 8): use of 4 by \033[31mx' ]
	[ "${lines[1]}" = '         -1.2 ms  closed: Open -> Closed (process 7, thread 7)' ]
	[ "${lines[2]}" = '            0 ns  used: Closed -> Closed (process 7, thread 8)' ]
	[ "${#lines[@]}" = 3 ]
}

@test "a rule's match is shown with its values" {
	reply_with '{"ok":true,"unit":"u","result":{"match":"r","ts":3,"cpu":1,"pid":7,"tid":8,"comm":"cp","return":{"a.x":4}}}'
	run --separate-stderr -0 "$ASTERISM" ctl --socket ctl.sock next u
	[ "$output" = 'u: r by cp (process 7, thread 8) a.x=4' ]
}

@test "values are shown by their names, and those that the match has not are left out" {
	reply_with '{"ok":true,"unit":"u","result":{"match":"r","pid":7,"tid":8,"comm":"cp","return":{"id":257,"w":null,"n":3},
		"names":{"id":"openat","n":7}}}'
	run --separate-stderr -0 "$ASTERISM" ctl --socket ctl.sock next u
	[ "$output" = 'u: r by cp (process 7, thread 8) id=openat n=3' ]
}

@test "a daemon that shows what numbers mean is believed, and nothing of it reaches the terminal raw" {
	reply_with '{"ok":true,"unit":"u","result":{"match":"r","pid":7,"tid":8,"comm":"cp","return":{"took":300100000,"n":3},
		"names":{}},"shown":{"took":"300.1ms\u001b","n":3}}'
	run --separate-stderr -0 "$ASTERISM" ctl --socket ctl.sock next u
	[ "$output" = 'u: r by cp (process 7, thread 8) took=300.1ms\033 n=3' ]
}

@test "every number of 64 bits is shown as it is" {
	reply_with '{"ok":true,"unit":"u","result":{"match":"r","ts":3,"cpu":1,"pid":7,"tid":8,"comm":"cp",
		"return":{"least":9223372036854775808,"address":18446744073709551615,"n":-9223372036854775808,"s":"x"}}}'
	run --separate-stderr -0 "$ASTERISM" ctl --socket ctl.sock next u
	[ "$output" = 'u: r by cp (process 7, thread 8) least=9223372036854775808 address=18446744073709551615 n=-9223372036854775808 s="x"' ]
}

@test "an odd reply is shown as far as it goes" {
	reply_with '{"ok":true,"unit":"u","result":{"match":"m","pid":7,"tid":8,"comm":"cp","warning":7,"trail":[1,{"ts":"x"}]}}'
	run --separate-stderr -0 "$ASTERISM" ctl --socket ctl.sock next u
	[ "${lines[0]}" = 'u: m by cp (process 7, thread 8)' ]
}

@test "what is to be typed next asks the same daemon" {
	waits='{"ok":true,"unit":"u","ticket":9,"result":{"match":"m","pid":7,"tid":8,"comm":"cp"}}'
	reply_with "$waits"
	run --separate-stderr -0 "$ASTERISM" ctl --socket ctl.sock next u
	[ "${lines[1]}" = "It is stopped and waits: 'asterism ctl --socket ctl.sock continue 9' or 'asterism ctl --socket ctl.sock abort 9'" ]
	wait "$server"
	rm ready ctl.sock
	mkdir "odd place"
	reply_with "$waits"
	mv ctl.sock "odd place/it's"
	run --separate-stderr -0 "$ASTERISM" ctl --socket "odd place/it's" next u
	[[ ${lines[1]} == *"'asterism ctl --socket 'odd place/it'\\''s' abort 9'" ]]
	run --separate-stderr -2 "$ASTERISM" ctl --socket ctl.sock continue nine
	[[ $stderr == *"'asterism ctl --socket ctl.sock next' shows the ticket of a verdict request"* ]]
}
