// SPDX-License-Identifier: BSD-2-Clause
/* What is told of machines from their text on: compiled, run by the engine, written. */

#include "compiled.h"

#include "engine/engine.h"
#include "session/output/result.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char types[] = "EVENT opened { fd: i32, name: string[16] }\n"
			    "EVENT closed { fd: i32, name: string[16] }\n"
			    "EVENT used { fd: i32, name: string[16] }\n";

struct record {
	struct event_header header;
	int64_t fd;
	char name[16];
};

struct rig {
	struct program *program;
	struct engine *engine;
	FILE *stream;
	char *text;
	size_t length;
	bool as_text;
};

static int on_match(void *context, const struct program_match *match)
{
	struct rig *rig = context;

	if (rig->as_text)
		result_write_text(rig->stream, rig->program, match, NULL);
	else
		result_write_json(rig->stream, rig->program, match, NULL);
	return 0;
}

static void open_rig(struct rig *rig, const char *machine, bool as_text)
{
	const struct engine_options options = { on_match, rig };

	*rig = (struct rig){ .as_text = as_text, .program = compiled(types, machine) };
	rig->stream = open_memstream(&rig->text, &rig->length);
	assert_int_equal(engine_new(rig->program, &options, NULL, &rig->engine), 0);
}

static void feed(struct rig *rig, const char *type, uint64_t ts, const char *name)
{
	struct record record = { .header = { .ts = ts, .seq = ts, .pid = 7, .tid = 8, .comm = "cp" }, .fd = 4 };

	record.header.type = program_type_find(rig->program, type);
	strcpy(record.name, name);
	assert_int_equal(engine_feed(rig->engine, &record.header), 0);
}

static void assert_written(struct rig *rig, const char *expected)
{
	fflush(rig->stream);
	assert_string_equal(rig->text, expected);
	engine_free(rig->engine);
	fclose(rig->stream);
	free(rig->text);
	program_free(rig->program);
}

static const char machine[] =
	"MACHINE m KEY { pid, fd }\n"
	"  VAR uses: u32; VAR last: string[16]; TRAIL 2\n"
	"  STATE Open { ON closed -> Closed { uses = 0 } }\n"
	"  STATE Closed {\n"
	"    ON opened -> END\n"
	"    ON used:u WHERE uses < 2 { uses = uses + 1; last = u.name; WARN \"{{{uses}}} of {fd} by {last}\"; "
	"CALL Count(\"uses\") }\n"
	"    ON used { CALL Count(\"more\") }\n"
	"    AFTER 1s { WARN \"gone for {10 / (fd - 4)}\" }\n"
	"  }\n";

static void warnings_from_text_on(void **state)
{
	struct rig rig;

	(void)state;
	open_rig(&rig, machine, false);
	feed(&rig, "closed", 10, "");
	feed(&rig, "used", 20, "a\x1b\"");
	feed(&rig, "used", 30, "b");
	feed(&rig, "used", 40, "c");
	feed(&rig, "opened", 2000000000, "");
	assert_written(
		&rig,
		"{\"match\":\"m\",\"ts\":20,\"cpu\":0,\"pid\":7,\"tid\":8,\"comm\":\"cp\","
		"\"warning\":\"{1} of 4 by a\\u001b\\\"\",\"return\":{\"uses\":1,\"fd\":4,\"last\":\"a\\u001b\\\"\"},"
		"\"trail\":[{\"event\":\"closed\",\"from\":\"Open\",\"to\":\"Closed\",\"ts\":10,\"cpu\":0,\"pid\":7,"
		"\"tid\":8},{\"event\":\"used\",\"from\":\"Closed\",\"to\":\"Closed\",\"ts\":20,\"cpu\":0,\"pid\":7,"
		"\"tid\":8}],\"tainted\":false,\"calls\":[{\"function\":\"Count\",\"args\":[\"uses\"]}]}\n"
		"{\"match\":\"m\",\"ts\":30,\"cpu\":0,\"pid\":7,\"tid\":8,\"comm\":\"cp\","
		"\"warning\":\"{2} of 4 by b\",\"return\":{\"uses\":2,\"fd\":4,\"last\":\"b\"},"
		"\"trail\":[{\"event\":\"used\",\"from\":\"Closed\",\"to\":\"Closed\",\"ts\":20,\"cpu\":0,\"pid\":7,"
		"\"tid\":8},{\"event\":\"used\",\"from\":\"Closed\",\"to\":\"Closed\",\"ts\":30,\"cpu\":0,\"pid\":7,"
		"\"tid\":8}],\"tainted\":false,\"calls\":[{\"function\":\"Count\",\"args\":[\"uses\"]}]}\n"
		"{\"match\":\"m\",\"ts\":40,\"cpu\":0,\"pid\":7,\"tid\":8,\"comm\":\"cp\",\"warning\":\"\","
		"\"return\":{},\"trail\":[{\"event\":\"used\",\"from\":\"Closed\",\"to\":\"Closed\",\"ts\":30,\"cpu\":"
		"0,"
		"\"pid\":7,\"tid\":8},{\"event\":\"used\",\"from\":\"Closed\",\"to\":\"Closed\",\"ts\":40,\"cpu\":0,"
		"\"pid\":7,\"tid\":8}],\"tainted\":false,\"calls\":[{\"function\":\"Count\",\"args\":[\"more\"]}]}\n"
		"{\"match\":\"m\",\"ts\":1000000010,\"cpu\":0,\"pid\":7,\"tid\":8,\"comm\":\"cp\","
		"\"warning\":\"gone for ?\",\"return\":{\"10 / (fd - 4)\":null},\"trail\":[{\"event\":\"used\","
		"\"from\":\"Closed\",\"to\":\"Closed\",\"ts\":40,\"cpu\":0,\"pid\":7,\"tid\":8},{\"event\":\"AFTER\","
		"\"from\":\"Closed\",\"to\":\"Closed\",\"ts\":1000000010,\"cpu\":0,\"pid\":7,\"tid\":8}],"
		"\"tainted\":false}\n");
}

static void warnings_for_people_from_text_on(void **state)
{
	struct rig rig;

	(void)state;
	open_rig(&rig, machine, true);
	feed(&rig, "closed", 10, "");
	feed(&rig, "used", 1500010, "a\x1b");
	feed(&rig, "opened", 2000000, "");
	assert_written(&rig, "     0.001500010  m     cp[7/8]                       cpu   0  {1} of 4 by a\\033  "
			     "Count(\"uses\")\n"
			     "             -1.5 ms  closed  Open   -> Closed  cpu   0  [7/8]\n"
			     "                0 ns  used    Closed -> Closed  cpu   0  [7/8]\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(warnings_from_text_on),
		cmocka_unit_test(warnings_for_people_from_text_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
