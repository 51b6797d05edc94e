// SPDX-License-Identifier: BSD-2-Clause
/* Reads the short notation of events and notes matches. */

#include "rig.h"

#include "automaton/compile.h"
#include "base/alloc.h"
#include "lang/parse.h"
#include "program/eval.h"

#include <ctype.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct rig_record {
	struct event_header header;
	int64_t x;
	char s[16];
};

static const char types[] = "EVENT A { x: i64, s: string[16] }\nEVENT B { x: i64, s: string[16] }\n"
			    "EVENT C { x: i64, s: string[16] }\nEVENT D { x: i64, s: string[16] }\n"
			    "EVENT E { x: i64, s: string[16] }\n";

static void note(struct rig *rig, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	rig->used += (size_t)vsnprintf(rig->log + rig->used, sizeof rig->log - rig->used, format, args);
	va_end(args);
	assert_true(rig->used < sizeof rig->log);
}

/* The first value that the rule returns, if it is an integer. */
static void note_value(struct rig *rig, const struct program_match *match)
{
	const struct program_rule *rule = &rig->program->rules[match->rule];
	struct program_operand operand = { .program = rig->program, .rule = rule, .slots = match->slots };
	struct program_value value;

	if (rule->return_count && !program_eval(&operand, rig->program->returns[rule->first_return].node, &value) &&
	    value.kind == PROGRAM_I64)
		note(rig, "=%" PRId64, value.i64);
}

static int on_match(void *context, const struct program_match *match)
{
	struct rig *rig = context;
	const struct program_rule *rule = &rig->program->rules[match->rule];

	rig->matches++;
	if (rig->quiet)
		return rig->result;
	note(rig, "%s", program_text(rig->program, rule->name));
	if (rule->flags & PROGRAM_RULE_SEQUENCE) {
		for (uint32_t i = 0; i < match->event_count; i++)
			note(rig, "%c%" PRIu64, i ? ',' : '(', match->events[i].record->seq);
		note(rig, ")");
	} else {
		note(rig, "@%" PRIu64, match->ts);
		note_value(rig, match);
	}
	note(rig, match->tainted ? "! " : " ");
	return rig->result;
}

static void assert_done(struct rig *rig, int result)
{
	if (result)
		print_error("%s\n", asterism_diag_get(rig->diag, 0)->text);
	assert_int_equal(result, 0);
}

void rig_compile(struct rig *rig, const char *rules)
{
	struct lang_input input = { .file = "test.rule", .text = rules, .length = strlen(rules) };
	struct lang_program *program;
	void *bytes;
	size_t length;

	memset(rig, 0, sizeof *rig);
	rig->diag = asterism_diag_new();
	rig->catalog = event_catalog_new();
	assert_done(rig, event_catalog_parse(rig->catalog, "types", types, strlen(types), rig->diag));
	assert_done(rig, lang_read(&input, 1, rig->catalog, rig->diag, &program));
	assert_done(rig, automaton_compile(lang_program_unit(program), rig->catalog, rig->diag, &bytes, &length));
	assert_done(rig, program_load(bytes, length, "test", rig->diag, &rig->program));
	alloc_free(bytes);
	lang_program_free(program);
}

int rig_start(struct rig *rig)
{
	struct engine_options options = { on_match, rig };

	return engine_new(rig->program, &options, rig->diag, &rig->engine);
}

void rig_open(struct rig *rig, const char *rules)
{
	rig_compile(rig, rules);
	assert_done(rig, rig_start(rig));
}

void rig_close(struct rig *rig)
{
	engine_free(rig->engine);
	program_free(rig->program);
	event_catalog_free(rig->catalog);
	asterism_diag_free(rig->diag);
}

/* Reads one event from *at. */
static void read_event(struct rig *rig, const char **at, struct rig_record *record)
{
	char name[2] = { *(*at)++, 0 };

	*record = (struct rig_record){ .header = { .ts = ++rig->ts, .seq = ++rig->seq, .pid = 1, .tid = 1 } };
	record->header.type = program_type_find(rig->program, name);
	if (isdigit((unsigned char)**at) || **at == '-')
		record->x = strtoll(*at, (char **)at, 10);
	snprintf(record->s, sizeof record->s, "%" PRId64, record->x);
	snprintf(record->header.comm, sizeof record->header.comm, "t%s", name);
	for (; **at && **at != ' ';) {
		char sign = *(*at)++;
		uint64_t value = strtoull(*at, (char **)at, 10);

		if (sign == '@')
			record->header.ts = rig->ts = value;
		else if (sign == '#')
			record->header.tid = (uint32_t)value;
		else
			fail_msg("%c is no part of an event", sign);
	}
	while (**at == ' ')
		++*at;
}

int rig_feed(struct rig *rig, const char *events)
{
	struct rig_record record;
	int result = 0;

	while (*events && !result) {
		read_event(rig, &events, &record);
		result = engine_feed(rig->engine, &record.header);
	}
	return result;
}

void rig_forget(struct rig *rig)
{
	rig->used = 0;
	rig->log[0] = 0;
}

struct program_rule_stats rig_stats(const struct rig *rig, uint32_t rule)
{
	struct program_rule_stats stats;

	engine_stats(rig->engine, rule, &stats);
	return stats;
}
