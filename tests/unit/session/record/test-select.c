// SPDX-License-Identifier: BSD-2-Clause
/* Which events and fields a recording has, by what the user says; every allocation may fail. */

#include "base/alloc.h"
#include "session/load/rules.h"
#include "session/record/selection.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Sources that every kernel has, one that none has, and an event that is only declared. */
static const char catalog_text[] =
	"EVENT one { a: i64, b: i64, c: string[16] }\n"
	"FROM raw_syscalls:sys_enter { a = id, b = id, c = current->comm }\n"
	"EVENT once { a: i64 }\nFROM raw_syscalls:sys_exit { a = ret }\n"
	"EVENT two { x: i32 }\nFROM sched:sched_switch { x = prev->pid }\n"
	"EVENT absent { x: i32 }\nFROM nowhere:nothing { x = 1 }\n"
	"EVENT either { x: i32 }\nFROM nowhere:nothing { x = 1 }\nFROM sched:sched_switch { x = next->pid }\n"
	"EVENT bare { x: i32 }\n";

static char folder[] = "/tmp/asterism-unit-XXXXXX";
static char rule_file[64];
static struct event_catalog *catalog;
static struct asterism_diag *diag;
static struct selection selection;

static int set_up(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(rule_file, sizeof rule_file, "%s/test.rule", folder);
	assert_non_null(catalog = event_catalog_new());
	assert_non_null(diag = asterism_diag_new());
	assert_int_equal(event_catalog_parse(catalog, "test.events", catalog_text, strlen(catalog_text), diag), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(rule_file);
	rmdir(folder);
	event_catalog_free(catalog);
	asterism_diag_free(diag);
	return 0;
}

static int forget(void **state)
{
	(void)state;
	selection_fini(&selection);
	asterism_diag_clear(diag);
	return 0;
}

/* The selection as text: "one:a+b two:x". */
static const char *selected(void)
{
	static char text[512];
	size_t length = 0;

	text[0] = 0;
	for (size_t i = 0; i < selection.count; i++) {
		const struct selected_event *event = &selection.events[i];
		const char *separator = ":";

		length += (size_t)snprintf(text + length, sizeof text - length, i ? " %s" : "%s", event->type->name);
		for (uint32_t j = 0; j < event->type->field_count; j++) {
			if (!event->recorded[j])
				continue;
			length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", separator,
						   event->type->fields[j].name);
			separator = "+";
		}
	}
	return text;
}

static void accept(const char *text, const char *expected)
{
	asterism_diag_clear(diag);
	selection_fini(&selection);
	assert_int_equal(selection_add(&selection, catalog, text, diag), 0);
	assert_string_equal(selected(), expected);
}

static void refuse(const char *text, const char *message, const char *hint)
{
	asterism_diag_clear(diag);
	selection_fini(&selection);
	assert_int_equal(selection_add(&selection, catalog, text, diag), -EINVAL);
	assert_int_equal(asterism_diag_count(diag, ASTERISM_ERROR), 1);
	const struct asterism_message *said = asterism_diag_get(diag, 0);

	assert_string_equal(said->text, message);
	if (hint)
		assert_string_equal(said->hint, hint);
	else
		assert_null(said->hint);
}

static void names_and_fields(void **state)
{
	(void)state;
	accept("one", "one:a+b+c");
	accept("two,one", "two:x one:a+b+c");
	accept("one:b", "one:b");
	accept("one:c+a", "one:a+c");
	accept("one:c+a,two:x", "one:a+c two:x");
}

static void what_is_named_twice_gains_fields(void **state)
{
	(void)state;
	accept("one:a,one:b", "one:a+b");
	accept("one:a,two,one", "one:a+b+c two:x");
	accept("one,one:a", "one:a+b+c");
	assert_int_equal(selection_add(&selection, catalog, "two:x", diag), 0);
	assert_string_equal(selected(), "one:a+b+c two:x");
}

static void what_is_left_out(void **state)
{
	(void)state;
	accept("one,two,!one", "two:x");
	accept("on*,two,!on*", "two:x");
	accept("one,!on*,two,once", "two:x once:a");
	accept("one,!one,one:a", "one:a");
	refuse("!one", "'!one' excludes nothing that would be recorded", NULL);
	refuse("two,!on*", "'!on*' excludes nothing that would be recorded", NULL);
	refuse("one,!one:a", "write events as EVENT, EVENT:FIELD+FIELD or !EVENT, separated by commas", NULL);
	refuse("one,!", "write events as EVENT, EVENT:FIELD+FIELD or !EVENT, separated by commas", NULL);
}

/* What this kernel lacks, what rules have declared for themselves, and what is only declared is not of the usual. */
static void usual(void **state)
{
	(void)state;
	selection_fini(&selection);
	assert_int_equal(selection_add_usual(&selection, catalog, "two,absent,bare,nothing,one", diag), 0);
	if (access("/sys/kernel/btf/vmlinux", R_OK) == 0)
		assert_string_equal(selected(), "two:x one:a+b+c");
	assert_int_equal(asterism_diag_count(diag, ASTERISM_NOTE), 0);
}

/* Not what is only declared; one source is enough. */
static void patterns(void **state)
{
	(void)state;
	accept("on*", "one:a+b+c once:a");
	accept("on[e]", "one:a+b+c");
	accept("?wo", "two:x");
	accept("on*:a", "one:a once:a");
	accept("*i*:x,one", "either:x one:a+b+c");
	refuse("*:x", "one has no field x", "did you mean a?");
}

static void wrong_text(void **state)
{
	static const char form[] = "write events as EVENT, EVENT:FIELD+FIELD or !EVENT, separated by commas";

	(void)state;
	refuse("onn", "unknown event 'onn'", "did you mean one?");
	refuse("entirely-different", "unknown event 'entirely-different'", NULL);
	refuse("one,twoo", "unknown event 'twoo'", "did you mean two?");
	refuse("bare", "the kernel does not raise bare", NULL);
	refuse("once:aa", "once has no field aa", "did you mean a?");
	refuse("on*:b", "once has no field b", "did you mean a?");
	refuse("z*", "no event matches 'z*'", NULL);
	refuse("bar*", "no event matches 'bar*'", NULL);
	if (access("/sys/kernel/btf/vmlinux", R_OK) == 0)
		refuse("abs*", "this kernel does not raise any of the events that match 'abs*'", NULL);
	refuse("one:a+", form, NULL);
	refuse("one:+a", form, NULL);
	refuse("one:a:b", "one has no field a:b", "did you mean a?");
	refuse("", form, NULL);
	refuse("one,", form, NULL);
	refuse(",one", form, NULL);
	refuse("one:", form, NULL);
	refuse("one:,two", form, NULL);
	refuse(":a", form, NULL);
}

static void long_names(void **state)
{
	char text[1024];

	(void)state;
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = 0;
	refuse(text, "write events as EVENT, EVENT:FIELD+FIELD or !EVENT, separated by commas", NULL);
	memcpy(text, "one:", 4);
	asterism_diag_clear(diag);
	assert_int_equal(selection_add(&selection, catalog, text, diag), -EINVAL);
}

static void default_is_valid(void **state)
{
	struct event_catalog *linux_catalog = event_catalog_new();
	size_t count;

	(void)state;
	assert_non_null(linux_catalog);
	assert_int_equal(event_catalog_read(linux_catalog, NULL, "linux.events", diag), 0);
	assert_int_equal(selection_add(&selection, linux_catalog, selection_default, diag), 0);
	count = selection.count;
	assert_in_range(count, 20, 50);
	selection_fini(&selection);
	assert_int_equal(selection_add_usual(&selection, linux_catalog, selection_default, diag), 0);
	assert_int_equal(selection.count, count);
	event_catalog_free(linux_catalog);
}

static int add_rules(void)
{
	const char *files[] = { rule_file };
	struct session_rules *rules = NULL;
	int result = session_rules_read(files, 1, diag, &rules);

	if (!result)
		result = selection_add_program(&selection, session_rules_catalog(rules), session_rules_program(rules),
					       diag);
	for (size_t i = 0; !result && i < selection.count; i++)
		assert_true(selection.events[i].recorded[0]);
	if (!result) {
		assert_int_equal(selection.count, 4); /* and how numbers of threads end, with which runs end */
		assert_string_equal(selected(), "sys_enter:id+arg0+arg1+arg2+arg3+arg4+arg5 sys_exit:id+ret "
						"sched_process_exit:prio+group_dead "
						"sched_process_exec:filename+old_pid");
	}
	selection_fini(&selection); /* its types are the rules' */
	session_rules_free(rules);
	return result;
}

static void what_rules_look_at(void **state)
{
	FILE *file = fopen(rule_file, "w");

	(void)state;
	assert_non_null(file);
	fputs("EVENT mine { x: i64 }\nRULE r PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid] }\n"
	      "RULE s PATTERN { mine:m }\n",
	      file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(add_rules(), 0);
}

static void no_memory(void **state)
{
	unsigned long n = 1;
	int result;

	(void)state;
	do {
		alloc_fail_at(n++);
		result = selection_add(&selection, catalog, "one:a,on*,two,eithe?:x", diag);
		alloc_fail_at(0);
		assert_true(result == 0 || result == -ENOMEM);
		if (!result)
			assert_string_equal(selected(), "one:a+b+c once:a two:x either:x");
		selection_fini(&selection);
		asterism_diag_clear(diag);
	} while (result);
	assert_true(n > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(names_and_fields, forget),
		cmocka_unit_test_teardown(what_is_named_twice_gains_fields, forget),
		cmocka_unit_test_teardown(patterns, forget),
		cmocka_unit_test_teardown(what_is_left_out, forget),
		cmocka_unit_test_teardown(usual, forget),
		cmocka_unit_test_teardown(wrong_text, forget),
		cmocka_unit_test_teardown(long_names, forget),
		cmocka_unit_test_teardown(default_is_valid, forget),
		cmocka_unit_test_teardown(what_rules_look_at, forget),
		cmocka_unit_test_teardown(no_memory, forget),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
