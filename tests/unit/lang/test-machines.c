// SPDX-License-Identifier: BSD-2-Clause
/* State machines that are right: what becomes of their parts. What is wrong with others: tests/golden/errors. */

#include "base/alloc.h"
#include "print-machine.h"
#include "read-text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

/* Fails unless the last machine of text, printed, is expected; the messages where it has errors. */
static void expect_machine(const char *text, const char *expected)
{
	struct text_buffer printed = { 0 };
	struct reading reading;
	char *shown;

	read_text(&reading, text);
	if (reading.result) {
		shown = show_messages(reading.diag);
	} else {
		print_machine(&printed, &reading.unit->machines[reading.unit->machine_count - 1]);
		assert_int_equal(text_take(&printed, &shown), 0);
	}
	assert_string_equal(shown, expected);
	alloc_free(shown);
	reading_fini(&reading);
}

/* The example of docs/machines.md. */
static void test_example(void **state)
{
	(void)state;
	expect_machine(
		"EVENT opened { fd: i32 } EVENT closed { fd: i32 } EVENT used { fd: i32 } EVENT ended { }\n"
		"PARAM patience = 3;\n"
		"MACHINE closed_descriptor KEY { pid, fd } POOL 65536 VAR uses: u32;\n"
		"STATE Open { ON closed -> Closed }\n"
		"STATE Closed { ENTRY { uses = 0 } ON opened -> END\n"
		"ON used:u WHERE uses < patience { uses = uses + 1; WARN \"use {uses} of descriptor {fd}, closed "
		"before\" }\n"
		"AFTER 1h -> END }\n"
		"ON ended BY { pid, * } -> END",
		"closed_descriptor pool 65536 trail 4 loss 0\n"
		"key pid i64 0\n"
		"key fd i64 0\n"
		"var uses u32 i64 0\n"
		"state Open\n"
		"state Closed\n"
		"  entry var0 = 0\n"
		"Open on closed by pid fd -> Closed\n"
		"Closed on opened by pid fd -> end\n"
		"Closed on used by pid fd where (var0 < 3)\n"
		"  var0 = (var0 + 1)\n"
		"  warn \"use \" uses=var0 \" of descriptor \" fd=key1 \", closed before\"\n"
		"Closed after 3600000000000 -> end\n"
		"* on ended by pid * any -> end\n");
}

static void test_parts(void **state)
{
	(void)state;
	expect_machine("machine m key { x, } on loss discard trail 0, VAR a: u8 = 3, b: string[9] = \"q\"; "
		       "c: f64 = -1, var d: bool = TRUE; e: string\n"
		       "state S { exit { }; entry { a = x; } on A:q where { q.x > 3, NOT d, s == \"x\", } -> s { }; "
		       "on B -> T { d = (x > a); c = x; a = c } on C:c by { c } copy by { c.c } }\n"
		       "on A where r > 1.5 -> stay STATE s { after 5 where { cpu == 3 } -> end ON C:c BY { c.c } }\n"
		       "state T { on C:c by { c } COPY BY { c.c } -> s }",
		       "m pool 16384 trail 0 loss 1\n"
		       "key x i64 0\n"
		       "var a u8 i64 0 = 3\n"
		       "var b string string 16 = \"q\"\n"
		       "var c f64 f64 0 = -1:f64\n"
		       "var d bool bool 0 = true\n"
		       "var e string string 64\n"
		       "state S\n"
		       "  entry var0 = key0\n"
		       "state s\n"
		       "state T\n"
		       "S on A by x where ((.x > 3) and (not(var3:bool) and (.s:string == \"x\"))) -> s\n"
		       "S on B by x -> T\n"
		       "  var3 = (key0 > var0)\n"
		       "  var2 = f64(key0)\n"
		       "  var0 = i64(var2:f64)\n"
		       "S on C by c copy c\n"
		       "* on A by x where (.r:f64 > 1.5:f64)\n"
		       "s after 5 where (.cpu == 3) -> end\n"
		       "s on C by c\n"
		       "T on C by c copy c -> s\n");
}

static void test_names(void **state)
{
	(void)state;
	expect_machine("PARAM x = 7 PARAM n = 8 PARAM p = 9 MACHINE m KEY { x } VAR n: u8 VAR state_: u64\n"
		       "STATE One { ON A:a WHERE x == n AND p == 9 AND a.p == u AND ts > TimeStamp OR a.x == 3 }\n",
		       "m pool 16384 trail 4 loss 0\n"
		       "key x i64 0\n"
		       "var n u8 i64 0\n"
		       "var state_ u64 u64 0\n"
		       "state One\n"
		       "One on A by x where ((((key0 == var0) and (9 == 9)) and ((.p:u64 == .u:u64) and (.ts > .ts))) "
		       "or (.x == 3))\n");
	expect_machine(
		"PARAM p = 9 MACHINE m KEY { x } VAR n: u8 VAR warn: u64\n"
		"STATE One { ON A:a WHERE x == n AND p == 9 AND a.p == u AND tid IN { n, p } AND t AND s LIKE \"a\" "
		"{ warn = p; n = n << 1; EMIT A(x = x, s = s); CALL Message(\"a\", a#TID, #PID, a.r) } }\n",
		"m pool 16384 trail 4 loss 0\n"
		"key x i64 0\n"
		"var n u8 i64 0\n"
		"var warn u64 u64 0\n"
		"state One\n"
		"One on A by x where (((key0 == var0) and ((9 == 9) and (.p:u64 == .u:u64))) and (((.tid == var0) or "
		"(.tid == 9)) and (.t:bool and (.s:string like \"a\"))))\n"
		"  var1 = 9:u64\n"
		"  var0 = (var0 << 1)\n"
		"  emit A(x=key0, s=.s:string)\n"
		"  call Message(\"a\", #TID, #PID, .r:f64)\n");
}

static void test_keys(void **state)
{
	(void)state;
	expect_machine(
		"MACHINE m KEY { a, b, c, d } STATE One { ON A BY { x, z, s, t } ON A:q BY { q.x, q.z, q.s, q.t } "
		"WHERE q.x == a } ON A BY { x, z, s, t } WHERE u == 1 -> END",
		"m pool 16384 trail 4 loss 0\n"
		"key a i64 0\n"
		"key b i64 0\n"
		"key c string 256\n"
		"key d bool 0\n"
		"state One\n"
		"One on A by x z s t\n"
		"One on A by x z s t where (.x == key0)\n"
		"* on A by x z s t where (.u:u64 == 1:u64) -> end\n");
	expect_machine("MACHINE m KEY { a, b } STATE One { ON A BY { u, comm } ON B BY { x, s } }",
		       "m pool 16384 trail 4 loss 0\n"
		       "key a u64 0\n"
		       "key b string 256\n"
		       "state One\n"
		       "One on A by u comm\n"
		       "One on B by x s\n");
}

static void test_texts(void **state)
{
	(void)state;
	expect_machine("MACHINE m KEY { x } VAR n: u8 STATE One { ON A { WARN \"\"; WARN \"plain\"; WARN "
		       "\"{{}}\\n\\x7b\\\"\"; "
		       "WARN \"{n}{  x + 1 }b\"; WARN \"a{(n IN { 1, 2 })}\"; WARN \"{{{n}}}\"; WARN \"}}{s}{{\" } }",
		       "m pool 16384 trail 4 loss 0\n"
		       "key x i64 0\n"
		       "var n u8 i64 0\n"
		       "state One\n"
		       "One on A by x\n"
		       "  warn \"\"\n"
		       "  warn \"plain\"\n"
		       "  warn \"{}\\n{\\\"\"\n"
		       "  warn \"\" n=var0 \"\" x + 1=(key0 + 1) \"b\"\n"
		       "  warn \"a\" (n IN { 1, 2 })=((var0 == 1) or (var0 == 2))\n"
		       "  warn \"{\" n=var0 \"}\"\n"
		       "  warn \"}\" s=.s:string \"{\"\n");
}

/* Rules and machines share one file, and machines see types declared later. */
static void test_beside_rules(void **state)
{
	struct reading reading;

	(void)state;
	read_text(&reading,
		  "MACHINE m KEY { y } STATE One { ON Late -> END } RULE r PATTERN { [A, B] } WITHIN 3s "
		  "MACHINE n KEY { pid } STATE One { ON A -> END } EVENT Late { y: u8 } RULE q PATTERN { A }");
	assert_int_equal(reading.result, 0);
	assert_int_equal(reading.unit->machine_count, 2);
	assert_int_equal(reading.unit->rule_count, 2);
	assert_string_equal(reading.unit->machines[1].name, "n");
	assert_int_equal(reading.unit->machines[0].location.column, 9);
	assert_string_equal(reading.unit->machines[0].transitions[0].by[0]->name, "y");
	reading_fini(&reading);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example), cmocka_unit_test(test_parts), cmocka_unit_test(test_names),
		cmocka_unit_test(test_keys),    cmocka_unit_test(test_texts), cmocka_unit_test(test_beside_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
