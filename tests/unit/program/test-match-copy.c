// SPDX-License-Identifier: BSD-2-Clause
/* A copy says what the match said, when nothing of the match is left. */

#include "program/match-copy.h"

#include "base/alloc.h"
#include "sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { EVENTS = 2, RECORD_BYTES = sizeof(struct event_header) + 24, SLOT_BYTES = 64 };

/* A match of `pair` and all that it points to; which of it is there, is asked of the maker. */
struct borrowed {
	struct program *program;
	char records[EVENTS][RECORD_BYTES], slots[SLOT_BYTES], comm[EVENT_COMM_BYTES], why[32], frame[32];
	struct program_match_event events[EVENTS];
	struct program_reaction reactions[2];
	const char *frames[2];
	char end[32], other[16], place[32];
	const char *places[1];
	struct program_thread threads[2];
	uint64_t stack[2];
	struct program_match match;
};

static void make(struct borrowed *made, bool with_reactions, bool with_frames)
{
	*made = (struct borrowed){ .program = sample_program(),
				   .comm = "worker",
				   .why = "the process has ended",
				   .frame = "main+0x1",
				   .end = "stack cut at 16 KiB",
				   .other = "waiter",
				   .place = "futex_wait+0x2" };
	memset(made->slots, 7, sizeof made->slots);
	for (int i = 0; i < EVENTS; i++) {
		struct event_header *record = (struct event_header *)made->records[i];

		memset(made->records[i], 40 + i, RECORD_BYTES);
		record->type = i ? TYPE_C : TYPE_A;
		made->events[i] = (struct program_match_event){ record, (uint32_t)i * 2 };
	}
	made->reactions[0] = (struct program_reaction){ .how = PROGRAM_DONE };
	made->reactions[1] = (struct program_reaction){ .how = PROGRAM_NOT_DONE, .why = made->why, .by = "default" };
	made->frames[0] = made->frame;
	made->frames[1] = "";
	made->places[0] = made->place;
	made->threads[0] = (struct program_thread){ .pid = 2,
						    .tid = 8,
						    .comm = made->other,
						    .late_ns = 9,
						    .stack = { made->places, 1, PROGRAM_BY_REGISTERS, NULL } };
	made->threads[1] = (struct program_thread){
		.pid = 2, .tid = 7, .comm = "", .stack = { made->frames, 2, PROGRAM_BY_UNWINDING, made->end }
	};
	made->match = (struct program_match){ .rule = RULE_PAIR,
					      .tainted = true,
					      .ts = 5,
					      .cpu = 1,
					      .pid = 2,
					      .tid = 3,
					      .comm = made->comm,
					      .slots = made->slots,
					      .events = made->events,
					      .event_count = EVENTS,
					      .done = 2,
					      .reactions = with_reactions ? made->reactions : NULL,
					      .stack = made->stack,
					      .stack_count = 2 };
	if (!with_frames)
		return;
	made->match.named_stack = (struct program_stack){ made->frames, 2, PROGRAM_BY_UNWINDING, made->end };
	made->match.threads = made->threads;
	made->match.thread_count = 2;
}

static void forget(struct borrowed *made)
{
	struct program *program = made->program;

	memset(made, 0, sizeof *made);
	made->program = program;
}

/* What does not depend on reactions and frames. */
static void assert_reported(const struct program_match *match)
{
	char slots[SLOT_BYTES];

	memset(slots, 7, sizeof slots);
	assert_true(match->tainted);
	assert_int_equal(match->ts + match->cpu + match->pid + match->tid + match->done, 5 + 1 + 2 + 3 + 2);
	assert_string_equal(match->comm, "worker");
	assert_memory_equal(match->slots, slots, sizeof slots);
	assert_int_equal(match->event_count, EVENTS);
	assert_int_equal(match->events[1].element, 2);
	assert_int_equal(match->events[0].record->type, TYPE_A);
	assert_int_equal(((const char *)match->events[0].record)[RECORD_BYTES - 1], 40);
	assert_int_equal(((const char *)match->events[1].record)[0], 41);
	assert_null(match->stack);
}

static void assert_stack(const struct program_stack *stack)
{
	assert_int_equal(stack->frame_count, 2);
	assert_string_equal(stack->frames[0], "main+0x1");
	assert_string_equal(stack->frames[1], "");
	assert_int_equal(stack->by, PROGRAM_BY_UNWINDING);
	assert_string_equal(stack->end, "stack cut at 16 KiB");
}

static void assert_threads(const struct program_match *match)
{
	const struct program_thread *threads = match->threads;

	assert_int_equal(match->thread_count, 2);
	assert_int_equal(threads[0].tid + threads[0].late_ns + threads[1].tid, 8 + 9 + 7);
	assert_string_equal(threads[0].comm, "waiter");
	assert_string_equal(threads[1].comm, "");
	assert_int_equal(threads[0].stack.frame_count, 1);
	assert_string_equal(threads[0].stack.frames[0], "futex_wait+0x2");
	assert_null(threads[0].stack.end);
	assert_stack(&threads[1].stack);
}

static void what_is_kept_outlives_the_match(void **state)
{
	struct borrowed made;
	struct program_match_copy *copy;

	(void)state;
	make(&made, true, true);
	copy = program_match_keep(made.program, &made.match);
	forget(&made);
	assert_non_null(copy);
	assert_reported(&copy->match);
	assert_int_equal(copy->match.reactions[0].how, PROGRAM_DONE);
	assert_null(copy->match.reactions[0].why);
	assert_string_equal(copy->match.reactions[1].why, "the process has ended");
	assert_string_equal(copy->match.reactions[1].by, "default");
	assert_stack(&copy->match.named_stack);
	assert_threads(&copy->match);
	copy->reactions[0].how = PROGRAM_NOT_DONE;
	assert_int_equal(copy->match.reactions[0].how, PROGRAM_NOT_DONE);
	alloc_free(copy);
	program_free(made.program);
}

static void packed_bytes_may_be_moved(void **state)
{
	struct borrowed made;
	struct program_match_copy copy;
	struct program_packed size;
	void *packed, *moved, *room;

	(void)state;
	make(&made, true, true);
	packed = malloc(program_match_bytes(made.program, &made.match));
	program_match_pack(made.program, &made.match, packed);
	forget(&made);
	size = program_match_packed(packed);
	assert_int_equal(size.bytes % 8 + size.room_bytes % 8, 0);
	moved = malloc(size.bytes);
	memcpy(moved, packed, size.bytes);
	memset(packed, 0, size.bytes);
	free(packed);
	room = malloc(size.room_bytes);
	program_match_unpack(moved, room, &copy);
	assert_reported(&copy.match);
	assert_string_equal(copy.match.reactions[1].why, "the process has ended");
	assert_stack(&copy.match.named_stack);
	assert_threads(&copy.match);
	free(room);
	free(moved);
	program_free(made.program);
}

static void what_is_not_there_is_not_made_up(void **state)
{
	struct borrowed made;
	struct program_match_copy *copy;

	(void)state;
	make(&made, false, false);
	copy = program_match_keep(made.program, &made.match);
	forget(&made);
	assert_reported(&copy->match);
	assert_null(copy->match.reactions);
	assert_null(copy->reactions);
	assert_null(copy->match.named_stack.frames);
	assert_int_equal(copy->match.thread_count, 0);
	assert_int_equal(copy->match.stack_count, 0); /* addresses alone are not kept */
	alloc_free(copy);
	program_free(made.program);
}

static void a_match_without_events_needs_no_room(void **state)
{
	struct borrowed made;
	struct program_match_copy copy;
	void *packed;

	(void)state;
	make(&made, false, false);
	made.match.event_count = 0;
	made.match.events = NULL;
	packed = malloc(program_match_bytes(made.program, &made.match));
	program_match_pack(made.program, &made.match, packed);
	assert_int_equal(program_match_packed(packed).room_bytes, 0);
	program_match_unpack(packed, NULL, &copy);
	assert_int_equal(copy.match.event_count, 0);
	assert_memory_equal(copy.match.slots, made.slots, SLOT_BYTES);
	free(packed);
	program_free(made.program);
}

static void short_memory_is_said(void **state)
{
	struct borrowed made;

	(void)state;
	make(&made, true, true);
	alloc_fail_at(1);
	assert_null(program_match_keep(made.program, &made.match));
	alloc_fail_at(0);
	program_free(made.program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_kept_outlives_the_match),      cmocka_unit_test(packed_bytes_may_be_moved),
		cmocka_unit_test(what_is_not_there_is_not_made_up),     cmocka_unit_test(short_memory_is_said),
		cmocka_unit_test(a_match_without_events_needs_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
