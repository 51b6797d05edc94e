// SPDX-License-Identifier: BSD-2-Clause
/* What follows from recorded events, and what does not. */

#include "recorded.h"

#include "base/alloc.h"
#include "base/text.h"
#include "session/derive/derive.h"
#include "session/load/rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RAW "sys_enter sys_exit"

/* What a test wants: these types, all fields but those called leave_out. */
struct wish {
	const char *types, *leave_out;
};

static bool is_among(const char *names, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = names; (at = strstr(at, name)); at += length) {
		if ((at == names || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
			return true;
	}
	return false;
}

static bool wants(void *context, const struct event_type *type)
{
	return is_among(((struct wish *)context)->types, type->name);
}

static bool wants_field(void *context, const struct event_type *type, uint32_t field)
{
	const struct wish *wish = context;

	return !wish->leave_out || strcmp(type->fields[field].name, wish->leave_out) != 0;
}

static int set_up(void **state)
{
	struct event_catalog *catalog = NULL;

	if (session_catalog_new(NULL, &catalog) || event_catalog_read(catalog, NULL, "completed.events", NULL))
		return -1;
	*state = catalog;
	return 0;
}

static int tear_down(void **state)
{
	event_catalog_free(*state);
	return 0;
}

static void put_event(struct text_buffer *text, const struct event *event, const struct wish *wish)
{
	text_printf(text, "%s@%llu#%llu/%u", event->type->name, (unsigned long long)event->record->ts,
		    (unsigned long long)event->record->seq, event->record->tid);
	for (uint32_t i = 0; i < event->type->field_count; i++) {
		const struct event_field *field = &event->type->fields[i];
		int64_t word;

		if (field->value == EVENT_STRING || !wants_field((void *)wish, event->type, i))
			continue;
		memcpy(&word, (const char *)event->record + field->offset, sizeof word);
		text_printf(text, " %s=%lld", field->name, (long long)word);
	}
	text_append(text, "\n");
}

/* The events of the wanted types that a reader gets, a line each, and how many are lost. */
static void assert_given(struct recorded *recorded, struct wish wish, const char *expected)
{
	const struct event_want want = { .wants = wants, .names = wants, .wants_field = wants_field, .context = &wish };
	struct event_source *source = NULL;
	struct text_buffer text = { 0 };
	struct event event;
	char *given;

	assert_int_equal(derive_new(&recorded->source, recorded->catalog, NULL, &source), 0);
	event_source_want(source, &want);
	while (event_source_next(source, &event) > 0) {
		if (wants(&wish, event.type))
			put_event(&text, &event, &wish);
		memset((char *)event.record + 48, 0xff, event.type->record_bytes - 48); /* it is the reader's */
	}
	text_printf(&text, "lost %llu\n", (unsigned long long)source->lost);
	assert_int_equal(text_take(&text, &given), 0);
	assert_string_equal(given, expected);
	alloc_free(given);
	event_source_free(source);
}

static bool holds(struct event_catalog *catalog, const char *held, const char *type, const char *field)
{
	const struct event_type *found = event_catalog_find(catalog, type);
	uint32_t index = EVENT_NO_FIELD;
	struct recorded recorded;
	struct event_source *source;
	bool result;

	assert_non_null(found);
	for (uint32_t i = 0; field && i < found->field_count; i++) {
		if (!strcmp(found->fields[i].name, field))
			index = i;
	}
	assert_true(!field || index != EVENT_NO_FIELD);
	recorded_init(&recorded, catalog, held);
	assert_int_equal(derive_new(&recorded.source, catalog, NULL, &source), 0);
	result = event_source_holds(source, found, index);
	event_source_free(source);
	return result;
}

static void what_follows_from_what(void **state)
{
	static const struct {
		const char *held, *type, *field;
		bool follows;
	} rows[] = {
		{ RAW, "sys_enter", NULL, true },
		{ RAW, "sys_enter_openat", NULL, true },
		{ RAW, "sys_enter_openat", "flags", true },
		{ RAW, "sys_enter_openat", "filename", false }, /* the bytes are not there */
		{ "sys_enter_openat", "sys_enter_openat", "filename", true },
		{ "sys_enter_openat:flags", "sys_enter_openat", "filename", false },
		{ "sys_enter:id", "sys_enter_openat", NULL, true },
		{ "sys_enter:id", "sys_enter_openat", "flags", false },
		{ "sys_enter:id+arg2", "sys_enter_openat", "flags", true },
		{ "sys_enter:arg2", "sys_enter_openat", NULL, false }, /* which call it is nobody knows */
		{ "sys_enter", "sys_exit_openat", NULL, false },
		{ "sys_exit", "sys_exit_openat", "ret", true },
		{ "sys_exit:id", "sys_exit_openat", "ret", false },
		{ RAW, "futex_wait", "uaddr", true },
		{ RAW, "futex_wait_end", "uaddr", true },
		{ "sys_exit", "futex_wait_end", "uaddr", false }, /* the argument is that of the beginning */
		{ RAW, "descriptor_closed", "fd", true },
		{ "sys_exit", "descriptor_closed", "ret", true },
		{ "sys_exit", "descriptor_closed", "fd", false },
		{ RAW, "descriptor_made", "call", true },
		{ RAW, "descriptor_made", "fd", false },    /* pipe writes its two into memory */
		{ RAW, "descriptor_refused", "fd", false }, /* the kernel knows what is open */
		{ RAW, "file_read", "bytes", false },       /* ... and which file */
		{ RAW, "credentials_changed", "call", true },
		{ RAW, "credentials_changed", "uid", false },
		{ "sched_switch", "sched_leave", NULL, false }, /* a switch may be there for who comes */
		{ "sys_enter_read sys_exit", "descriptor_closed", "fd", false },
		{ "sys_enter_openat", "sys_enter_open", NULL, false },
		{ "sys_enter_openat", "sys_enter", NULL, false },
		{ "sched_process_exit", "process_exit", NULL, false },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (holds(*state, rows[i].held, rows[i].type, rows[i].field) != rows[i].follows)
			fail_msg("%s.%s over %s", rows[i].type, rows[i].field ? rows[i].field : "", rows[i].held);
	}
}

static void enter(struct recorded *recorded, uint32_t tid, uint64_t id, uint64_t arg0, uint64_t arg1)
{
	recorded_add(recorded, "sys_enter", tid, (const uint64_t[]){ id, arg0, arg1, 0, 0, 0, 0 });
}

static void leave(struct recorded *recorded, uint32_t tid, uint64_t id, uint64_t ret)
{
	recorded_add(recorded, "sys_exit", tid, (const uint64_t[]){ id, ret });
}

static void calls_by_name(void **state)
{
	struct recorded recorded;

	recorded_init(&recorded, *state, RAW);
	enter(&recorded, 8, 257, 0xffffff9c, 4096);
	leave(&recorded, 8, 257, (uint64_t)-2);
	enter(&recorded, 8, 39, 0, 0);
	assert_given(&recorded, (struct wish){ "sys_enter_openat sys_exit_openat sys_enter", "filename" },
		     "sys_enter@10#1/8 id=257 arg0=4294967196 arg1=4096 arg2=0 arg3=0 arg4=0 arg5=0\n"
		     "sys_enter_openat@10#2/8 dfd=-100 flags=0 mode=0\n"
		     "sys_exit_openat@20#4/8 ret=-2\n"
		     "sys_enter@30#5/8 id=39 arg0=0 arg1=0 arg2=0 arg3=0 arg4=0 arg5=0\n"
		     "lost 0\n");
}

static void an_end_has_the_arguments_of_its_beginning(void **state)
{
	struct recorded recorded;

	recorded_init(&recorded, *state, RAW);
	enter(&recorded, 8, 3, 5, 0);
	enter(&recorded, 9, 8, 6, 0);
	leave(&recorded, 8, 3, 0);
	leave(&recorded, 9, 8, 700);
	enter(&recorded, 8, 0, 11, 0);
	leave(&recorded, 8, 0, 100);
	assert_given(&recorded, (struct wish){ "descriptor_closed descriptor_moved data_read", NULL },
		     "descriptor_closed@30#4/8 fd=5 ret=0\n"
		     "descriptor_moved@40#6/9 fd=6 offset=700\n"
		     "data_read@60#9/8 fd=11 bytes=100 offset=-1\n"
		     "lost 0\n");
}

/* Only where it matters: read's end is none of descriptor_closed's business. */
static void a_beginning_that_is_missing_is_a_loss(void **state)
{
	struct recorded recorded;

	recorded_init(&recorded, *state, RAW);
	leave(&recorded, 8, 0, 5);
	leave(&recorded, 9, 3, 0);
	enter(&recorded, 9, 3, 4, 0);
	leave(&recorded, 9, 3, 0);
	leave(&recorded, 9, 3, 0); /* a beginning has one end */
	enter(&recorded, 9, 3, 4, 0);
	leave(&recorded, 9, 3, 0);
	enter(&recorded, 9, 1, 4, 0);
	leave(&recorded, 9, 3, 0); /* another call's */
	assert_given(&recorded, (struct wish){ "descriptor_closed", NULL },
		     "descriptor_closed@40#5/9 fd=4 ret=0\n"
		     "descriptor_closed@70#9/9 fd=4 ret=0\n"
		     "lost 3\n");
}

static void after_a_loss_beginnings_are_not_known(void **state)
{
	struct recorded recorded;

	recorded_init(&recorded, *state, RAW);
	enter(&recorded, 9, 3, 4, 0);
	leave(&recorded, 9, 3, 0);
	recorded.events[1].lost_before = 2;
	enter(&recorded, 9, 3, 5, 0);
	leave(&recorded, 9, 3, 0);
	assert_given(&recorded, (struct wish){ "descriptor_closed", NULL },
		     "descriptor_closed@40#5/9 fd=5 ret=0\nlost 3\n");
}

/* fd is a product: what is not chosen need not be known. The registers of a new program are not those of execve. */
static void arguments_that_are_not_needed(void **state)
{
	struct recorded recorded;

	recorded_init(&recorded, *state, RAW);
	leave(&recorded, 8, 257, 7);
	enter(&recorded, 8, 59, 1, 0);
	leave(&recorded, 8, 59, 0);
	assert_given(&recorded, (struct wish){ "sys_exit_execve", NULL }, "sys_exit_execve@30#4/8 ret=0\nlost 0\n");
}

static void nothing_that_was_not_asked_for(void **state)
{
	struct recorded recorded;

	recorded_init(&recorded, *state, RAW);
	enter(&recorded, 8, 257, 0, 0);
	leave(&recorded, 8, 257, 3);
	assert_given(&recorded, (struct wish){ "sys_exit", NULL }, "sys_exit@20#2/8 id=257 ret=3\nlost 0\n");
	recorded_init(&recorded, *state, RAW);
	enter(&recorded, 8, 257, 0, 0);
	assert_given(&recorded, (struct wish){ "sys_enter_openat", NULL }, "lost 0\n");
}

static void many_threads(void **state)
{
	struct recorded recorded;
	struct wish wish = { "descriptor_closed", NULL };
	const struct event_want want = { wants, wants, wants_field, &wish, false };
	struct event_source *source;
	struct event event;
	unsigned given = 0;

	recorded_init(&recorded, *state, RAW);
	enter(&recorded, 1, 3, 4, 0);
	leave(&recorded, 1, 3, 0);
	assert_int_equal(derive_new(&recorded.source, *state, NULL, &source), 0);
	event_source_want(source, &want);
	for (unsigned round = 0; round < 5000; round++) {
		recorded.next = 0;
		recorded.events[0].record.header.tid = recorded.events[1].record.header.tid = round * 7 + 1;
		recorded.events[0].record.header.type = 0;
		recorded.events[1].record.header.type = 1;
		while (event_source_next(source, &event) > 0)
			given += wants(&wish, event.type);
	}
	assert_int_equal(given, 5000);
	event_source_free(source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_follows_from_what, set_up, tear_down),
		cmocka_unit_test_setup_teardown(calls_by_name, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_end_has_the_arguments_of_its_beginning, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_beginning_that_is_missing_is_a_loss, set_up, tear_down),
		cmocka_unit_test_setup_teardown(after_a_loss_beginnings_are_not_known, set_up, tear_down),
		cmocka_unit_test_setup_teardown(arguments_that_are_not_needed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nothing_that_was_not_asked_for, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many_threads, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
