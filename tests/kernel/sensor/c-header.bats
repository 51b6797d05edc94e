#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Events that an application declares in a C header and raises by prctl: fields where the compiler lays them out. Needs root.

bats_require_minimum_version 1.5.0
load ../../wait

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ "$(uname -m)" = x86_64 ] || skip "prctl has this number on x86-64"
	plant="$(realpath "$(dirname "$ASTERISM")/../../tests/kernel")/plant-events"
	cd "$BATS_TEST_TMPDIR"
	cp "$BATS_TEST_DIRNAME/../programs/plant-events.h" shop.h
	cat >placed.rule <<-END
		EVENTS "shop.h"
		RULE placed PATTERN { order_placed:a }
		RETURN { a.number, a.customer, a.rank, a.rebate, a.state, a.is_first, a.is_last, a.note, a.codes_0, a.codes_2, a.own_pid }
	END
	cat >cancelled.rule <<-END
		EVENTS "shop.h"
		RULE cancelled PATTERN { [order_placed:a, order_cancelled:b] } WHERE { [pid], a.number == b.number }
		RETURN { a.customer, b.number, b.reason }
	END
}

# `values FILE`: what each match returns, a line each.
values() {
	sed -n 's/.*"return":{\([^}]*\)}.*/\1/p' "$1" | sed 's/"[a-z_.0-9]*"://g'
}

@test "fields are where the compiler has them" {
	"$ASTERISM" run -q -f json -o out placed.rule -- "$plant"
	diff <(values out) - <<-END
		1099511627776,"Alice",-3,65535,1,false,true,0,-1,300,-5
		17,"Bob",-3,65535,1,false,true,0,-1,300,-5
	END
}

@test "a rule over two events joins by their fields; the text behind a struct" {
	"$ASTERISM" run -q -f json -o out cancelled.rule -- "$plant"
	[ "$(values out)" = '"Bob",17,"too late"' ]
}

@test "another provider's events, and shorter ones, are none" {
	"$ASTERISM" run -q -f json -o out placed.rule -- "$plant" 8
	[ "$(grep -c '"match"' out)" -eq 0 ]
	printf 'EVENTS "shop.h"\nRULE r PATTERN { order_cancelled:b } RETURN { b.number }\n' >one.rule
	"$ASTERISM" run -q -f json -o out one.rule -- "$plant"
	[ "$(values out)" = 17 ]
}

@test "doubles are had in user space" {
	printf 'EVENTS "shop.h"\nRULE r PATTERN { order_placed:a } WHERE { a.price * 2.0 == 19.5 } RETURN { a.price }\n' >price.rule
	"$ASTERISM" run -q -f json -o out price.rule -- "$plant"
	diff <(values out) <(printf '9.75\n9.75\n')
}

@test "a recording is replayed to the same matches, and shows the fields" {
	"$ASTERISM" record -q -f json --rules cancelled.rule -o trace -- "$plant" >live
	"$ASTERISM" replay -q -f json cancelled.rule trace >replayed
	[ "$(grep -c '"match"' live)" -eq 1 ]
	diff <(grep '"match"' live | undated) <(grep '"match"' replayed)
	"$ASTERISM" record -q --catalog shop.h -e order_placed -o all -- "$plant"
	"$ASTERISM" dump all | grep -q 'price=9.75 .*customer="Alice"'
}
