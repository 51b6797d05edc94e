// SPDX-License-Identifier: BSD-2-Clause
/*
 * A machine on its way from the text to its warnings, with every allocation failing once: what fails says so, and what
 * does not fail is right.
 */

#include "automaton/compile.h"
#include "base/alloc.h"
#include "engine/engine.h"
#include "lang/parse.h"
#include "session/output/result.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char types[] =
	"EVENT opened { fd: i32 } EVENT closed { fd: i32 } EVENT forked { child: u32 } EVENT ended { }";

static const char text[] =
	"EVENT alarm { fd: i32, why: string }\n"
	"PARAM patience = 3; PARAM word = \"late\"\n"
	"MACHINE descriptor KEY { pid, fd } POOL 100 TRAIL 3 ON LOSS TAINT\n"
	"  VAR n: u8 = 250, s: string[24] = word; f: bool\n"
	"  STATE Open { EXIT { s = comm } ON closed:c WHERE { c.fd > 0, n < 255 OR f } -> Closed { n = n + patience } "
	"}\n"
	"  STATE Closed { ENTRY { f = (n > 1) } ON opened -> Open\n"
	"    ON closed { WARN \"{fd} {n} {s} {{}}\"; EMIT alarm(fd = fd, why = s); CALL Message(\"x {}\", n) }\n"
	"    AFTER 5s -> END { WARN \"left {n / (fd - 4)}\" } }\n"
	"  ON ended BY { pid, * } -> END\n"
	"MACHINE family KEY { pid } STATE Alone { ON opened -> Known } STATE Known { ON forked COPY BY { child } }\n"
	"MACHINE alarms KEY { fd } STATE Quiet { ON alarm:a -> STAY { WARN \"{a.why}\" } }\n"
	"RULE pair PATTERN { [alarm:a, closed:b] } WHERE { [fd] } RETURN { a.why AS why }\n";

struct run {
	struct event_catalog *catalog;
	struct asterism_diag *diag;
	struct lang_program *unit;
	struct program *program;
	struct engine *engine;
	void *bytes;
	uint64_t lost;
	FILE *stream;
	char *written;
	size_t length;
};

static int on_match(void *context, const struct program_match *match)
{
	struct run *run = context;

	result_write_json(run->stream, run->program, match, NULL);
	result_write_text(run->stream, run->program, match, NULL);
	return 0;
}

static int make(struct run *run)
{
	static const struct lang_input input = { .file = "m.rule", .text = text, .length = sizeof text - 1 };
	static const struct lang_setting setting = { "patience", "2" };
	const struct lang_sources sources = { &input, 1, &setting, 1 };
	const struct engine_options options = { on_match, run };
	size_t length;
	int result = lang_read_with(&sources, run->catalog, run->diag, &run->unit);

	if (!result)
		result = automaton_compile(lang_program_unit(run->unit), run->catalog, run->diag, &run->bytes, &length);
	if (!result)
		result = program_load(run->bytes, length, "m", run->diag, &run->program);
	return result ? result : engine_new(run->program, &options, run->diag, &run->engine);
}

static void feed(struct run *run, const char *type, uint64_t ts, uint64_t field)
{
	uint64_t record[sizeof(struct event_header) / 8 + 1] = { 0 };
	struct event_header header = { .ts = ts, .pid = 7, .tid = 8, .comm = "cp" };

	header.type = program_type_find(run->program, type);
	memcpy(record, &header, sizeof header);
	record[sizeof header / 8] = field;
	assert_int_equal(engine_feed(run->engine, (struct event_header *)record), 0);
}

static void execute(struct run *run)
{
	feed(run, "opened", 1, 4);
	feed(run, "forked", 2, 9);
	feed(run, "closed", 3, 4);
	feed(run, "closed", 4, 4);
	feed(run, "closed", 5, 5);
	feed(run, "closed", 6, 4);
	engine_advance(run->engine, UINT64_C(20000000000));
	feed(run, "closed", UINT64_C(20000000001), 6);
	feed(run, "ended", UINT64_C(20000000002), 0);
	for (uint32_t i = 0; i < run->program->rule_count; i++) {
		struct program_rule_stats stats;

		engine_stats(run->engine, i, &stats);
		run->lost += stats.lost;
	}
}

/* Returns what making it came to. n: the allocation that fails; 0: none. */
static int attempt(struct run *run, unsigned long n)
{
	*run = (struct run){ .catalog = event_catalog_new(), .diag = asterism_diag_new() };
	run->stream = open_memstream(&run->written, &run->length);
	assert_int_equal(event_catalog_parse(run->catalog, "types", types, strlen(types), run->diag), 0);
	alloc_fail_at(n);
	int result = make(run);

	if (!result)
		execute(run);
	alloc_fail_at(0);
	fclose(run->stream);
	return result;
}

static void finish(struct run *run)
{
	engine_free(run->engine);
	program_free(run->program);
	alloc_free(run->bytes);
	lang_program_free(run->unit);
	asterism_diag_free(run->diag);
	event_catalog_free(run->catalog);
	free(run->written);
}

static void every_allocation_fails(void **state)
{
	struct run whole, run;
	unsigned long n = 0, refused = 0;
	bool more = true;

	(void)state;
	if (attempt(&whole, 0))
		fail_msg("%s", asterism_diag_get(whole.diag, 0)->text);
	assert_non_null(strstr(whole.written, "\"warning\":\"4 252 cp {}\""));
	assert_non_null(strstr(whole.written, "\"warning\":\"left ?\""));
	assert_non_null(strstr(whole.written, "\"match\":\"alarms\""));
	assert_non_null(strstr(whole.written, "\"match\":\"pair\""));
	while (more) {
		int result = attempt(&run, ++n);

		if (result) {
			assert_int_equal(result, -ENOMEM);
			assert_non_null(asterism_diag_get(run.diag, 0));
			assert_string_equal(asterism_diag_get(run.diag, 0)->text, "out of memory");
			refused++;
		} else {
			more = strcmp(run.written, whole.written) != 0;
			assert_true(!more || run.lost > 0);
		}
		finish(&run);
		assert_true(n < 20000);
	}
	assert_true(refused > 100);
	finish(&whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_allocation_fails) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
