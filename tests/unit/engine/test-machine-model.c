// SPDX-License-Identifier: BSD-2-Clause
/*
 * A machine that does everything at once, on random events, against a plain list of instances that is searched from end
 * to end: what the indices, the heap of timers and the reuse of memory must not change.
 */

#include "machines.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { KEYS = 8, POOL = 12, EVENTS = 60000 };

static struct machines m;

struct instance {
	int64_t x, n;
	uint64_t u, timer, epoch;
	int state;
};

/* Instances in opening order. */
static struct {
	struct instance instances[POOL];
	uint32_t count;
	uint64_t epoch, opened, refused, ts;
	uint64_t step_epoch; /* before the event */
	char log[1 << 14];
	size_t used;
} model;

static uint64_t seed = 42;

static uint32_t below(uint32_t limit)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)((seed >> 33) % limit);
}

static uint32_t n_is(enum program_op op, int64_t value)
{
	return maker_node(m.build, op, PROGRAM_BOOL, machines_slot(&m, SLOT_N), machines_int(&m, value)) + 1;
}

static void add_start(struct maker_rule *rule)
{
	struct maker_transition *t = machines_add(rule, 0, MAKER_A, PROGRAM_TARGET_MATCH);

	t->fit = machines_field(&m, MAKER_A, MAKER_BOOL) + 1;
	machines_open(&m, t, 7);
	machines_notice(&m, t, 2);
	t = machines_add(rule, 0, MAKER_A, 1);
	machines_open(&m, t, 0);
	machines_set(t, SLOT_TIMER, machines_later(&m, 10));
}

static void add_first(struct maker_rule *rule)
{
	uint32_t x = machines_slot(&m, SLOT_X);
	uint32_t next = maker_node(m.build, PROGRAM_OP_ADD, PROGRAM_I64, x, machines_int(&m, 1));
	struct maker_transition *t = machines_add(rule, 1, MAKER_A, 1);

	t->fit = machines_field(&m, MAKER_A, MAKER_BOOL) + 1;
	t->flags = PROGRAM_COPY;
	machines_set(t, SLOT_X, maker_node(m.build, PROGRAM_OP_MOD, PROGRAM_I64, next, machines_int(&m, KEYS)));
	machines_set(t, SLOT_TIMER, machines_later(&m, 20));
	t = machines_add(rule, 1, MAKER_A, 1);
	t->fit = n_is(PROGRAM_OP_LT, 3);
	machines_set(t, SLOT_N, machines_plus(&m, 1));
	machines_set(t, SLOT_TIMER, machines_later(&m, 10));
	t = machines_add(rule, 1, MAKER_A, 2);
	machines_set(t, SLOT_N, machines_int(&m, 0));
	machines_set(t, SLOT_TIMER, machines_word(&m, 0));
	machines_notice(&m, t, 1);
	t = machines_add(rule, 1, PROGRAM_TIMER, PROGRAM_TARGET_MATCH);
	t->fit = n_is(PROGRAM_OP_GT, 1);
	machines_notice(&m, t, 3);
	t = machines_add(rule, 1, PROGRAM_TIMER, 1);
	machines_set(t, SLOT_N, machines_plus(&m, 2));
	machines_set(t, SLOT_TIMER, machines_later(&m, 7));
	machines_notice(&m, t, 1);
}

static void start(void)
{
	struct maker_rule rule;
	struct maker_transition *t;
	uint32_t fit;

	machines_init(&m);
	rule = machines_base("m");
	rule.state_count = 3;
	rule.pool = POOL;
	add_start(&rule);
	add_first(&rule);
	t = machines_add(&rule, 2, MAKER_A, 1);
	machines_set(t, SLOT_N, machines_int(&m, 1));
	machines_set(t, SLOT_TIMER, machines_later(&m, 5));
	fit = machines_field(&m, MAKER_C, MAKER_BOOL) + 1;
	for (uint32_t i = 1; i <= 2; i++) {
		machines_add(&rule, i, MAKER_B, PROGRAM_TARGET_END);
		machines_add(&rule, i, MAKER_C, PROGRAM_TARGET_END)->fit = fit;
	}
	rule.classes[0].keys[MAKER_B].fields[1] = PROGRAM_NONE;
	rule.classes[0].keys[MAKER_C].fields[0] = PROGRAM_NONE;
	maker_add(m.build, &rule);
	machines_start(&m);
	memset(&model, 0, sizeof model);
}

static void report(const struct instance *instance, int notice, uint64_t ts)
{
	model.used += (size_t)snprintf(model.log + model.used, sizeof model.log - model.used,
				       "m/%d@%" PRIu64 "=%" PRId64 "%s ", notice, ts, instance->n,
				       instance->epoch < model.step_epoch ? "!" : "");
}

static void end(struct instance *instance)
{
	struct instance *last = &model.instances[--model.count];

	memmove(instance, instance + 1, (size_t)((char *)last - (char *)instance));
}

static struct instance *find(int64_t x, uint64_t u)
{
	for (uint32_t i = 0; i < model.count; i++) {
		if (model.instances[i].x == x && model.instances[i].u == u)
			return &model.instances[i];
	}
	return NULL;
}

static void keep(struct instance instance)
{
	if (find(instance.x, instance.u))
		return;
	if (model.count == POOL) {
		model.refused++;
		return;
	}
	model.opened++;
	model.instances[model.count++] = instance;
}

static void take_a(const struct maker_record *record)
{
	uint64_t ts = record->header.ts;
	struct instance *found = find(record->x, record->u);

	if (!found) {
		struct instance opened = { record->x, 0, record->u, ts + 10, model.epoch, 1 };

		if (record->b) {
			opened.n = 7;
			report(&opened, 2, ts);
		} else {
			keep(opened);
		}
		return;
	}
	if (found->state == 2) {
		*found = (struct instance){ found->x, 1, found->u, ts + 5, found->epoch, 1 };
		return;
	}
	if (record->b)
		keep((struct instance){ (found->x + 1) % KEYS, found->n, found->u, ts + 20, found->epoch, 1 });
	if (found->n < 3) {
		found->n++;
		found->timer = ts + 10;
	} else {
		found->n = 0;
		found->timer = 0;
		found->state = 2;
		report(found, 1, ts);
	}
}

static void expire(uint64_t now)
{
	for (;;) {
		struct instance *first = NULL;

		for (uint32_t i = 0; i < model.count; i++) {
			struct instance *instance = &model.instances[i];

			if (instance->timer && instance->timer < now && (!first || instance->timer < first->timer))
				first = instance;
		}
		if (!first)
			return;
		model.step_epoch = model.epoch;
		if (first->n > 1) {
			report(first, 3, first->timer);
			end(first);
		} else {
			first->n += 2;
			report(first, 1, first->timer);
			first->timer += 7;
		}
	}
}

static void take(const struct maker_record *record)
{
	expire(record->header.ts);
	model.step_epoch = model.epoch;
	if (record->header.type == MAKER_A) {
		take_a(record);
		return;
	}
	for (uint32_t i = model.count; i > 0; i--) {
		struct instance *instance = &model.instances[i - 1];

		if (record->header.type == MAKER_B ? instance->x == record->x : record->b && instance->u == record->u)
			end(instance);
	}
}

static void make(struct maker_record *record)
{
	uint32_t dice = below(100);

	*record = (struct maker_record){ .x = below(KEYS), .u = below(KEYS), .b = below(2) };
	model.ts += below(200) ? below(3) : 60;
	record->header.ts = model.ts;
	record->header.type = dice < 98 ? MAKER_A : dice < 99 ? MAKER_B : MAKER_C;
}

static void agrees_with_a_list(void **state)
{
	(void)state;
	start();
	for (int i = 0; i < EVENTS; i++) {
		struct maker_record record;

		make(&record);
		if (!below(5000)) {
			engine_lose(m.engine, 1);
			model.epoch++;
		}
		model.used = 0;
		model.log[0] = 0;
		take(&record);
		assert_int_equal(engine_feed(m.engine, &record.header), 0);
		machines_assert(&m, model.log);
		assert_int_equal(machines_live(&m, 0), model.count);
	}
	assert_int_equal(machines_stats(&m, 0).runs_opened, model.opened);
	assert_int_equal(machines_stats(&m, 0).pool_exhausted, model.refused);
	assert_true(model.refused > 100);
	assert_true(machines_stats(&m, 0).matches > 1000);
	machines_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(agrees_with_a_list) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
