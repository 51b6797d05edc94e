// SPDX-License-Identifier: BSD-2-Clause
/* Which calls a program has nothing to do with: no call that may be an event is among them. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "ebpf/source/apart.h"
#include "ebpf/source/calls.h"

#include <stdio.h>
#include <string.h>

enum { ENTRIES = 2 };

/* Arguments of both tracepoints that differ, without a kernel to ask. */
static void resolve(struct source_node *node)
{
	if (!node)
		return;
	resolve(node->left);
	resolve(node->right);
	if (node->op == SOURCE_ACCESS)
		node->argument = source_is_call(node) ? 1 : strcmp(node->name, "ret") == 0 ? 2 : 3;
}

static void parse(struct source_unit *unit, struct arena *arena, const char *const when[ENTRIES])
{
	char reason[256];

	for (; unit->entry_count < ENTRIES && when[unit->entry_count]; unit->entry_count++) {
		struct source_conditions *parsed = &unit->entries[unit->entry_count].when;

		assert_int_equal(path_parse_when(when[unit->entry_count], arena, parsed, reason, sizeof reason), 0);
		for (uint32_t i = 0; i < parsed->count; i++)
			resolve(parsed->items[i].path);
	}
}

/* The numbers of calls that are wanted, with a blank before each; "all" where none is unwanted. */
static void check(const char *tracepoint, const char *const when[ENTRIES], const char *numbers)
{
	struct arena *arena = arena_new();
	struct source_entry entries[ENTRIES] = { 0 };
	struct source_unit unit = { .tracepoint = tracepoint, .entries = entries };
	struct source_calls calls;
	uint8_t wanted[SOURCE_CALLS];
	char got[4096] = "";
	size_t length = 0;

	parse(&unit, arena, when);
	calls = source_calls_find(&unit, wanted);
	if (!calls.number)
		snprintf(got, sizeof got, "all");
	for (uint32_t call = 0; call < SOURCE_CALLS && strcmp(got, "all") != 0; call++) {
		if (wanted[call])
			length += (size_t)snprintf(got + length, sizeof got - length, " %u", call);
		/* Kinds of results that are not asked for do not count. */
		if (wanted[call] && wanted[call] != SOURCE_RESULT_ANY && calls.result)
			length += (size_t)snprintf(got + length, sizeof got - length, ":%x", wanted[call]);
	}
	arena_free(arena);
	assert_string_equal(got, numbers);
}

#define ENTER(numbers, ...) check("raw_syscalls:sys_enter", (const char *[ENTRIES]){ __VA_ARGS__ }, numbers)
#define EXIT(numbers, ...)  check("raw_syscalls:sys_exit", (const char *[ENTRIES]){ __VA_ARGS__ }, numbers)

static void knows_what_is_wanted(void **state)
{
	(void)state;
	ENTER(" 3", "id == 3");
	ENTER(" 3 257", "id == 257", "flags & 2 == 0 AND id == 3");
	ENTER(" 425 426", "id >= 425 AND id <= 426");
	EXIT(" 22:4 53:4", "ret == 0 AND ((regs->orig_ax == 22) | (regs->orig_ax == 53)) == 1");
	EXIT(" 2 43 64", "((((regs->orig_ax >> 6) == 0) * 0x80000000004) | ((regs->orig_ax >> 6) == 1)) >> "
			 "(regs->orig_ax & 63) & 1 == 1");
	EXIT(" 7", "((regs->orig_ax == 7) & ret) != 0");
	EXIT(" 7", "ret * (regs->orig_ax == 7) != 0");
	ENTER("", "id == 1000");
}

/* 1: EBADF, 2: other errors, 4: zero, 8: more. */
static void knows_which_results_are_wanted(void **state)
{
	(void)state;
	EXIT(" 3:1", "ret == -9 AND regs->orig_ax == 3");
	EXIT(" 3:c", "ret >= 0 AND regs->orig_ax == 3");
	EXIT(" 3:8", "ret > 0 AND regs->orig_ax == 3");
	EXIT(" 3:8", "ret >= 1 AND regs->orig_ax == 3");
	EXIT(" 3:3", "ret < 0 AND regs->orig_ax == 3");
	EXIT(" 3:7", "ret <= 0 AND regs->orig_ax == 3");
	EXIT(" 3:e", "ret != -9 AND regs->orig_ax == 3");
	EXIT(" 3:2", "ret == -11 AND regs->orig_ax == 3");
	EXIT(" 3:2", "ret < -9 AND regs->orig_ax == 3");
	EXIT(" 3:b", "ret != 0 AND regs->orig_ax == 3");
	EXIT(" 3", "ret != 5 AND regs->orig_ax == 3");
	EXIT(" 3:d", "ret >= 0 AND regs->orig_ax == 3", "ret == -9 AND regs->orig_ax == 3");
	EXIT(" 3:3 4", "ret < 0 AND regs->orig_ax == 3", "regs->orig_ax == 4");
	EXIT(" 3", "ret & 0xff == 0 AND regs->orig_ax == 3");
}

static void leaves_what_is_not_known(void **state)
{
	(void)state;
	ENTER("all", "id == 3", "flags == 1");
	ENTER("all", "((id == 3) | flags) != 0");
	ENTER("all", "((id == 3) & flags) == 0");
	ENTER("all", "id < 1000");
	EXIT("all", "ret == 0");
	check("sched:sched_switch", (const char *[ENTRIES]){ "id == 3" }, "all");
}

/* It may be that the event is unread, and this is to be told. */
static void leaves_what_the_user_may_hide(void **state)
{
	(void)state;
	ENTER("all", "((id == 3) * user_word(arg)) != 0");
	ENTER(" 3", "user_word(arg) == 5 AND id == 3");
}

static bool are_all(const char *const when[ENTRIES])
{
	struct arena *arena = arena_new();
	struct source_entry entries[ENTRIES] = { 0 };
	struct source_unit unit = { .tracepoint = "raw_syscalls:sys_enter", .entries = entries };

	parse(&unit, arena, when);
	bool all = source_calls_are_all(&unit);

	arena_free(arena);
	return all;
}

#define ARE_ALL(...) are_all((const char *[ENTRIES]){ __VA_ARGS__ })

/* A call whose number is not in the table may be an event, or not. */
static void knows_whether_there_are_others(void **state)
{
	(void)state;
	assert_true(ARE_ALL("id == 3"));
	assert_true(ARE_ALL("id == 257", "flags & 2 == 0 AND id == 3"));
	assert_true(ARE_ALL("id >= 425 AND id <= 426"));
	assert_true(ARE_ALL("((id == 22) | (id == 53)) == 1"));
	assert_true(ARE_ALL("((id == 7) & flags) != 0"));
	assert_false(ARE_ALL("id == 3", "flags == 1"));
	assert_false(ARE_ALL("id == 512"));
	assert_false(ARE_ALL("id >= 425"));
	assert_false(ARE_ALL("id <= 425"));
	assert_false(ARE_ALL("id >= 425 AND id <= 600"));
	assert_false(ARE_ALL("id != 3"));
	assert_false(ARE_ALL("((id == 22) | flags) == 1"));
	assert_false(ARE_ALL("((id == 22) | (id == 53)) == 0"));
	assert_false(ARE_ALL("((id == 22) | (id == 600)) == 1"));
}

enum { UNITS = 2 };

/* The whys of one unit with few calls, and of one where when says, on a kernel with these features. */
static void check_whys(const char *when, const struct ebpf_features *features, const char *const whys[UNITS])
{
	const char *const texts[UNITS][ENTRIES] = { { "id == 3" }, { when } };
	struct event_type types[UNITS] = { { .name = "few" }, { .name = "other" } };
	struct source_want wants[UNITS] = { { .type = &types[0] }, { .type = &types[1] } };
	struct source_entry entries[UNITS][ENTRIES] = { { { .want = &wants[0] } }, { { .want = &wants[1] } } };
	struct source_unit units[UNITS] = { 0 };
	struct source_plan plan = { .arena = arena_new(), .units = units, .unit_count = UNITS };

	for (size_t i = 0; i < UNITS; i++) {
		units[i] = (struct source_unit){ .tracepoint = "raw_syscalls:sys_exit", .entries = entries[i] };
		parse(&units[i], plan.arena, texts[i]);
	}
	assert_int_equal(source_apart_plan(&plan, features), 0);
	for (size_t i = 0; i < UNITS; i++) {
		assert_string_equal(units[i].why, whys[i]);
		assert_int_equal(units[i].apart_count, 0);
	}
	arena_free(plan.arena);
}

#if defined(__x86_64__)
/* Whether tracefs can be asked decides nothing here. */
static void says_why_all_stay_together(void **state)
{
	static const struct ebpf_features old = { .loop = true }, now = { .loop = true, .counts_misses = true };
	static const char not_counted[] =
		"this kernel does not count misses at tracepoints of single calls (Linux 6.7 does)";

	(void)state;
	check_whys("id >= 425 AND id <= 429", &old, (const char *[UNITS]){ not_counted, not_counted });
	check_whys("id >= 425 AND id <= 429", &now,
		   (const char *[UNITS]){
			   "it stands with the other programs there, of which that of other has to: its calls are 5, "
			   "more than 4",
			   "its calls are 5, more than 4" });
	check_whys("id == 0", &now,
		   (const char *[UNITS]){ "it stands with the other programs there, of which that of other has to: "
					  "read, one of its calls, is among those that programs make most",
					  "read, one of its calls, is among those that programs make most" });
	check_whys("id >= 425", &now,
		   (const char *[UNITS]){ "it stands with the other programs there, of which that of other has to: it "
					  "is not about certain calls alone",
					  "it is not about certain calls alone" });
}
#else
static void says_why_all_stay_together(void **state)
{
	static const char other[] = "programs are attached to tracepoints of single calls on x86-64 only";

	(void)state;
	check_whys("id == 4", NULL, (const char *[UNITS]){ other, other });
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_what_is_wanted),           cmocka_unit_test(knows_which_results_are_wanted),
		cmocka_unit_test(leaves_what_is_not_known),       cmocka_unit_test(leaves_what_the_user_may_hide),
		cmocka_unit_test(knows_whether_there_are_others), cmocka_unit_test(says_why_all_stay_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
