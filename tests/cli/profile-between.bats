#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# A command is sampled, and only what lies between two events of a rule counts.

bats_require_minimum_version 1.5.0

load ../wait

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	cd "$BATS_TEST_TMPDIR"
	# A request begins when it has been read, and ends when its answer is written. Those of two bytes are slow.
	cat >serve.c <<-'END'
		#include <pthread.h>
		#include <stdlib.h>
		#include <unistd.h>
		#define PLACE __attribute__((noinline, noclone))
		PLACE void slow_path(void) { for (volatile long i = 0; i < 20000000; i++) ; }
		PLACE void fast_path(void) { for (volatile long i = 0; i < 2000000; i++) ; }
		PLACE void beside(void) { for (volatile long i = 0; i < 100000000; i++) ; }
		static void *other(void *nothing) { beside(); return nothing; }
		int main(int n, char **v)
		{
			int ends[2];
			char bytes[2];
			pthread_t made;
			if (pipe(ends) || pthread_create(&made, 0, other, 0)) return 1;
			for (long i = 0; i < 40; i++) {
				size_t size = i % 10 ? 1 : 2;
				if (write(ends[1], "xy", size) < 0 || read(ends[0], bytes, 2) < 0) return 1;
				if (size == 2) slow_path(); else fast_path();
				if (write(ends[1], "", 0) < 0) return 1;
			}
			pthread_join(made, 0);
			return n > 1 ? atoi(v[1]) : 0;
		}
	END
	cc -O1 -pthread -o serve serve.c
	"$ASTERISM" profile record --between '[sys_exit_read:a, sys_enter_write:b] WHERE {[tid]}' -o probe -- ./serve \
		>/dev/null 2>why || [ $? = 1 ] || skip "nothing is sampled by rules here: $(cat why)"
}

# Those with at least a twentieth of what was sampled: one sample may be in the C library, at the edge.
functions() {
	"$ASTERISM" profile report -f json "$1" | python3 -c 'import json, sys
rows = [(row["self"], row["function"]) for row in json.load(sys.stdin)["functions"] if row["self"]]
print(*sorted(name for cost, name in rows if cost * 20 >= sum(row[0] for row in rows)))'
}

# $1: of "between", or of the profile itself
say() {
	"$ASTERISM" profile report -f json samples |
		python3 -c 'import json, sys; profile = json.load(sys.stdin); print(profile["between"].get(sys.argv[1], profile.get(sys.argv[1])))' "$1"
}

@test "what lies between two events of a thread counts, and neither the rest nor another thread" {
	run --separate-stderr -0 "$ASTERISM" profile record -F 2000 -e task-clock -o samples \
		--between '[sys_exit_read:a, sys_enter_write:b] WHERE {[tid], a.ret == 2}' -- ./serve
	[ "$(functions samples)" = slow_path ]
	[ "$(say matches)" = 4.0 ] && [ "$(say lost)" = 0.0 ] && [ "$(say rules)" = rule ]
	inside=$(say samples) outside=$(say outside)
	[ "${inside%.*}" -gt 20 ] && [ "${outside%.*}" -gt 20 ]
	[[ $stderr == *"$((${inside%.*} + ${outside%.*})) samples, ${inside%.*} within 4 matches"* ]]
	"$ASTERISM" profile report samples | grep -F "between      rule: 4 matches, "
	# The same with the others: nothing is held back as such.
	"$ASTERISM" profile record -F 2000 -e task-clock -o samples \
		--between '[sys_exit_read:a, sys_enter_write:b] WHERE {[tid], a.ret == 1}' -- ./serve
	[ "$(functions samples)" = fast_path ] && [ "$(say matches)" = 36.0 ]
}

@test "rules from a file, with values of its parameters, several of them, and times that they return" {
	cat >slow.rule <<-'END'
		PARAM bytes = 7;
		RULE by_events PATTERN { [sys_exit_read:a, sys_enter_write:b] } WHERE { [tid], a.ret == bytes }
		RULE by_values PATTERN { [sys_exit_read:a, sys_enter_write:b] } WHERE { [tid], a.ret == bytes }
		RETURN { b.ts AS ended, a.ts AS began }
		RULE counted PATTERN { sys_enter_write } AGGREGATE { COUNT } BY { tid }
	END
	"$ASTERISM" profile record -F 2000 -o samples --between slow.rule --set bytes=2 -- ./serve
	[ "$(functions samples)" = slow_path ]
	[ "$(say rules)" = "by_events, by_values" ] && [ "$(say matches)" = 8.0 ]
	run --separate-stderr -2 "$ASTERISM" profile record -o samples --set bytes=2 -- ./serve
	[[ $stderr == *"--set is for the rules of --between"* ]]
}

@test "a rule that finds nothing gives an empty profile, says so, and ends with status 1" {
	run --separate-stderr -1 "$ASTERISM" profile record -F 2000 -o samples \
		--between '[sys_exit_read:a, sys_enter_write:b] WHERE {[tid], a.ret == 3}' -- ./serve
	[[ $stderr == *"samples, 0 within 0 matches"* ]]
	[[ $stderr == *"the rules did not match, so the profile is empty"* ]]
	[ "$(functions samples)" = "" ] && [ "$(say matches)" = 0.0 ]
	run -5 "$ASTERISM" profile record -o samples \
		--between '[sys_exit_read:a, sys_enter_write:b] WHERE {[tid], a.ret == 3}' -- ./serve 5
}

@test "rules without a begin, with an end before it, or wrong ones are refused before the command runs, or told" {
	run --separate-stderr -2 "$ASTERISM" profile record -o samples --between 'sys_enter_write:a WHERE {a.count > 7}' -- touch ran
	[[ $stderr == *"no match of these rules has a beginning and an end"*"RETURN { ... AS began, ... AS ended }"* ]]
	run --separate-stderr -2 "$ASTERISM" profile record -o samples --between '[sys_enter_writ:a]' -- touch ran
	[[ $stderr == *sys_enter_writ* ]]
	run --separate-stderr -2 "$ASTERISM" profile record -o samples --between missing.rule -- touch ran
	run --separate-stderr -2 "$ASTERISM" profile record -o samples --between @nothing -- touch ran
	[ ! -e ran ]
	run --separate-stderr -3 "$ASTERISM" profile record -F 2000 -o samples \
		--between '[sys_exit_read:a, sys_enter_write:b] WHERE {[tid]} RETURN {b.ts AS began, a.ts AS ended}' -- ./serve
	[[ $stderr =~ "4"[0-9]" matches return no interval" ]]
	"$ASTERISM" compile -o slow.img -r '[sys_exit_read:a, sys_enter_write:b] WHERE {[tid]}'
	run --separate-stderr -2 "$ASTERISM" profile record -o samples --between slow.img -- ./serve
	[[ $stderr == *"no match of these rules has a begin"* ]]
}

# valgrind ends at somebody else's probe in libc, which is gone soon.
reported() {
	"$ASTERISM" profile "$@" 2>said >output || { grep -v breakpoint said >&2; false; }
}

# As serve, without threads and with less to do, as it is simulated, too. What is slow calls what no other does.
make_short() {
	cat >short.c <<-'END'
		#include <unistd.h>
		#define PLACE __attribute__((noinline, noclone))
		PLACE void spin(long n) { for (volatile long i = 0; i < n; i++) ; }
		PLACE void pack(void) { for (volatile long i = 0; i < 12000000; i++) ; }
		PLACE void slow_path(void) { for (volatile long i = 0; i < 4000000; i++) ; pack(); }
		PLACE void fast_path(void) { spin(2000000); }
		int main(void)
		{
			int ends[2];
			char bytes[2];
			if (pipe(ends)) return 1;
			for (long i = 0; i < 40; i++) {
				size_t size = i % 4 ? 1 : 2;
				if (write(ends[1], "xy", size) < 0 || read(ends[0], bytes, 2) < 0) return 1;
				if (size == 2) slow_path(); else fast_path();
				if (write(ends[1], "", 0) < 0) return 1;
			}
			return 0;
		}
	END
	cc -O1 -o short short.c
}

@test "run: the report of matches alone, with what functions call" {
	command -v valgrind >/dev/null || skip "needs valgrind (tools/packages.txt)"
	make_short
	wait_for reported run -F 4000 -e task-clock -f json -o completed \
		--between '[sys_exit_read:a, sys_enter_write:b] WHERE {[tid], a.ret == 2}' -- ./short
	python3 -c 'import json, sys
profile = json.load(sys.stdin)
share = {row["function"]: (row["self"] / profile["total"], row["inclusive"] / profile["total"]) for row in profile["functions"]}
assert profile["between"]["matches"] == 10 and profile["workload"] == "not judged", profile
assert "pace" not in profile, profile
assert 0.6 < share["pack"][0] < 0.9, share
assert share["pack"][0] + share["slow_path"][0] > 0.97, share
assert share["slow_path"][1] > 0.97 and share["main"][1] > 0.97, share
assert "spin" not in share and "fast_path" not in share, share' <output
	grep -E ' samples, [0-9]+ within 10 matches' said
	grep 'the simulation is of the whole run' said
	! grep -E 'lie elsewhere than in the simulation|run did more work' said
	"$ASTERISM" profile report completed 2>said | grep -E '^between +rule: 10 matches, '
	"$ASTERISM" profile report completed 2>said | grep -E '^workload +not judged: '
}

@test "run: where the rules find nothing nothing is simulated; wrong ones are refused before the command runs" {
	command -v valgrind >/dev/null || skip "needs valgrind (tools/packages.txt)"
	cat >once.sh <<-'END'
		echo run >>runs
	END
	run --separate-stderr -1 "$ASTERISM" profile run -f json -o empty \
		--between '[sys_exit_read:a, sys_enter_write:b] WHERE {[tid], a.ret == 31}' -- sh once.sh
	[ "$(cat runs)" = run ]
	[[ $stderr == *"the rules did not match, so the profile is empty"* ]]
	[ "$(python3 -c 'import json, sys; print(json.load(sys.stdin)["between"]["matches"])' <<<"$output")" = 0.0 ]
	"$ASTERISM" profile report empty | grep -F "0 matches"
	run --separate-stderr -2 "$ASTERISM" profile run --between '[sys_enter_writ:a]' -- touch ran
	run --separate-stderr -2 "$ASTERISM" profile run --set bytes=2 -- touch ran
	[[ $stderr == *"--set is for the rules of --between"* ]]
	[ ! -e ran ]
}

# nginx packs a large file for slow requests; small ones are answered at once, on one connection.
nginx_serves() {
	cat >client.py <<-'END'
		import socket, sys
		def ask(connection, path, encoding):
		    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: {encoding}\r\n\r\n".encode())
		    got = b""
		    while not got.endswith(b"\r\n0\r\n\r\n" if encoding == "gzip" else b"small\n"):
		        more = connection.recv(1 << 16)
		        assert more, got[:200]
		        got += more
		    assert got.startswith(b"HTTP/1.1 200")
		with socket.socket(socket.AF_UNIX) as connection:
		    connection.connect(sys.argv[1])
		    for i in range(600):
		        ask(connection, "/small.html", "identity")
		        if i % 200 == 0:
		            ask(connection, "/large.txt", "gzip")
	END
	cat >serve.sh <<-'END'
		nginx -c "$PWD/nginx.conf" -p "$PWD" &
		until [ -S socket ]; do sleep 0.05; done
		python3 client.py socket
		status=$?
		kill $!
		wait $!
		exit $status
	END
	cat >nginx.conf <<-END
		user root; daemon off; worker_processes 1; pid $PWD/pid; error_log $PWD/logs/error; events { }
		http {
			access_log off; client_body_temp_path $PWD/a; proxy_temp_path $PWD/b; fastcgi_temp_path $PWD/c;
			uwsgi_temp_path $PWD/d; scgi_temp_path $PWD/e; types { text/plain txt; }
			server {
				listen unix:$PWD/socket; root $PWD;
				keepalive_requests 10000;
				location ~ txt { gzip on; gzip_types text/plain; gzip_comp_level 9; }
			}
		}
	END
	mkdir logs
	seq 1 300000 >large.txt
	echo small >small.html
}

@test "slow requests of nginx, by the shipped rule: it packs; and nothing of its clients, or of quick ones" {
	command -v nginx >/dev/null || skip "needs nginx (tools/packages.txt)"
	nginx_serves
	"$ASTERISM" profile record -F 2000 -o samples --between @slow-request --set longest=10ms -- sh serve.sh 2>said
	[ "$(say rules)" = slow_request ] && [ "$(say lost)" = 0.0 ]
	matches=$(say matches)
	[ "${matches%.*}" -ge 3 ]
	"$ASTERISM" profile report -f json samples | python3 -c 'import json, sys
profile = json.load(sys.stdin)
of = lambda name: sum(row["self"] for row in profile["functions"] if name in row["object"]) / profile["total"]
assert of("libz") > 0.6, of("libz")
assert of("python") == 0, of("python")'
	rm -rf socket pid
	run --separate-stderr -1 "$ASTERISM" profile record -o samples --between @slow-request --set longest=1h -- sh serve.sh
	[[ $stderr == *"the rules did not match, so the profile is empty"* ]]
	[ "$(functions samples)" = "" ]
}
