#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Events from probes in user code (in threads of the planted program other than its first): arguments, results, callers; what is said where there is no such place. Needs root.

bats_require_minimum_version 1.5.0
load ../../wait

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	locks="$(dirname "$ASTERISM")/../../tests/kernel/locks"
	cd "$BATS_TEST_TMPDIR"
	cat >nested.rule <<-END
		EVENTS "pthread.events"
		RULE nested
		PATTERN { [pthread_mutex_lock:a, pthread_mutex_lock_return:b, ~pthread_mutex_unlock:u, pthread_mutex_lock:c] }
		WHERE { [tid], b.ret == 0, u.mutex == a.mutex, a.tid != a.pid } RETURN { a.mutex AS outer, c.mutex AS inner, a.caller AS at }
	END
	needs_asterism run -q nested.rule -- true
}

teardown() {
	[ -z "${started:-}" ] || kill -KILL $started 2>/dev/null || true
}

# `values FILE NAME`: of every match.
values() {
	sed -n "s/.*\"$2\":\([0-9]*\)[,}].*/\1/p" "$1"
}

@test "a probe gives arguments, results and the caller" {
	"$ASTERISM" run -q -f json -o out nested.rule -- "$locks" inverted
	[ "$(grep -c '"match":"nested"' out)" -eq 2 ]
	outer=($(values out outer)) inner=($(values out inner)) at=($(values out at))
	[ "${outer[0]}" -eq "${inner[1]}" ] && [ "${outer[1]}" -eq "${inner[0]}" ] && [ "${outer[0]}" -ne "${outer[1]}" ]
	[ "${at[0]}" -eq "${at[1]}" ] && [ "${at[0]}" -ne 0 ]
}

@test "a function that a library has only in an old version is pointed out, and one in today's is not" {
	command -v gcc >/dev/null || skip "no compiler"
	printf '%s\n' '__asm__(".symver past, served@V1");' 'int past(int x) { return x; }' 'int today(int x) { return x + 1; }' >versions.c
	echo 'V1 { global: served; today; local: *; };' >versions.map
	gcc -shared -fPIC -o libversions.so versions.c -Wl,--version-script=versions.map
	for function in served today; do
		printf 'EVENT %s "x" { x: i32 } FROM uprobe:"%s:%s" { x = user_arg(0) }\n' called "$PWD/libversions.so" $function >$function.events
		echo "EVENTS \"$function.events\" RULE called PATTERN { called:c }" >$function.rule
	done
	run --separate-stderr -0 "$ASTERISM" run served.rule -- true
	[[ $stderr == *"note: uprobe:$PWD/libversions.so:served is there only in an old version, which programs that are linked today do not call"* ]]
	run --separate-stderr -0 "$ASTERISM" run today.rule -- true
	[[ $stderr != *version* ]]
}

@test "what is not nested is no match" {
	"$ASTERISM" run -q -f json -o out nested.rule -- "$locks" awake
	[ "$(grep -c '"match"' out)" -eq 0 ]
}

@test "a recording of probes is replayed to the same matches" {
	"$ASTERISM" record -q -f json --rules nested.rule -o trace -- "$locks" circle >live
	"$ASTERISM" replay -q -f json nested.rule trace >replayed
	[ "$(grep -c '"match"' live)" -eq 3 ]
	diff <(grep '"match"' live | undated) <(grep '"match"' replayed)
}

# The number of programs of the type that probes have, 2, of asterism run with these arguments for a process that sleeps.
programs_of() {
	sleep 60 &
	started=$!
	"$ASTERISM" run -v "$@" -p $started 2>err >out 3>&- &
	session=$!
	started="$started $session"
	until grep -q observing err; do kill -0 $session || return; sleep 0.05; done
	cat /proc/$session/fdinfo/* 2>/dev/null | grep -c '^prog_type:[[:space:]]*2$' || true
	kill -INT $session
	wait $session
}

@test "probes share a program, in which each has its own entries" {
	cat >locks.events <<-END
		EVENT given_back { lock: addr, shared: u32 }
		FROM uprobe:"libc.so.6:pthread_mutex_unlock" { lock = user_arg(0), shared = 0 }
		FROM uprobe:"libc.so.6:pthread_rwlock_unlock" { lock = user_arg(0), shared = 0 }
		FROM uprobe:"libc.so.6:pthread_rwlock_destroy" { lock = user_arg(0), shared = 1 }
		EVENT answered { ret: i64 }
		FROM uretprobe:"libc.so.6:pthread_mutex_trylock" { ret = user_result() }
	END
	printf 'EVENTS "locks.events"\nRULE given PATTERN { given_back:g } RETURN { g.lock, g.shared }\nRULE a PATTERN { answered }\n' >locks.rule
	[ "$(programs_of locks.rule)" -eq 1 ]
}

@test "more probes than a program has room for take another" {
	for f in abs atoi atol atoll calloc close ctime div dup dup2 exit feof ferror fflush fgetc fgets fileno free fopen \
		fputc fputs fread fseek ftell fwrite getc getenv getpid gets puts isalnum isalpha isdigit kill; do
		echo "EVENT of_$f { number: u32 } FROM uprobe:\"libc.so.6:$f\" { number = 1 }" >>many.events
		echo "RULE of_$f PATTERN { of_$f }" >>of.rule
	done
	{ echo 'EVENTS "many.events"'; cat of.rule; } >many.rule
	[ "$(programs_of many.rule)" -eq 2 ]
}

@test "a function that is not there is named" {
	printf 'EVENT e {}\nFROM uprobe:"libc.so.6:no_such_function" {}\n' >e.events
	printf 'EVENTS "e.events"\nRULE r PATTERN { e }\n' >e.rule
	run -4 "$ASTERISM" run e.rule -- true
	[[ "$output" == *"no function no_such_function"* ]]
}

@test "a file that is not there is named" {
	printf 'EVENT e {}\nFROM uprobe:"libnone.so.9:f" {}\n' >e.events
	printf 'EVENTS "e.events"\nRULE r PATTERN { e }\n' >e.rule
	run -4 "$ASTERISM" run e.rule -- true
	[[ "$output" == *"library not found (name a program by its path): libnone.so.9"* ]]
}

@test "a file that is no program is refused" {
	printf '\177ELF and nonsense' >bad.so
	printf 'EVENT e {}\nFROM uprobe:"%s/bad.so:f" {}\n' "$PWD" >e.events
	printf 'EVENTS "e.events"\nRULE r PATTERN { e }\n' >e.rule
	run -4 "$ASTERISM" run e.rule -- true
	[[ "$output" == *"not a program or library: $PWD/bad.so"* ]]
}

@test "what is not a regular file is not waited for" {
	mkfifo pipe.so
	printf 'EVENT e {}\nFROM uprobe:"%s/pipe.so:f" {}\n' "$PWD" >e.events
	printf 'EVENTS "e.events"\nRULE r PATTERN { e }\n' >e.rule
	run -4 timeout $((20 * ${ASTERISM_TEST_PATIENCE:-1})) "$ASTERISM" run e.rule -- true
	[[ "$output" == *"not a regular file"* ]]
}

@test "registers belong to probes only" {
	printf 'EVENT e { a: u64 }\nFROM sched:sched_switch { a = user_arg(0) }\n' >e.events
	printf 'EVENTS "e.events"\nRULE r PATTERN { e:x } RETURN { x.a }\n' >e.rule
	run -4 "$ASTERISM" run e.rule -- true
	[[ "$output" == *"only a probe in user code"* ]]
}

@test "a probe without a function is an error of the catalog" {
	printf 'EVENT e {}\nFROM uprobe:"libc.so.6" {}\n' >e.events
	printf 'EVENTS "e.events"\nRULE r PATTERN { e }\n' >e.rule
	run -2 "$ASTERISM" check e.rule
	[[ "$output" == *'uprobe:"file:function"'* ]]
}

# The first byte of the function: 0xcc while a probe stands there.
first_byte() {
	/usr/bin/python3 -SE -c 'import ctypes
f = ctypes.cast(ctypes.CDLL(None).pthread_mutex_lock, ctypes.c_void_p)
print(ctypes.string_at(f.value, 1).hex())'
}

has_probe() {
	[ "$(first_byte)" = cc ]
}

@test "no probe is left in the library, also of a session that was killed" {
	wait_for not has_probe # somebody else on this machine may have one there for a while
	sleep 60 &
	started=$!
	"$ASTERISM" run -q nested.rule -p $started 2>err >out &
	session=$!
	started="$started $session"
	wait_for has_probe
	kill -KILL $session
	wait $session || true
	wait_for not has_probe
	[ -r /sys/kernel/tracing/uprobe_events ] || mount -t tracefs tracefs /sys/kernel/tracing
	run -1 grep pthread_mutex /sys/kernel/tracing/uprobe_events
}
