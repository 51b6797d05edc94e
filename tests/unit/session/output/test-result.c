// SPDX-License-Identifier: BSD-2-Clause
/* What is written about matches and counts, byte by byte. */

#include "compiled.h"

#include "base/alloc.h"
#include "base/real.h"
#include "engine/engine.h"
#include "program/match-copy.h"
#include "session/output/result-priv.h"
#include "session/output/result.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

static const char types[] =
	"EVENT A { x: i64, u: u64, f: f64, b: bool, s: string[16], n: u8 }\nEVENT B { }\nEVENT D { }\n";

struct record {
	struct event_header header;
	int64_t x;
	uint64_t u;
	double f;
	uint64_t b;
	char s[16];
	uint64_t n;
};

struct rig {
	struct program *program;
	FILE *stream;
	char *text;
	size_t length;
	bool as_text, stacked;
	struct when *when;
};

/* As it is written, and as what is kept of it is. */
static void write_kept(struct rig *rig, const struct program_match *match)
{
	char inner[] = "f+0x1 (/a \x1b\"\xff)", outer[] = "0x10", end[] = "cut";
	const char *frames[] = { inner, outer };
	const struct program_thread threads[] = {
		{ .pid = 10,
		  .tid = 12,
		  .comm = "w\x1b",
		  .late_ns = 412345,
		  .stack = { frames, 2, PROGRAM_BY_REGISTERS, end } },
		{ .pid = 13,
		  .tid = 13,
		  .comm = "x",
		  .late_ns = 0,
		  .stack = { frames + 1, 1, PROGRAM_BY_UNWINDING, NULL } },
	};
	struct program_match stacked = *match;
	struct program_match_copy *kept;

	stacked.named_stack = (struct program_stack){ frames, 2, PROGRAM_BY_UNWINDING, end };
	stacked.threads = threads;
	stacked.thread_count = 2;
	alloc_fail_at(1);
	assert_null(program_match_keep(rig->program, &stacked));
	alloc_fail_at(0);
	kept = program_match_keep(rig->program, &stacked);
	assert_non_null(kept);
	memset(inner, 0, sizeof inner);
	memset(outer, 0, sizeof outer);
	memset(end, 0, sizeof end);
	if (rig->as_text)
		result_write_text(rig->stream, rig->program, &kept->match, NULL);
	else
		result_write_json(rig->stream, rig->program, &kept->match, NULL);
	alloc_free(kept);
}

static int on_match(void *context, const struct program_match *match)
{
	struct rig *rig = context;

	if (rig->stacked) {
		write_kept(rig, match);
		return 0;
	}
	if (rig->as_text)
		result_write_text(rig->stream, rig->program, match, rig->when);
	else
		result_write_json(rig->stream, rig->program, match, rig->when);
	return 0;
}

static void open_rig(struct rig *rig, const char *rules)
{
	rig->program = compiled(types, rules);
	rig->stream = open_memstream(&rig->text, &rig->length);
}

static void close_rig(struct rig *rig)
{
	fclose(rig->stream);
	free(rig->text);
	program_free(rig->program);
}

static void assert_rig_writes(struct rig rig, const char *rules, struct record record, const char *expected)
{
	struct engine_options options = { on_match, &rig };
	struct engine *engine;
	struct event_header b = { .ts = 2000000005, .seq = 2, .cpu = 3, .pid = 10, .tid = 11, .comm = "cp" };

	open_rig(&rig, rules);
	record.header.ts = 1000000000;
	record.header.seq = 1;
	record.header.pid = record.header.tid = 7;
	record.header.type = program_type_find(rig.program, "A");
	b.type = program_type_find(rig.program, "B");
	assert_int_equal(engine_new(rig.program, &options, NULL, &engine), 0);
	assert_int_equal(engine_feed(engine, &record.header), 0);
	assert_int_equal(engine_feed(engine, &b), 0);
	fflush(rig.stream);
	assert_string_equal(rig.text, expected);
	engine_free(engine);
	close_rig(&rig);
}

/* An A and a B, and what is written about them. */
static void assert_written(const char *rules, struct record record, bool as_text, const char *expected)
{
	assert_rig_writes((struct rig){ .as_text = as_text }, rules, record, expected);
}

static const struct record sample = {
	.x = INT64_MIN, .u = UINT64_MAX, .f = 0.1, .b = 1, .s = "a\"\\\n\x01\xc3\xa9\xff", .n = 200
};

static void json_values(void **state)
{
	(void)state;
	assert_written(
		"RULE r PATTERN { [A:a, B:b] } RETURN { a.x, a.u AS big, a.f, a.b, a.s, a.n, b.ts - a.ts AS took, "
		"10 / (a.n - 200) AS none, b.comm }",
		sample, false,
		"{\"match\":\"r\",\"ts\":2000000005,\"cpu\":3,\"pid\":10,\"tid\":11,\"comm\":\"cp\",\"return\":{"
		"\"a.x\":-9223372036854775808,\"big\":18446744073709551615,\"a.f\":0.1,\"a.b\":true,"
		"\"a.s\":\"a\\\"\\\\\\n\\u0001\xc3\xa9\xef\xbf\xbd\",\"a.n\":200,\"took\":1000000005,"
		"\"none\":null,\"b.comm\":\"cp\"},\"tainted\":false}\n");
	assert_written(
		"RULE r PATTERN { [A, B] }", sample, false,
		"{\"match\":\"r\",\"ts\":2000000005,\"cpu\":3,\"pid\":10,\"tid\":11,\"comm\":\"cp\",\"return\":{},"
		"\"tainted\":false}\n");
}

static void json_sequence(void **state)
{
	(void)state;
	assert_written(
		"RULE r PATTERN { [A:a, B] } RETURN SEQUENCE", sample, false,
		"{\"match\":\"r\",\"ts\":2000000005,\"cpu\":3,\"pid\":10,\"tid\":11,\"comm\":\"cp\",\"return\":{},"
		"\"tainted\":false,\"sequence\":[{\"event\":\"A\",\"name\":\"a\",\"seq\":1,\"ts\":1000000000,\"cpu\":0,"
		"\"pid\":7,\"tid\":7,\"x\":-9223372036854775808,\"u\":18446744073709551615,\"f\":0.1,\"b\":true,"
		"\"s\":\"a\\\"\\\\\\n\\u0001\xc3\xa9\xef\xbf\xbd\",\"n\":200},{\"event\":\"B\",\"name\":null,\"seq\":2,"
		"\"ts\":2000000005,\"cpu\":3,\"pid\":10,\"tid\":11,\"comm\":\"cp\"}]}\n");
}

static void json_calls(void **state)
{
	(void)state;
	assert_written(
		"RULE r PATTERN { [A:a, B:b] } DO { CALL Message(\"x\\ty\", a.n, #TID, a#PID); EMIT D(); CALL "
		"Snapshot() }",
		sample, false,
		"{\"match\":\"r\",\"ts\":2000000005,\"cpu\":3,\"pid\":10,\"tid\":11,\"comm\":\"cp\",\"return\":{},"
		"\"tainted\":false,\"calls\":[{\"function\":\"Message\",\"args\":[\"x\\ty\",200,11,7],\"text\":\"x\\ty "
		"200 11 7\"},"
		"{\"function\":\"Snapshot\",\"args\":[]}]}\n");
}

static void stacks(void **state)
{
	static const char rule[] = "RULE r PATTERN { [A, B] } RETURN SEQUENCE";

	(void)state;
	assert_rig_writes(
		(struct rig){ .stacked = true }, "RULE r PATTERN { [A, B] } DO { CALL Stack() }", sample,
		"{\"match\":\"r\",\"ts\":2000000005,\"cpu\":3,\"pid\":10,\"tid\":11,\"comm\":\"cp\",\"return\":{},"
		"\"tainted\":false,\"stack\":[\"f+0x1 (/a "
		"\\u001b\\\"\xef\xbf\xbd)\",\"0x10\"],\"stack_by\":\"unwinding\",\"stack_end\":\"cut\","
		"\"threads\":[{\"pid\":10,\"tid\":12,\"comm\":\"w\\u001b\",\"late\":412345,\"stack\":[\"f+0x1 (/a "
		"\\u001b\\\"\xef\xbf\xbd)\",\"0x10\"],\"stack_by\":\"registers\",\"stack_end\":\"cut\"},"
		"{\"pid\":13,\"tid\":13,\"comm\":\"x\",\"late\":0,\"stack\":[\"0x10\"],\"stack_by\":\"unwinding\"}],"
		"\"calls\":[{\"function\":\"Stack\",\"args\":[]}]}\n");
	assert_rig_writes(
		(struct rig){ .stacked = true, .as_text = true }, rule, (struct record){ 0 },
		"     2.000000005  r     cp[10/11]                     cpu   3\n"
		"    f+0x1 (/a \\033\\\"\\377)\n"
		"    0x10\n"
		"    ... cut\n"
		"    w\\033[10/12], 412.3 us later:\n"
		"      f+0x1 (/a \\033\\\"\\377)\n"
		"      0x10\n"
		"      ... cut\n"
		"    x[13], 0 ns later:\n"
		"      0x10\n"
		"         1.000000000  A  [7]                           cpu   0  x=0  u=0  f=0  b=false  s=\"\"  n=0\n"
		"         2.000000005  B  cp[10/11]                     cpu   3\n");
}

static void text_lines(void **state)
{
	(void)state;
	assert_written("RULE r PATTERN { [A:a, B] } RETURN { a.x AS x, a.s, 1 / (a.n - 200) AS none }", sample, true,
		       "     2.000000005  r     cp[10/11]                     cpu   3  x=-9223372036854775808"
		       "  a.s=\"a\\\"\\\\\\n\\001\xc3\xa9\\377\"  none=(division by zero)\n");
	assert_written("RULE long_name PATTERN { [A:a, B] } RETURN SEQUENCE DO { CALL Signal(a.n, 9) }",
		       (struct record){ .header.comm = "x\033[31m", .b = 1, .f = 2 }, true,
		       "     2.000000005  long_name  cp[10/11]                     cpu   3  Signal(0, 9)\n"
		       "         1.000000000  a: A  x\\033[31m[7]                  cpu   0  x=0  u=0  f=2  b=true  "
		       "s=\"\"  n=0\n"
		       "         2.000000005  B     cp[10/11]                     cpu   3\n");
}

/* On a machine whose clock began at the time given: 0 is unknown. */
static void assert_when(enum when_form form, uint64_t wall_ns, bool as_text, const char *expected)
{
	const struct event_machine machine = { .wall_ns = wall_ns, .host = "a\x1b" };
	struct when when = { .form = form, .in_json = true, .machine = &machine, .last_ns = UINT64_C(2500000005) };

	setenv("TZ", "ABC-1", 1);
	tzset();
	assert_rig_writes((struct rig){ .as_text = as_text, .when = &when },
			  "RULE r PATTERN { [A, B] } RETURN SEQUENCE", (struct record){ 0 }, expected);
	assert_int_equal(when.last_ns, as_text ? UINT64_C(2000000005) : UINT64_C(2500000005));
}

static void when_and_where_in_text(void **state)
{
	(void)state;
	assert_when(WHEN_WALL, UINT64_C(1700000000000000000), true,
		    "2023-11-14T23:13:22.000000005+01:00  a\\033  r     cp[10/11]                     cpu   3\n"
		    "    2023-11-14T23:13:21.000000000+01:00  A  [7]                           cpu   0  x=0  u=0  f=0  "
		    "b=false  s=\"\"  n=0\n"
		    "    2023-11-14T23:13:22.000000005+01:00  B  cp[10/11]                     cpu   3\n");
	assert_when(
		WHEN_WALL, 0, true,
		"     2.000000005  r     cp[10/11]                     cpu   3\n"
		"         1.000000000  A  [7]                           cpu   0  x=0  u=0  f=0  b=false  s=\"\"  n=0\n"
		"         2.000000005  B  cp[10/11]                     cpu   3\n");
	assert_when(
		WHEN_DELTA, 0, true,
		"    -0.500000000  r     cp[10/11]                     cpu   3\n"
		"        -1.000000005  A  [7]                           cpu   0  x=0  u=0  f=0  b=false  s=\"\"  n=0\n"
		"        +0.000000000  B  cp[10/11]                     cpu   3\n");
}

static void when_and_where_in_json(void **state)
{
	static const char *const dates[] = { "\"2023-11-14T22:13:22.000000005Z\"", "null" };
	char expected[1024];

	(void)state;
	for (int unknown = 0; unknown < 2; unknown++) {
		snprintf(expected, sizeof expected,
			 "{\"match\":\"r\",\"ts\":2000000005,\"cpu\":3,\"pid\":10,\"tid\":11,\"comm\":\"cp\","
			 "\"return\":{},\"tainted\":false,\"sequence\":[{\"event\":\"A\",\"name\":null,\"seq\":1,"
			 "\"ts\":1000000000,\"cpu\":0,\"pid\":7,\"tid\":7,\"x\":0,\"u\":0,\"f\":0,\"b\":false,"
			 "\"s\":\"\",\"n\":0},{\"event\":\"B\",\"name\":null,\"seq\":2,\"ts\":2000000005,"
			 "\"cpu\":3,\"pid\":10,\"tid\":11,\"comm\":\"cp\"}],\"time\":%s,\"host\":\"a\\u001b\"}\n",
			 dates[unknown]);
		assert_when(WHEN_MONO, unknown ? 0 : UINT64_C(1700000000000000000), false, expected);
	}
}

/* Readings of the clocks that are a moment apart do not move what is known; a clock that was set does. */
static void the_machine_is_followed(void **state)
{
	struct event_machine machine = { 0 };

	(void)state;
	when_take_machine(&machine);
	uint64_t known = machine.wall_ns;

	assert_true(known > 0);
	assert_true(*machine.host);
	for (int i = 0; i < 100; i++) {
		when_take_machine(&machine);
		assert_int_equal(machine.wall_ns, known);
	}
	machine.wall_ns -= UINT64_C(3600000000000);
	when_take_machine(&machine);
	assert_true(machine.wall_ns + 1000000 > known && machine.wall_ns < known + 1000000);
}

static void stats(void **state)
{
	struct program_rule_stats rows[] = { { 1, 20, 3, 4, 12, 0, 5, 0 }, { 6, 7, 8, 9, 0, 0, 10, 11 } };
	struct session_totals totals = {
		.events = 3000, .lost = 15, .elapsed_ns = 1500000000, .rules = rows, .rule_count = 2
	};
	struct rig rig = { 0 };

	(void)state;
	open_rig(&rig, "RULE r PATTERN { A } RULE slow PATTERN { B }");
	result_write_stats(rig.stream, rig.program, &totals);
	totals.elapsed_ns = 0;
	totals.rule_count = 0;
	result_write_stats(rig.stream, rig.program, &totals);
	fflush(rig.stream);
	assert_string_equal(
		rig.text,
		"{\"stats\":{\"events\":3000,\"seconds\":1.5,\"events_per_second\":2000,\"lost\":15,\"rules\":{"
		"\"r\":{\"matches\":1,\"runs_opened\":20,\"runs_live_max\":3,\"pool_exhausted\":4,\"replaced\":12,"
		"\"lost\":5},"
		"\"slow\":{\"matches\":6,\"runs_opened\":7,\"runs_live_max\":8,\"pool_exhausted\":9,\"replaced\":0,"
		"\"lost\":10,"
		"\"divisions_by_zero\":11}}}}\n"
		"{\"stats\":{\"events\":3000,\"seconds\":0,\"events_per_second\":0,\"lost\":15,\"rules\":{}}}\n");
	close_rig(&rig);
}

static void table(void **state)
{
	struct program_rule_stats rows[] = { { 1, 20, 3, 4, 12, 0, 5, 0 }, { 6, 7, 8, 9, 0, 0, 10, 11 } };
	struct session_totals totals = {
		.events = 3000, .lost = 15, .elapsed_ns = 1500000000, .rules = rows, .rule_count = 2
	};
	struct rig rig = { 0 };

	(void)state;
	open_rig(&rig, "RULE r PATTERN { A } RULE slower PATTERN { B }");
	result_write_table(rig.stream, rig.program, &totals);
	fflush(rig.stream);
	assert_string_equal(rig.text, "rule         matches   runs opened     most open       refused          lost\n"
				      "r                  1            20             3             4             5\n"
				      "slower             6             7             8             9            10\n"
				      "3000 events in 1.500 s (2000 per second), 15 lost\n");
	close_rig(&rig);
}

static void assert_real(double real, const char *expected)
{
	char *text;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	real_put(stream, real);
	fclose(stream);
	assert_string_equal(text, expected);
	free(text);
}

static void reals_are_short_and_exact(void **state)
{
	/* Whatever the locale writes between units and tenths. */
	static const char *const locales[] = { "C", "de_DE.UTF-8", "fa_IR.UTF-8" };

	(void)state;
	for (size_t i = 0; i < sizeof locales / sizeof *locales; i++) {
		setlocale(LC_ALL, locales[i]); /* stays as it is where there is no such locale */
		assert_real(0, "0");
		assert_real(-0.0, "-0");
		assert_real(1, "1");
		assert_real(-2.5, "-2.5");
		assert_real(0.1, "0.1");
		assert_real(0.1 + 0.2, "0.30000000000000004");
		assert_real(1e21, "1e+21");
		assert_real(5e-324, "5e-324");
		assert_real(DBL_MAX, "1.7976931348623157e+308");
		assert_real(DBL_MIN, "2.2250738585072014e-308");
		assert_real(9007199254740993.0, "9007199254740992");
		assert_real(NAN, "null");
		assert_real(-INFINITY, "null");
	}
	setlocale(LC_ALL, "C");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_values),
		cmocka_unit_test(json_sequence),
		cmocka_unit_test(json_calls),
		cmocka_unit_test(stacks),
		cmocka_unit_test(text_lines),
		cmocka_unit_test(stats),
		cmocka_unit_test(table),
		cmocka_unit_test(reals_are_short_and_exact),
		cmocka_unit_test(when_and_where_in_text),
		cmocka_unit_test(when_and_where_in_json),
		cmocka_unit_test(the_machine_is_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
