#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Events from USDT probes: arguments wherever they are, semaphores, probes in several places, in libraries and in a
# program of the distribution; what is said where there is no such probe. Needs root.

bats_require_minimum_version 1.5.0
load ../../wait

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	folder="$(realpath "$(dirname "$ASTERISM")/../../tests/kernel")"
	plant="$folder/plant-usdt"
	[ -x "$plant" ] || skip "needs systemtap-sdt-dev where asterism was built"
	cd "$BATS_TEST_TMPDIR"
	declare_plant "$plant" "$plant"
	asterism_runs || skip "no probes in user code in this kernel"
}

# `declare_plant PROGRAM FILE`: plain's probes are in FILE.
declare_plant() {
	cat >plant.events <<-END
		EVENT gated { number: i64, small: i8, byte: u8, change: i16, total: i32, name: string[16] }
		FROM usdt:"$1:plant:gated" {
			number = usdt_arg(0), small = usdt_arg(1), byte = usdt_arg(2), change = usdt_arg(3), total = usdt_arg(4),
			name = ustr(usdt_arg(5)),
		}
		EVENT unreached { number: i64 }
		FROM usdt:"$1:plant:unreached" { number = usdt_arg(0) }
		EVENT placed { where: i32, number: i64, twice: i32 }
		FROM usdt:"$2:plain:placed" { where = usdt_arg(0), number = usdt_arg(1), twice = usdt_arg(2) }
		EVENT variable { sum: i64, square: u64 }
		FROM usdt:"$2:plain:variable" { sum = usdt_arg(0), square = usdt_arg(1) }
	END
	cat >gated.rule <<-END
		EVENTS "plant.events"
		RULE gated PATTERN { gated:g } RETURN { g.number, g.small, g.byte, g.change, g.total, g.name }
	END
	cat >placed.rule <<-END
		EVENTS "plant.events"
		RULE placed PATTERN { placed:p } RETURN { p.where AS at, p.number, p.twice }
	END
	cat >variable.rule <<-END
		EVENTS "plant.events"
		RULE variable PATTERN { variable:v } RETURN { v.sum, v.square }
	END
}

asterism_runs() {
	"$ASTERISM" run -q placed.rule -- true
}

teardown() {
	if [ -n "${uprobe:-}" ]; then
		echo 0 >"/sys/kernel/tracing/events/$uprobe/enable"
		echo "-:$uprobe" >>/sys/kernel/tracing/uprobe_events
	fi
	[ -z "${started:-}" ] || kill -KILL $started 2>/dev/null || true
}

# `values FILE`: what each match returns, a line each.
values() {
	sed -n 's/.*"return":{\([^}]*\)}.*/\1/p' "$1" | sed 's/"[a-z.]*"://g'
}

gated_values='0,-1,255,-300,-70000,"even"
1,-2,254,-301,-70001,"odd"
2,-3,253,-302,-70002,"even"'

placed_values='1,0,0
2,0,0
3,-9,18
1,1,2
2,1,2
3,-9,18'

@test "a probe with a semaphore gives arguments of every size and sign, and its text" {
	"$ASTERISM" run -q -f json -o out gated.rule -- "$plant" 3 >said
	diff <(values out) <(echo "$gated_values")
	[ "$(cat said)" = "met 3" ]
}

@test "without a rule over it the program is not told to raise the probe" {
	"$ASTERISM" run -q -f json -o out placed.rule -- "$plant" 3 >said
	[ "$(cat said)" = "met 0" ]
}

@test "a semaphore is given back" {
	"$ASTERISM" run -q gated.rule -- "$plant" 3 >said
	"$plant" 3 >said
	[ "$(cat said)" = "met 0" ]
}

@test "a probe in several places has its arguments at each" {
	"$ASTERISM" run -q -f json -o out placed.rule -- "$plant" 2 >said
	diff <(values out) <(echo "$placed_values")
}

@test "arguments that are variables" {
	"$ASTERISM" run -q -f json -o out variable.rule -- "$plant" 3 >said
	diff <(values out) <(printf '%s\n' -5,0 -4,1 -2,4)
}

@test "a program at fixed addresses" {
	declare_plant "$plant-fixed" "$plant-fixed"
	for rule in gated placed; do
		"$ASTERISM" run -q -f json -o $rule $rule.rule -- "$plant-fixed" $([ $rule = gated ] && echo 3 || echo 2) >said
	done
	diff <(values gated) <(echo "$gated_values")
	diff <(values placed) <(echo "$placed_values")
}

@test "probes in a library that the program is linked with" {
	declare_plant "$plant-linked" "$folder/libplant-usdt.so"
	"$ASTERISM" run -q -f json -o out placed.rule -- "$plant-linked" 2 >said
	diff <(values out) <(echo "$placed_values")
	"$ASTERISM" run -q -f json -o out variable.rule -- "$plant-linked" 3 >said
	diff <(values out) <(printf '%s\n' -5,0 -4,1 -2,4)
}

@test "a probe that is not reached raises nothing" {
	printf 'EVENTS "plant.events"\nRULE r PATTERN { unreached:u } RETURN { u.number }\n' >unreached.rule
	"$ASTERISM" run -q -f json -o out unreached.rule -- "$plant" 3 >said
	[ "$(grep -c '"match"' out)" -eq 0 ]
}

@test "a rule over several probes and a WHEN over an argument" {
	sed 's/plain:placed" {/plain:placed" WHEN usdt_arg(0) == 2 {/' -i plant.events
	cat >both.rule <<-END
		EVENTS "plant.events"
		RULE both PATTERN { [gated:g, placed:p] } WHERE { [tid], g.number == p.number } RETURN { g.number, p.where AS at }
	END
	"$ASTERISM" run -q -f json -o out both.rule -- "$plant" 3 >said
	diff <(values out) <(printf '%s\n' 0,2 1,2 2,2)
}

@test "a recording is replayed to the same matches" {
	"$ASTERISM" record -q -f json --rules gated.rule -o trace -- "$plant" 3 >live
	"$ASTERISM" replay -q -f json gated.rule trace >replayed
	[ "$(grep -c '"match"' live)" -eq 3 ]
	diff <(grep '"match"' live | undated) <(grep '"match"' replayed)
}

@test "a rule in user space sees the same" {
	cat >user.rule <<-END
		EVENTS "plant.events"
		RULE user PATTERN { placed:p } WHERE { p.number * 0.5 >= 0.0 } RETURN { p.where AS at, p.number }
	END
	"$ASTERISM" check user.rule 2>&1 | grep -q 'runs in user space'
	"$ASTERISM" run -q -f json -o out user.rule -- "$plant" 2 >said
	diff <(values out) <(printf '%s\n' 1,0 2,0 1,1 2,1)
}

@test "a process that runs already is told, too" {
	"$plant" 2000000000 10 >said 3>&- &
	started=$!
	"$ASTERISM" run -q -f json -o out gated.rule -p $started 3>&- &
	session=$!
	started="$started $session"
	wait_for grep -q '"match"' out
	kill -INT $session
	wait $session
}

@test "a file that is replaced while its probes are observed is told of, and a loss" {
	cp "$plant" mine
	declare_plant "$PWD/mine" "$PWD/mine"
	"$ASTERISM" run -a -f json -o out gated.rule 2>err &
	started=$!
	met() { ./mine 1 >/dev/null && grep -q '"match"' out; }
	wait_for met
	cp "$plant" next
	mv next mine
	wait_for grep -q "$PWD/mine has been replaced: processes that start the new one raise no event" err
	kill -INT "$started"
	local status=0
	wait "$started" || status=$?
	started=
	[ "$status" != 0 ]
	grep -q '"stats":.*"lost":1,' out
}

@test "a plain uprobe of another tool in the same place is told of" {
	[ -w /sys/kernel/tracing/uprobe_events ] || mount -t tracefs tracefs /sys/kernel/tracing
	cp "$plant" own
	declare_plant "$PWD/own" "$PWD/own"
	# Its code lies in the file where it is loaded.
	at=$(readelf -nW own | grep -A1 'Name: gated' | sed -n 's/.*Location: \(0x[0-9a-f]*\),.*/\1/p')
	echo "p:usdt_test_$$/there $PWD/own:$at" >>/sys/kernel/tracing/uprobe_events
	uprobe=usdt_test_$$/there
	echo 1 >/sys/kernel/tracing/events/$uprobe/enable
	run -4 "$ASTERISM" run -q gated.rule -- ./own 3
	[[ "$output" == *"another tool probably has a plain uprobe"* ]]
}

@test "probes of a program of the distribution: python3" {
	python=$(realpath /usr/bin/python3)
	readelf -n "$python" 2>/dev/null | grep -q 'Name: gc__start' || skip "this python3 has no USDT probes"
	cat >python.events <<-END
		EVENT gc_start { generation: i32 }
		FROM usdt:"$python:python:gc__start" { generation = usdt_arg(0) }
		EVENT gc_done { collected: i64 }
		FROM usdt:"$python:python:gc__done" { collected = usdt_arg(0) }
	END
	cat >python.rule <<-END
		EVENTS "python.events"
		RULE collection PATTERN { [gc_start:a, gc_done:b] } WHERE { [tid] } RETURN { a.generation AS generation, b.collected AS collected }
	END
	"$ASTERISM" run -q -f json -o out python.rule -- "$python" -SE -c 'import gc
gc.disable()
gc.collect()
for i in range(7):
    a = []
    a.append(a)
del a
gc.collect(1)'
	values out | grep -qx '1,7'
}

@test "probes of a program of the distribution: PostgreSQL" {
	server=$(ls /usr/lib/postgresql/*/bin/postgres 2>/dev/null | tail -n 1)
	[ -x "$server" ] && readelf -n "$server" 2>/dev/null | grep -q 'Name: query__start' || skip "no PostgreSQL with USDT probes"
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR"/* "$PWD"
	install -d -o postgres data
	su postgres -c "'${server%postgres}initdb' -D '$PWD/data' -A trust" >said
	cat >server.events <<-END
		EVENT query { text: string[1024] }
		FROM usdt:"$server:postgresql:query__start" { text = ustr(usdt_arg(0)) }
		EVENT lock { name: string[64], mode: i32 }
		FROM usdt:"$server:postgresql:lwlock__acquire" { name = ustr(usdt_arg(0)), mode = usdt_arg(1) }
	END
	cat >server.rule <<-END
		EVENTS "server.events"
		RULE query PATTERN { [query:q, lock:l] } WHERE { [tid] } RETURN { q.text, l.mode }
	END
	"$ASTERISM" run -q -f json -o out server.rule -- \
		su postgres -c "echo 'select 6 * 7' | '$server' --single -D '$PWD/data' postgres" >said 2>&1
	values out | grep -q '"select 6 \* 7'
}

# `shift_notes FROM TO LOCATION BASE SEMAPHORE`: a copy whose notes have addresses that are so much lower.
shift_notes() {
	/usr/bin/python3 -SE - "$@" <<-END
		import struct, sys
		data, moves = bytearray(open(sys.argv[1], "rb").read()), [int(word, 0) for word in sys.argv[3:6]]
		at = -1
		while (at := data.find(b"stapsdt\0", at + 1)) >= 0:
		    if struct.unpack_from("<I", data, at - 4) != (3,):
		        continue
		    words = struct.unpack_from("<3Q", data, at + 8)
		    struct.pack_into("<3Q", data, at + 8, *(word and word - move & (1 << 64) - 1 for word, move in zip(words, moves)))
		open(sys.argv[2], "wb").write(data)
	END
	chmod +x "$2"
}

@test "a program that was moved since its notes were written" {
	shift_notes "$plant-fixed" moved 0x1000 0x1000 0x1000
	! cmp -s "$plant-fixed" moved
	declare_plant "$PWD/moved" "$PWD/moved"
	"$ASTERISM" run -q -f json -o out gated.rule -- ./moved 3 >said
	diff <(values out) <(echo "$gated_values")
}

@test "notes that lie are refused" {
	declare_plant "$PWD/bad" "$PWD/bad"
	shift_notes "$plant" bad 0x100000 0 0
	run -2 "$ASTERISM" check placed.rule
	[[ "$output" == *"no code where it claims"* ]]
	shift_notes "$plant" bad 0 0 0x4000
	run -2 "$ASTERISM" check gated.rule
	[[ "$output" == *"no room for the semaphore of gated"* ]]
	shift_notes "$plant" bad 0 0 1
	run -2 "$ASTERISM" check gated.rule
}

# `check_says TEXT STATUS`: of what is declared.
check_says() {
	printf 'EVENTS "e.events"\nRULE r PATTERN { e }\n' >e.rule
	run -"$2" "$ASTERISM" check e.rule
	[[ "$output" == *"$1"* ]] || { echo "$output"; false; }
}

@test "a probe that is not there is an error, with the nearest one" {
	printf 'EVENT e {}\nFROM usdt:"%s:plant:gatet" {}\n' "$plant" >e.events
	check_says "no USDT probe plant:gatet; did you mean plant:gated?" 2
	[[ "$output" == *"e.events:2"* ]]
}

@test "an argument that the probe does not have is an error" {
	printf 'EVENT e { a: i32 }\nFROM usdt:"%s:plain:placed" { a = usdt_arg(3) }\n' "$plant" >e.events
	check_says "the probe has 3 arguments, but no usdt_arg(3)" 2
	printf 'EVENT e { a: i32 }\nFROM usdt:"%s:plain:placed" { a = usdt_arg(3) ? 7 }\n' "$plant" >e.events
	check_says ": OK (in the kernel)" 0
}

@test "a file without probes is an error" {
	printf 'EVENT e {}\nFROM usdt:"%s:plant:gated" {}\n' "$(realpath /bin/true)" >e.events
	check_says "no USDT probes in" 2
}

@test "events lists such types, and says which cannot be" {
	printf 'EVENT f { a: i32 }\nFROM usdt:"%s:plain:placed" { a = usdt_arg(3) }\n' "$plant" >>plant.events
	"$ASTERISM" events -v --catalog plant.events >out
	grep -qx "    from usdt:$plant:plant:gated" out
	grep -qx "    from usdt:$plant:plain:placed: not on this kernel: a: the probe has 3 arguments, but no usdt_arg(3)" out
	[ "$("$ASTERISM" events --catalog plant.events gat)" = gated ]
}

@test "a file that is not there is told of" {
	printf 'EVENT e {}\nFROM usdt:"libnone.so.9:a:b" {}\n' >e.events
	check_says "library not found (name a program by its path): libnone.so.9" 0
}

@test "a program without its path is no library, and neither is a folder beside these" {
	for name in no-such-library.so python3; do
		sed "s|$plant|$name|" plant.events >named.events
		printf '%s\n' 'EVENTS "named.events"' 'RULE r PATTERN { gated:g }' >named.rule
		run -4 "$ASTERISM" run named.rule -- true
		[[ $output == *"library not found (name a program by its path): $name"* ]]
	done
}

@test "a function's arguments and a probe's are told apart" {
	printf 'EVENT e { a: i32 }\nFROM usdt:"%s:plain:placed" { a = user_arg(0) }\n' "$plant" >e.events
	check_says "write usdt_arg(0) for the first argument" 2
	printf 'EVENT e { a: i32 }\nFROM uprobe:"%s:main" { a = usdt_arg(0) }\n' "$plant" >e.events
	check_says "write user_arg(0) for the first argument" 2
	printf 'EVENT e {}\nFROM usdt:"%s:main" {}\n' "$plant" >e.events
	check_says 'usdt:"file:provider:probe"' 2
}
