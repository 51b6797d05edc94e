// SPDX-License-Identifier: BSD-2-Clause
/* Exact images through the engine: what the compiler would not make on purpose, or not in this shape. */

#include "maker.h"

#include "base/alloc.h"
#include "engine/engine.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { SLOT_X, SLOT_SEQ };

struct log {
	char text[4096];
	size_t used;
	int result;
};

static int on_match(void *context, const struct program_match *match)
{
	struct log *log = context;
	uint64_t first;

	memcpy(&first, (const char *)match->slots + 8 * SLOT_SEQ, sizeof first);
	log->used += (size_t)snprintf(log->text + log->used, sizeof log->text - log->used, "%u:%u-%u%s ", match->rule,
				      (unsigned)first, (unsigned)match->ts, match->tainted ? "!" : "");
	return log->result;
}

/* [A:a, B:b] WHERE {[x]}; slots: x, a.ts. */
static struct maker_rule pair(struct program_build *build, enum program_semantics semantics)
{
	uint32_t x = maker_leaf(build, PROGRAM_OP_FIELD, PROGRAM_I64, maker_field(MAKER_A, MAKER_X));
	uint32_t ts = maker_leaf(build, PROGRAM_OP_FIELD, PROGRAM_I64, 0);

	return (struct maker_rule){
		.name = "pair",
		.semantics = semantics,
		.pool = 100,
		.slots = { { PROGRAM_I64, 8 }, { PROGRAM_I64, 8 } },
		.slot_count = 2,
		.classes = { { .slots = { SLOT_X },
			       .slot_count = 1,
			       .keys = { { MAKER_B, { maker_field(MAKER_B, MAKER_X) } } },
			       .key_count = 1 } },
		.class_count = 1,
		.states = { { .transitions = { { .type = MAKER_A,
						 .target = 1,
						 .actions = { { PROGRAM_SET, SLOT_X, x + 1 },
							      { PROGRAM_SET, SLOT_SEQ, ts + 1 } },
						 .element = 1 } },
			      .count = 1 },
			    { .transitions = { { .type = MAKER_B, .target = PROGRAM_TARGET_MATCH, .element = 2 } },
			      .count = 1 } },
		.state_count = 2,
	};
}

static struct engine *start(struct program *program, struct log *log)
{
	struct engine_options options = { on_match, log };
	struct engine *engine = NULL;

	assert_int_equal(engine_new(program, &options, NULL, &engine), 0);
	return engine;
}

/* Feeds events told as "A1 B2 C3": type and x, one ns apart from 1 on. */
static int feed(struct engine *engine, const char *events)
{
	struct maker_record record = { 0 };
	int result = 0;

	for (; *events && !result; events += events[2] ? 3 : 2) {
		record.header.ts++;
		record.header.seq++;
		record.header.type = (uint32_t)(events[0] - 'A');
		record.x = events[1] - '0';
		result = engine_feed(engine, &record.header);
	}
	return result;
}

static void assert_matches(const struct maker_rule *rule, struct program_build *build, const char *events,
			   const char *expected)
{
	struct log log = { .text = "" };

	maker_add(build, rule);
	struct program *program = maker_load(build);
	struct engine *engine = start(program, &log);
	assert_int_equal(feed(engine, events), 0);
	assert_string_equal(log.text, expected);
	engine_free(engine);
	program_free(program);
}

static const char *const stream = "A1 A2 A3 C3 B3 A2 B2 C2 B2 B1";

static void skip_till_next(void **state)
{
	struct program_build *build = maker_new();
	struct maker_rule rule = pair(build, PROGRAM_SKIP_TILL_NEXT);

	(void)state;
	assert_matches(&rule, build, stream, "0:3-5 0:2-7 0:6-7 0:1-10 ");
}

static void skip_till_any(void **state)
{
	struct program_build *build = maker_new();
	struct maker_rule rule = pair(build, PROGRAM_SKIP_TILL_ANY);

	(void)state;
	assert_matches(&rule, build, stream, "0:3-5 0:2-7 0:6-7 0:2-9 0:6-9 0:1-10 ");
}

static void strict_sequence(void **state)
{
	struct program_build *build = maker_new();
	struct maker_rule rule = pair(build, PROGRAM_STRICT_SEQUENCE);
	uint32_t x = maker_leaf(build, PROGRAM_OP_FIELD, PROGRAM_I64, maker_field(MAKER_B, MAKER_X));
	uint32_t same = maker_node(build, PROGRAM_OP_EQ, PROGRAM_BOOL, x,
				   maker_leaf(build, PROGRAM_OP_SLOT, PROGRAM_I64, SLOT_X));

	(void)state;
	rule.classes[0] =
		(struct maker_class){ .keys = { { .type = 0 }, { .type = 1 }, { .type = 2 } }, .key_count = 3 };
	rule.over_c = true;
	rule.states[1].transitions[0].fit = same + 1;
	assert_matches(&rule, build, stream, "0:6-7 ");
}

static void strict_partition(void **state)
{
	struct program_build *build = maker_new();
	struct maker_rule rule = pair(build, PROGRAM_STRICT_PARTITION);

	(void)state;
	rule.over_c = true;
	rule.classes[0].key_count = 3;
	for (uint32_t i = 0; i < 3; i++) {
		rule.classes[0].keys[i].type = i;
		rule.classes[0].keys[i].fields[0] = maker_field(i, MAKER_X);
	}
	assert_matches(&rule, build, stream, "0:6-7 0:1-10 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(skip_till_next),
		cmocka_unit_test(skip_till_any),
		cmocka_unit_test(strict_sequence),
		cmocka_unit_test(strict_partition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
