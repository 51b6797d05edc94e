// SPDX-License-Identifier: BSD-2-Clause
/* Several sources as one: order, numbers, losses, errors, and every allocation failing. */

#include "base/alloc.h"
#include "trace/merge.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

static const struct event_type type_a = { .name = "A" }, type_b = { .name = "B" }, type_c = { .name = "C" };

struct step {
	uint64_t ts; /* 0: result instead of an event */
	const struct event_type *type;
	uint32_t number;
	int result;
	uint64_t lost, lossy_until_ns;
};

/* A source that plays steps. */
struct player {
	struct event_source source; /* first */
	const struct step *steps;
	size_t at;
	struct event_header record;
	int *freed;
	struct event_want want;
};

static int player_next(struct event_source *source, struct event *event)
{
	struct player *player = (struct player *)source;
	const struct step *step = &player->steps[player->at];

	source->lost = step->lost ? step->lost : source->lost;
	source->lossy_until_ns = step->lossy_until_ns ? step->lossy_until_ns : source->lossy_until_ns;
	if (!step->ts) {
		player->at += step->result < 0;
		return step->result;
	}
	player->at++;
	player->record = (struct event_header){ .ts = step->ts, .seq = player->at, .type = step->number };
	*event = (struct event){ &player->record, step->type };
	return 1;
}

static uint64_t player_position(const struct event_source *source)
{
	return ((const struct player *)source)->at;
}

static void player_want(struct event_source *source, const struct event_want *want)
{
	((struct player *)source)->want = *want;
}

static void player_free(struct event_source *source)
{
	++*((struct player *)source)->freed;
	free(source);
}

static const struct event_source_kind player_kind = {
	.name = "player",
	.next = player_next,
	.free = player_free,
	.position = player_position,
	.want = player_want,
};

static int freed;

static struct event_source *play(const struct step *steps)
{
	struct player *player = calloc(1, sizeof *player);

	assert_non_null(player);
	player->source.kind = &player_kind;
	player->steps = steps;
	player->freed = &freed;
	return &player->source;
}

static struct event_source *merge(struct event_source *const *sources, size_t count)
{
	struct event_source *made;

	freed = 0;
	assert_int_equal(trace_merge_new(sources, count, NULL, &made), 0);
	return made;
}

static void expect(struct event_source *source, uint64_t seq, uint64_t ts, const struct event_type *type,
		   uint32_t number)
{
	struct event event;

	assert_int_equal(event_source_next(source, &event), 1);
	assert_int_equal(event.record->ts, ts);
	assert_int_equal(event.record->seq, seq);
	assert_ptr_equal(event.type, type);
	assert_int_equal(event.record->type, number);
}

static void expect_end(struct event_source *source, int inputs)
{
	struct event event;

	assert_int_equal(event_source_next(source, &event), 0);
	assert_int_equal(event_source_next(source, &event), 0);
	event_source_free(source);
	assert_int_equal(freed, inputs);
}

static void orders_by_time_then_by_input(void **state)
{
	static const struct step one[] = { { 10, &type_a, 0 }, { 20, &type_b, 1 }, { 20, &type_a, 0 }, { 0 } };
	static const struct step two[] = { { 5, &type_c, 0 }, { 20, &type_a, 1 }, { 30, &type_b, 2 }, { 0 } };
	static const struct step none[] = { { 0 } };
	struct event_source *sources[] = { play(one), play(none), play(two) };
	struct event_source *merged = merge(sources, 3);

	(void)state;
	expect(merged, 1, 5, &type_c, 0);
	expect(merged, 2, 10, &type_a, 1);
	expect(merged, 3, 20, &type_b, 2);
	expect(merged, 4, 20, &type_a, 1);
	expect(merged, 5, 20, &type_a, 1);
	assert_int_equal(event_source_position(merged), 5);
	expect(merged, 6, 30, &type_b, 2);
	expect_end(merged, 3);
}

static void many_inputs(void **state)
{
	enum { INPUTS = 37, EVENTS = 50 };
	static struct step steps[INPUTS][EVENTS + 1];
	struct event_source *sources[INPUTS];
	uint64_t last = 0;
	uint32_t last_input = 0;
	struct event event;

	(void)state;
	srand(1);
	for (uint32_t i = 0; i < INPUTS; i++) {
		uint64_t ts = 1;

		for (int j = 0; j < EVENTS; j++) {
			ts += (uint64_t)(rand() % 4);
			steps[i][j] = (struct step){ ts, &type_a, 0 };
		}
		sources[i] = play(steps[i]);
	}
	struct event_source *merged = merge(sources, INPUTS);
	for (uint64_t seq = 1; seq <= (uint64_t)INPUTS * EVENTS; seq++) {
		uint32_t input = 0;

		assert_int_equal(event_source_next(merged, &event), 1);
		assert_int_equal(event.record->seq, seq);
		while (event.record != &((struct player *)sources[input])->record)
			input++;
		assert_true(event.record->ts > last || (event.record->ts == last && input >= last_input));
		last = event.record->ts;
		last_input = input;
	}
	expect_end(merged, INPUTS);
}

static void late_events_come_at_once(void **state)
{
	static const struct step one[] = { { 10, &type_a, 0 }, { 3, &type_a, 0 }, { 0 } };
	static const struct step two[] = { { 11, &type_a, 0 }, { 0 } };
	struct event_source *sources[] = { play(one), play(two) };
	struct event_source *merged = merge(sources, 2);

	(void)state;
	expect(merged, 1, 10, &type_a, 0);
	expect(merged, 2, 3, &type_a, 0);
	expect(merged, 3, 11, &type_a, 0);
	expect_end(merged, 2);
}

/* What one input says goes through; it can be asked again, and nothing of the others is lost. */
static void passes_errors_on(void **state)
{
	static const struct step one[] = {
		{ .result = -EINTR }, { 10, &type_a, 0 }, { .result = -EINVAL }, { 20, &type_a, 0 }, { 0 }
	};
	static const struct step two[] = { { 15, &type_b, 0 }, { 0 } };
	struct event_source *sources[] = { play(one), play(two) };
	struct event_source *merged = merge(sources, 2);
	struct event event;

	(void)state;
	assert_int_equal(event_source_next(merged, &event), -EINTR);
	expect(merged, 1, 10, &type_a, 0);
	assert_int_equal(event_source_next(merged, &event), -EINVAL);
	expect(merged, 2, 15, &type_b, 1);
	expect(merged, 3, 20, &type_a, 0);
	expect_end(merged, 2);
}

static void adds_losses(void **state)
{
	static const struct step one[] = { { 10, &type_a, 0 },
					   { 40, &type_a, 0, .lost = 5, .lossy_until_ns = 40 },
					   { .lost = 6, .lossy_until_ns = 45 } };
	static const struct step two[] = { { 20, &type_a, 0, .lost = 2, .lossy_until_ns = 19 },
					   { 30, &type_a, 0 },
					   { 0 } };
	struct event_source *sources[] = { play(one), play(two) };
	struct event_source *merged = merge(sources, 2);

	(void)state;
	expect(merged, 1, 10, &type_a, 0);
	assert_int_equal(merged->lost, 2);
	expect(merged, 2, 20, &type_a, 0); /* the other input's gap may have begun already */
	assert_int_equal(merged->lost, 7);
	assert_int_equal(merged->lossy_until_ns, 40);
	expect(merged, 3, 30, &type_a, 0);
	expect(merged, 4, 40, &type_a, 0);
	assert_int_equal(merged->lost, 7);
	struct event event;
	assert_int_equal(event_source_next(merged, &event), 0);
	assert_int_equal(merged->lost, 8);
	assert_int_equal(merged->lossy_until_ns, 45);
	expect_end(merged, 2);
}

static void hands_wants_on(void **state)
{
	static const struct step none[] = { { 0 } };
	struct event_source *sources[] = { play(none), play(none) };
	struct event_source *merged = merge(sources, 2);
	struct event_want want = { .context = &merged, .drops = true };

	(void)state;
	event_source_want(merged, &want);
	for (int i = 0; i < 2; i++) {
		assert_ptr_equal(((struct player *)sources[i])->want.context, &merged);
		assert_false(((struct player *)sources[i])->want.drops); /* ordinals count the events of all */
	}
	expect_end(merged, 2);
}

static int read_all(struct event_source *const *sources)
{
	struct event_source *merged;
	struct event event;
	int result = trace_merge_new(sources, 2, NULL, &merged);

	if (result) {
		event_source_free(sources[0]);
		event_source_free(sources[1]);
		return result;
	}
	while ((result = event_source_next(merged, &event)) > 0) {
	}
	event_source_free(merged);
	return result;
}

static void survives_lack_of_memory(void **state)
{
	static const struct step one[] = { { 10, &type_a, 0 }, { 20, &type_b, 1 }, { 0 } };
	int result = -ENOMEM;

	(void)state;
	for (unsigned long n = 1; result == -ENOMEM; n++) {
		struct event_source *sources[] = { play(one), play(one) };

		freed = 0;
		alloc_fail_at(n);
		result = read_all(sources);
		alloc_fail_at(0);
		assert_int_equal(freed, 2);
		assert_true(n < 100);
	}
	assert_int_equal(result, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders_by_time_then_by_input),
		cmocka_unit_test(many_inputs),
		cmocka_unit_test(late_events_come_at_once),
		cmocka_unit_test(passes_errors_on),
		cmocka_unit_test(adds_losses),
		cmocka_unit_test(hands_wants_on),
		cmocka_unit_test(survives_lack_of_memory),
	};

	return cmocka_run_group_tests_name("trace-merge", tests, NULL, NULL);
}
