// SPDX-License-Identifier: BSD-2-Clause
/* What has happened between two looks, in which order it is shown, and that no line is wider than the terminal. */

#include "cmd/top/top.h"

#include "base/alloc.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define S UINT64_C(1000000000)

static struct top_rule *rule(struct top *top, const char *unit, const char *name, uint64_t matches)
{
	struct top_rule *made = top_add_rule(top);

	assert_non_null(made);
	snprintf(made->unit, sizeof made->unit, "%s", unit);
	snprintf(made->name, sizeof made->name, "%s", name);
	made->matches = matches;
	return made;
}

static void process(struct top *top, pid_t pid, uint64_t running_ns, uint64_t ready_ns, uint64_t switches)
{
	struct top_process made = { .now = { .pid = pid, .switches = switches } };

	assert_int_equal(
		alloc_grow(&top->processes, &top->process_capacity, top->process_count, sizeof *top->processes), 0);
	made.now.ns[STATES_RUNNING] = running_ns;
	made.now.ns[STATES_READY] = ready_ns;
	snprintf(made.name, sizeof made.name, "p%d", (int)pid);
	top->processes[top->process_count++] = made;
}

static void rates_are_those_since_the_last_look(void **state)
{
	struct top top = { 0 };

	(void)state;
	top_turn(&top, 100 * S);
	rule(&top, "u", "a", 10)->kernel_ns = S;
	top_compare(&top);
	assert_true(top.rules[0].matches_per_s == 0);
	top_turn(&top, 102 * S);
	rule(&top, "other", "a", 99);
	rule(&top, "u", "a", 16)->kernel_ns = 2 * S;
	top_compare(&top);
	assert_true(top.rules[0].matches_per_s == 0);
	assert_true(top.rules[1].matches_per_s == 3);
	assert_true(top.rules[1].cpu_percent == 50);
	/* It was loaded anew. */
	top_turn(&top, 104 * S);
	rule(&top, "u", "a", 4);
	top_compare(&top);
	assert_true(top.rules[0].matches_per_s == 2);
	top_fini(&top);
}

static void processes_are_sorted_and_ties_go_by_pid(void **state)
{
	static const struct {
		enum top_sort sort;
		pid_t first, second, third;
	} rows[] = {
		{ TOP_BY_RUNNING, 30, 10, 20 }, { TOP_BY_READY, 20, 10, 30 }, { TOP_BY_SWITCHES, 10, 20, 30 },
		{ TOP_BY_BLOCKED, 10, 20, 30 }, { TOP_BY_PID, 10, 20, 30 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct top top = { .since_ns = 2 * S, .sort = rows[i].sort };

		process(&top, 30, S, 0, 0);
		process(&top, 20, 0, S, 4);
		process(&top, 10, 0, 0, 4);
		top_compare(&top);
		assert_int_equal(top.processes[0].now.pid, rows[i].first);
		assert_int_equal(top.processes[1].now.pid, rows[i].second);
		assert_int_equal(top.processes[2].now.pid, rows[i].third);
		for (size_t j = 0; j < 3; j++)
			if (top.processes[j].now.pid == 30)
				assert_true(top.processes[j].percent[STATES_RUNNING] == 50);
		top_fini(&top);
	}
}

static void who_has_less_time_than_before_has_none(void **state)
{
	struct top top = { .since_ns = S };

	(void)state;
	process(&top, 2, 5 * S, 0, 8);
	process(&top, 1, S, 0, 8);
	top_turn(&top, S);
	process(&top, 1, S + S / 4, 0, 9);
	process(&top, 2, 4 * S, 0, 3);
	top_compare(&top);
	assert_int_equal(top.processes[0].now.pid, 1);
	assert_true(top.processes[0].percent[STATES_RUNNING] == 25 && top.processes[0].switches_per_s == 1);
	assert_true(top.processes[1].percent[STATES_RUNNING] == 0 && top.processes[1].switches_per_s == 3);
	top_fini(&top);
}

/* Lines of the text; none is wider than columns characters. */
static unsigned lines(const struct text_buffer *text, unsigned columns)
{
	unsigned count = 0, column = 0;

	for (size_t i = 0; i < text->length; i++) {
		bool is_end = text->bytes[i] == '\n';

		column = is_end ? 0 : column + (((unsigned char)text->bytes[i] & 0xc0) != 0x80);
		assert_true(column <= columns);
		count += is_end;
	}
	return count;
}

static void the_terminal_is_filled_and_never_left(void **state)
{
	struct top top = { .states = NULL, .no_states = "processes are not shown: no privilege" };

	(void)state;
	for (int i = 0; i < 30; i++)
		snprintf(rule(&top, "u", "a\xc3\xa4\x1b[31m-and-a-name-that-is-long", 1)->key, TOP_KEY_BYTES, "k\n%d",
			 i);
	for (unsigned rows = 12; rows < 60; rows++) {
		for (unsigned columns = 1; columns < 130; columns += 8) {
			struct top_room room = { .columns = columns, .rows = rows };
			struct text_buffer text = { 0 };

			top_draw(&top, &room, &text);
			assert_int_equal(lines(&text, columns), rows);
			assert_null(memchr(text.bytes, 0x1b, text.length));
			text_fini(&text);
		}
	}
	top_fini(&top);
}

static void rules_leave_room_for_processes(void **state)
{
	struct top_room room = { .columns = 80, .rows = 24 };
	struct top top = { .no_states = "none" };
	struct text_buffer text = { 0 };

	(void)state;
	for (int i = 0; i < 9; i++)
		rule(&top, "u", "a", 1);
	top_draw(&top, &room, &text);
	text_append_bytes(&text, "", 1);
	assert_non_null(strstr(text.bytes, "\nand 1 more\n"));
	assert_non_null(strstr(text.bytes, "\nnone\n"));
	text_fini(&text);
	room.rows = 0;
	text = (struct text_buffer){ 0 };
	top_draw(&top, &room, &text);
	text_append_bytes(&text, "", 1);
	assert_null(strstr(text.bytes, "more"));
	assert_null(strstr(text.bytes, "q quit"));
	text_fini(&text);
	top_fini(&top);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_are_those_since_the_last_look),
		cmocka_unit_test(processes_are_sorted_and_ties_go_by_pid),
		cmocka_unit_test(who_has_less_time_than_before_has_none),
		cmocka_unit_test(the_terminal_is_filled_and_never_left),
		cmocka_unit_test(rules_leave_room_for_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
