// SPDX-License-Identifier: BSD-2-Clause
/* Builds machines for tests and their events. */

#include "machines.h"

#include "base/alloc.h"
#include "engine/engine-priv.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct maker_rule machines_base(const char *name)
{
	struct maker_rule rule = {
		.name = name,
		.semantics = PROGRAM_MACHINE,
		.pool = 1000,
		.slots = { [SLOT_X] = { PROGRAM_I64, 8 },
			   [SLOT_U] = { PROGRAM_U64, 8 },
			   [SLOT_N] = { PROGRAM_I64, 8 },
			   [SLOT_NOTICE] = { PROGRAM_U64, 8 },
			   [SLOT_TIMER] = { PROGRAM_U64, 8 },
			   [SLOT_CPU] = { PROGRAM_I64, 8 },
			   [SLOT_PID] = { PROGRAM_I64, 8 },
			   [SLOT_TID] = { PROGRAM_I64, 8 },
			   [SLOT_COMM] = { PROGRAM_STRING, EVENT_COMM_BYTES } },
		.slot_count = SLOT_COUNT,
		.flags = PROGRAM_RULE_TIMER,
		.context_slot = SLOT_CPU + 1,
		.timer_slot = SLOT_TIMER,
		.notice_slot = SLOT_NOTICE,
		.notice_count = 3,
		.classes = { { .slots = { SLOT_X, SLOT_U }, .slot_count = 2, .key_count = MAKER_TYPES } },
		.class_count = 1,
		.state_count = 2,
		.over_c = true,
	};

	for (uint32_t i = 0; i < MAKER_TYPES; i++) {
		rule.classes[0].keys[i].type = i;
		rule.classes[0].keys[i].fields[0] = maker_field(i, MAKER_X);
		rule.classes[0].keys[i].fields[1] = maker_field(i, MAKER_U);
	}
	return rule;
}

struct maker_transition *machines_add(struct maker_rule *rule, uint32_t state, uint32_t type, uint32_t target)
{
	struct maker_transition *transition = &rule->states[state].transitions[rule->states[state].count++];

	*transition = (struct maker_transition){ .type = type, .target = target };
	return transition;
}

void machines_set(struct maker_transition *transition, uint32_t slot, uint32_t node)
{
	int i = 0;

	while (transition->actions[i].op)
		i++;
	transition->actions[i].op = PROGRAM_SET;
	transition->actions[i].slot = slot;
	transition->actions[i].node = node + 1;
}

uint32_t machines_int(struct machines *machines, int64_t value)
{
	return maker_const(machines->build, PROGRAM_I64, (uint64_t)value);
}

uint32_t machines_word(struct machines *machines, uint64_t value)
{
	return maker_const(machines->build, PROGRAM_U64, value);
}

uint32_t machines_slot(struct machines *machines, uint32_t slot)
{
	return maker_leaf(machines->build, PROGRAM_OP_SLOT,
			  slot == SLOT_U || slot == SLOT_NOTICE || slot == SLOT_TIMER ? PROGRAM_U64 : PROGRAM_I64,
			  slot);
}

uint32_t machines_field(struct machines *machines, uint32_t type, enum maker_field field)
{
	static const enum program_kind kinds[] = { PROGRAM_I64, PROGRAM_U64, PROGRAM_F64, PROGRAM_BOOL,
						   PROGRAM_STRING };

	return maker_leaf(machines->build, PROGRAM_OP_FIELD, kinds[field], maker_field(type, field));
}

uint32_t machines_plus(struct machines *machines, int64_t value)
{
	uint32_t n = machines_slot(machines, SLOT_N);

	return maker_node(machines->build, PROGRAM_OP_ADD, PROGRAM_I64, n, machines_int(machines, value));
}

uint32_t machines_later(struct machines *machines, uint64_t value)
{
	uint32_t ts = maker_leaf(machines->build, PROGRAM_OP_FIELD, PROGRAM_I64, 0);
	uint32_t wide = maker_node(machines->build, PROGRAM_OP_CONVERT, PROGRAM_U64, ts, 0);

	return maker_node(machines->build, PROGRAM_OP_ADD, PROGRAM_U64, wide, machines_word(machines, value));
}

void machines_open(struct machines *machines, struct maker_transition *transition, int64_t n)
{
	machines_set(transition, SLOT_X, machines_field(machines, transition->type, MAKER_X));
	machines_set(transition, SLOT_U, machines_field(machines, transition->type, MAKER_U));
	machines_set(transition, SLOT_N, machines_int(machines, n));
}

void machines_notice(struct machines *machines, struct maker_transition *transition, uint64_t notice)
{
	machines_set(transition, SLOT_NOTICE, machines_word(machines, notice));
	if (transition->target != PROGRAM_TARGET_MATCH)
		transition->flags |= PROGRAM_TELL;
}

static int on_match(void *context, const struct program_match *match)
{
	struct machines *machines = context;
	const struct program_rule *rule = &machines->program->rules[match->rule];
	int64_t n = 0;

	if (rule->slot_count > SLOT_N)
		memcpy(&n, (const char *)match->slots + 8 * SLOT_N, sizeof n);
	machines->used +=
		(size_t)snprintf(machines->log + machines->used, sizeof machines->log - machines->used,
				 "%s/%u@%" PRIu64 "=%" PRId64 "%s ", program_text(machines->program, rule->name),
				 match->notice, match->ts, n, match->tainted ? "!" : "");
	assert_true(machines->used < sizeof machines->log);
	return machines->result;
}

void machines_init(struct machines *machines)
{
	memset(machines, 0, sizeof *machines);
	machines->build = maker_new();
	machines->on_match = on_match;
}

void machines_start(struct machines *machines)
{
	struct engine_options options = { on_match, machines, NULL };

	machines->program = maker_load(machines->build);
	assert_int_equal(engine_new(machines->program, &options, NULL, &machines->engine), 0);
}

void machines_fini(struct machines *machines)
{
	engine_free(machines->engine);
	program_free(machines->program);
}

static void read_event(struct machines *machines, const char **at, struct maker_record *record)
{
	*record = (struct maker_record){ .header = { .ts = ++machines->ts, .pid = 1, .tid = 2, .comm = "test" } };
	record->header.type = (uint32_t)(*(*at)++ - 'A');
	record->x = strtoll(*at, (char **)at, 10);
	if (**at == '.') {
		++*at;
		record->u = strtoull(*at, (char **)at, 10);
	}
	while (**at && **at != ' ') {
		char sign = *(*at)++;

		if (sign == '+')
			record->b = 1;
		else if (sign == '@')
			record->header.ts = machines->ts = strtoull(*at, (char **)at, 10);
		else if (sign == '#')
			record->header.pid = (uint32_t)strtoull(*at, (char **)at, 10);
		else
			fail_msg("%c is no part of an event", sign);
	}
	while (**at == ' ')
		++*at;
	snprintf(record->s, sizeof record->s, "%" PRId64, record->x);
}

int machines_feed(struct machines *machines, const char *events)
{
	struct maker_record record;
	int result = 0;

	while (*events && !result) {
		read_event(machines, &events, &record);
		result = engine_feed(machines->engine, &record.header);
	}
	return result;
}

struct program_rule_stats machines_stats(const struct machines *machines, uint32_t rule)
{
	struct program_rule_stats stats;

	engine_stats(machines->engine, rule, &stats);
	return stats;
}

uint64_t machines_live(const struct machines *machines, uint32_t rule)
{
	return machines->engine->rules[rule].live;
}

uint64_t machines_deadline(const struct machines *machines)
{
	return machines->engine->deadline;
}
