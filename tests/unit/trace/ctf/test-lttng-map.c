// SPDX-License-Identifier: BSD-2-Clause
/* The map of LTTng's names: its notation, both directions, and whether what it says of the catalog is true. */

#include "base/alloc.h"
#include "event/catalog.h"
#include "trace/ctf/lttng-map.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static int parse(const char *text, struct asterism_diag *diag, struct lttng_map **map)
{
	return lttng_map_parse("test.map", text, strlen(text), diag, map);
}

static void translates_both_ways(void **state)
{
	static const char text[] = "# a comment\n"
				   "CONTEXT pid = vpid, pid\nCONTEXT comm = procname\n"
				   "EVENT a = b { x, y = z, - = w, }\n"
				   "EVENT enter_*_now = in_* { ... }\n"
				   "EVENT any = in_* { id = *, first = 0 }\n"
				   "EVENT - = dump { - = tid }\n";
	struct lttng_map *map;
	char name[32];

	(void)state;
	assert_int_equal(parse(text, NULL, &map), 0);
	const struct lttng_event *event = lttng_map_find(map, "b", name, sizeof name);
	assert_non_null(event);
	assert_string_equal(name, "a");
	assert_int_equal(event->field_count, 3);
	assert_false(event->and_others);
	assert_string_equal(event->fields[0].name, "x");
	assert_string_equal(event->fields[1].field, "y");
	assert_string_equal(event->fields[1].name, "z");
	assert_null(event->fields[2].field);
	assert_string_equal(event->fields[2].name, "w");
	assert_ptr_equal(lttng_map_find_type(map, "a", name, sizeof name), event);
	assert_string_equal(name, "b");

	event = lttng_map_find(map, "in_open", name, sizeof name);
	assert_true(event && event->and_others);
	assert_string_equal(name, "enter_open_now");
	assert_ptr_equal(lttng_map_find_type(map, "enter_open_now", name, sizeof name), event);
	assert_string_equal(name, "in_open");
	assert_null(lttng_map_find_type(map, "enter__now", name, sizeof name));
	assert_null(lttng_map_find(map, "in_", name, sizeof name));
	assert_null(lttng_map_find(map, "", name, sizeof name));

	event = lttng_map_find_any(map, "in_open");
	assert_non_null(event);
	assert_string_equal(event->type, "any");
	assert_string_equal(event->fields[0].name, "*");
	assert_ptr_equal(lttng_map_find_type(map, "any", name, sizeof name), event);
	assert_string_equal(name, "in_*");
	assert_null(lttng_map_find_any(map, "b"));

	assert_non_null(lttng_map_find(map, "dump", name, sizeof name));
	assert_string_equal(name, "");
	assert_non_null(lttng_map_get(map, 3));
	assert_null(lttng_map_get(map, 4));

	assert_string_equal(lttng_map_context(map, "pid", 0), "vpid");
	assert_string_equal(lttng_map_context(map, "pid", 1), "pid");
	assert_null(lttng_map_context(map, "pid", 2));
	assert_string_equal(lttng_map_context(map, "comm", 0), "procname");
	assert_null(lttng_map_context(map, "tid", 0));
	lttng_map_free(map);
}

static void says_what_is_wrong(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "EVENTS a", "expected EVENT, CONTEXT or PAYLOAD, not 'EVENTS'" },
		{ "EVENT a", "expected =, not ''" },
		{ "EVENT a = - { }", "expected LTTng's name before this, not '{'" },
		{ "EVENT a* = b { }", "expected a * in both names before this, not '{'" },
		{ "EVENT a = b\n{ x y }", "expected , or }, not 'y'" },
		{ "EVENT a = b { - }", "expected =, not '}'" },
		{ "EVENT a = b { x", "expected , or }, not ''" },
		{ "EVENT a = b { x,", "expected a name, not ''" },
		{ "EVENT a = b { \xff }", "expected a name, not '\xff'" },
		{ "CONTEXT - = b", "expected a header field before this, not '='" },
		{ "CONTEXT pid = ,", "expected a name, not ','" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct asterism_diag *diag = asterism_diag_new();
		struct lttng_map *map;

		assert_int_equal(parse(cases[i].text, diag, &map), -EINVAL);
		assert_int_equal(asterism_diag_count(diag, ASTERISM_ERROR), 1);
		assert_string_equal(asterism_diag_get(diag, 0)->text, cases[i].says);
		asterism_diag_free(diag);
	}
}

static void survives_lack_of_memory(void **state)
{
	int result = -ENOMEM;

	(void)state;
	for (unsigned long n = 1; result == -ENOMEM; n++) {
		struct lttng_map *map;

		alloc_fail_at(n);
		result = parse("CONTEXT pid = vpid\nEVENT a = b { x, y = z }", NULL, &map);
		alloc_fail_at(0);
		if (!result)
			lttng_map_free(map);
		assert_true(n < 100);
	}
	assert_int_equal(result, 0);
}

/* What the installed map says of the catalog exists there. */
static void fits_the_catalog(void **state)
{
	struct event_catalog *catalog = event_catalog_new();
	struct lttng_map *map;
	const struct lttng_event *event;

	(void)state;
	assert_int_equal(event_catalog_read(catalog, NULL, "linux.events", NULL), 0);
	assert_int_equal(lttng_map_read(NULL, &map), 0);
	for (size_t i = 0; (event = lttng_map_get(map, i)); i++) {
		if (!event->type || strchr(event->type, '*'))
			continue;
		const struct event_type *type = event_catalog_find(catalog, event->type);
		if (!type)
			fail_msg("the catalog has no %s", event->type);
		for (size_t j = 0; j < event->field_count; j++) {
			const char *field = event->fields[j].field;

			if (field && !event_field_find(type, field))
				fail_msg("%s has no field %s", event->type, field);
		}
	}
	char name[64];
	event = lttng_map_find_type(map, "sys_enter_read", name, sizeof name);
	assert_true(event && event->and_others);
	assert_string_equal(name, "syscall_entry_read");
	assert_non_null(lttng_map_find(map, "lttng_statedump_process_state", name, sizeof name));
	lttng_map_free(map);
	event_catalog_free(catalog);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(translates_both_ways),
		cmocka_unit_test(says_what_is_wrong),
		cmocka_unit_test(survives_lack_of_memory),
		cmocka_unit_test(fits_the_catalog),
	};

	return cmocka_run_group_tests_name("trace-lttng-map", tests, NULL, NULL);
}
