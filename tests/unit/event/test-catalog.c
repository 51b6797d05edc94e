// SPDX-License-Identifier: BSD-2-Clause
/* The set of types: layout, copies, lookup, refusals, lack of memory. */

#include "base/alloc.h"
#include "event/catalog.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void records_are_laid_out_in_order_and_aligned(void **state)
{
	const struct event_field_spec fields[] = {
		{ .name = "a", .value = EVENT_U8 },
		{ .name = "s", .value = EVENT_STRING, .bytes = 20 },
		{ .name = "t", .value = EVENT_STRING },
		{ .name = "f", .value = EVENT_F64 },
	};
	const struct event_type_spec spec = { .name = "e", .fields = fields, .field_count = 4 };
	struct event_catalog *catalog = event_catalog_new();
	const struct event_type *type;

	(void)state;
	assert_int_equal(event_catalog_add(catalog, &spec, &type), 0);
	assert_int_equal(type->fields[0].offset, 48);
	assert_int_equal(type->fields[0].bytes, 8);
	assert_int_equal(type->fields[1].offset, 56);
	assert_int_equal(type->fields[1].bytes, 24);
	assert_int_equal(type->fields[2].offset, 80);
	assert_int_equal(type->fields[2].bytes, 256);
	assert_int_equal(type->fields[3].offset, 336);
	assert_int_equal(type->record_bytes, 344);
	event_catalog_free(catalog);
}

static void an_event_may_have_no_fields(void **state)
{
	const struct event_type_spec spec = { .name = "e" };
	struct event_catalog *catalog = event_catalog_new();
	const struct event_type *type;

	(void)state;
	assert_int_equal(event_catalog_add(catalog, &spec, &type), 0);
	assert_int_equal(type->record_bytes, 48);
	assert_int_equal(type->field_count, 0);
	event_catalog_free(catalog);
}

static void all_texts_are_copied(void **state)
{
	char name[] = "e", field[] = "x", unit[] = "ns", doc[] = "about x", about[] = "about e";
	char tracepoint[] = "a:b", when[] = "id == 1", scope[] = "p->tgid", path[] = "p->x";
	const char *paths[] = { path };
	const struct event_field_spec fields[] = { { field, EVENT_I64, 0, unit, doc } };
	const struct event_hook source = { tracepoint, when, scope, paths };
	const struct event_type_spec spec = { name, fields, 1, EVENT_CATALOG, about, &source, 1 };
	struct event_catalog *catalog = event_catalog_new();
	const struct event_type *type;

	(void)state;
	assert_int_equal(event_catalog_add(catalog, &spec, &type), 0);
	name[0] = field[0] = unit[0] = doc[0] = about[0] = tracepoint[0] = when[0] = scope[0] = path[0] = '!';
	paths[0] = NULL;
	assert_string_equal(type->name, "e");
	assert_string_equal(type->doc, "about e");
	assert_string_equal(type->fields[0].name, "x");
	assert_string_equal(type->fields[0].unit, "ns");
	assert_string_equal(type->fields[0].doc, "about x");
	assert_int_equal(type->origin, EVENT_CATALOG);
	assert_string_equal(type->hooks[0].tracepoint, "a:b");
	assert_string_equal(type->hooks[0].when, "id == 1");
	assert_string_equal(type->hooks[0].scope, "p->tgid");
	assert_string_equal(type->hooks[0].paths[0], "p->x");
	event_catalog_free(catalog);
}

static void a_second_type_of_a_name_must_be_the_same(void **state)
{
	struct event_field_spec fields[] = { { .name = "x", .value = EVENT_STRING, .bytes = 9 } };
	struct event_type_spec spec = { .name = "e", .fields = fields, .field_count = 1 };
	struct event_catalog *catalog = event_catalog_new();
	const struct event_type *first, *second = NULL;

	(void)state;
	assert_int_equal(event_catalog_add(catalog, &spec, &first), 0);
	fields[0].bytes = 16; /* 9 was rounded up to this */
	assert_int_equal(event_catalog_add(catalog, &spec, &second), 0);
	assert_ptr_equal(first, second);
	second = NULL;
	fields[0].bytes = 17;
	assert_int_equal(event_catalog_add(catalog, &spec, &second), -EEXIST);
	fields[0] = (struct event_field_spec){ .name = "x", .value = EVENT_U64 };
	assert_int_equal(event_catalog_add(catalog, &spec, &second), -EEXIST);
	fields[0] = (struct event_field_spec){ .name = "y", .value = EVENT_STRING, .bytes = 16 };
	assert_int_equal(event_catalog_add(catalog, &spec, &second), -EEXIST);
	spec.field_count = 0;
	assert_int_equal(event_catalog_add(catalog, &spec, &second), -EEXIST);
	assert_null(second);
	assert_null(event_catalog_get(catalog, 1));
	event_catalog_free(catalog);
}

static void what_is_too_large_is_refused(void **state)
{
	struct event_field_spec fields[EVENT_FIELDS_MAX + 1];
	char names[EVENT_FIELDS_MAX + 1][8];
	struct event_type_spec spec = { .name = "e", .fields = fields, .field_count = EVENT_FIELDS_MAX + 1 };
	struct event_catalog *catalog = event_catalog_new();
	const struct event_type *type = NULL;

	(void)state;
	for (size_t i = 0; i <= EVENT_FIELDS_MAX; i++) {
		snprintf(names[i], sizeof names[i], "f%zu", i);
		fields[i] = (struct event_field_spec){ .name = names[i], .value = EVENT_U64 };
	}
	assert_int_equal(event_catalog_add(catalog, &spec, &type), -E2BIG);
	spec.field_count = 1;
	fields[0] = (struct event_field_spec){ "f0", EVENT_STRING, EVENT_RECORD_BYTES_MAX - 47, NULL, NULL };
	assert_int_equal(event_catalog_add(catalog, &spec, &type), -E2BIG);
	fields[0].bytes = UINT32_MAX;
	assert_int_equal(event_catalog_add(catalog, &spec, &type), -E2BIG);
	assert_null(type);
	assert_null(event_catalog_get(catalog, 0));
	fields[0].bytes = EVENT_RECORD_BYTES_MAX - 48;
	assert_int_equal(event_catalog_add(catalog, &spec, &type), 0);
	assert_int_equal(type->record_bytes, EVENT_RECORD_BYTES_MAX);
	event_catalog_free(catalog);
}

static void two_fields_of_one_name_are_refused(void **state)
{
	const struct event_field_spec fields[] = { { .name = "x", .value = EVENT_U8 },
						   { .name = "x", .value = EVENT_U8 } };
	const struct event_type_spec spec = { .name = "e", .fields = fields, .field_count = 2 };
	struct event_catalog *catalog = event_catalog_new();
	const struct event_type *type;

	(void)state;
	assert_int_equal(event_catalog_add(catalog, &spec, &type), -EINVAL);
	event_catalog_free(catalog);
}

static void thousands_of_types_are_found_and_kept_in_order(void **state)
{
	enum { COUNT = 3000 };
	const struct event_type *types[COUNT];
	struct event_catalog *catalog = event_catalog_new();
	char name[16];

	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		struct event_type_spec spec = { .name = name };

		snprintf(name, sizeof name, "no_such_%zu", i);
		assert_int_equal(event_catalog_add(catalog, &spec, &types[i]), 0);
	}
	for (size_t i = 0; i < COUNT; i++) {
		snprintf(name, sizeof name, "no_such_%zu", i);
		assert_ptr_equal(event_catalog_find(catalog, name), types[i]);
		assert_ptr_equal(event_catalog_get(catalog, i), types[i]);
	}
	assert_null(event_catalog_get(catalog, COUNT));
	assert_null(event_catalog_find(catalog, "no_such_3000"));
	assert_null(event_catalog_find(catalog, ""));
	event_catalog_free(catalog);
}

static void the_nearest_name_is_offered(void **state)
{
	const struct event_type_spec first = { .name = "sched_switch" }, second = { .name = "sched_waking" };
	struct event_catalog *catalog = event_catalog_new();
	const struct event_type *type;

	(void)state;
	assert_null(event_catalog_nearest(catalog, "sched_swich"));
	assert_int_equal(event_catalog_add(catalog, &first, &type), 0);
	assert_int_equal(event_catalog_add(catalog, &second, &type), 0);
	assert_string_equal(event_catalog_nearest(catalog, "sched_swich"), "sched_switch");
	assert_string_equal(event_catalog_nearest(catalog, "sched_wakng"), "sched_waking");
	assert_null(event_catalog_nearest(catalog, "completely_different"));
	event_catalog_free(catalog);
}

/* Whichever allocation fails: -ENOMEM or success, and a set that still works. */
static void lack_of_memory_leaves_the_set_intact(void **state)
{
	const char *paths[] = { "p->x" };
	const struct event_field_spec fields[] = { { "x", EVENT_I64, 0, "ns", "doc" } };
	const struct event_hook source = { "a:b", "id == 1", "p->tgid", paths };
	const struct event_type_spec spec = { "no_such_e", fields, 1, EVENT_CATALOG, "doc", &source, 1 };
	bool failed = true;

	(void)state;
	for (unsigned long n = 1; failed; n++) {
		struct event_catalog *catalog;
		const struct event_type *type = NULL;
		int result = -ENOMEM;

		alloc_fail_at(n);
		catalog = event_catalog_new();
		if (catalog)
			result = event_catalog_add(catalog, &spec, &type);
		alloc_fail_at(0);
		failed = result != 0;
		assert_true(result == 0 || result == -ENOMEM);
		assert_int_equal(type != NULL, result == 0);
		if (catalog && failed)
			assert_int_equal(event_catalog_add(catalog, &spec, &type), 0);
		if (catalog)
			assert_ptr_equal(event_catalog_find(catalog, "no_such_e"), type);
		event_catalog_free(catalog);
		assert_true(n < 100);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_laid_out_in_order_and_aligned),
		cmocka_unit_test(an_event_may_have_no_fields),
		cmocka_unit_test(all_texts_are_copied),
		cmocka_unit_test(a_second_type_of_a_name_must_be_the_same),
		cmocka_unit_test(what_is_too_large_is_refused),
		cmocka_unit_test(two_fields_of_one_name_are_refused),
		cmocka_unit_test(thousands_of_types_are_found_and_kept_in_order),
		cmocka_unit_test(the_nearest_name_is_offered),
		cmocka_unit_test(lack_of_memory_leaves_the_set_intact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
