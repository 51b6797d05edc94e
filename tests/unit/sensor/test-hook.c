// SPDX-License-Identifier: BSD-2-Clause
/* The kernel's view of a sensor is that of the application: the same key, and fields where its compiler has them. */

#include "sensor/client/sensor.h"
#include "sensor/hook.h"
#include "sensor/key.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define ORDER(F)                               \
	F(u8, UNIT, "", "its \"unit\" } { : ") \
	F(u32, amount, "bytes", "")            \
	F(boolean, is_first, "", "\\")         \
	F(i16, rank, "", "") F(f64, price, "", "") F(text8, to, "", "") F(time, since, "", "") F(addr, by, "", "")
struct order {
	ORDER(ASTERISM_SENSOR_MEMBER)
};
static const char paragraph[] = ASTERISM_SENSOR_PARAGRAPH(order, "an \"order\"", ORDER);

static const struct event_type *read_type(struct event_catalog *catalog, const char *text)
{
	assert_int_equal(event_catalog_parse(catalog, "test", text, strlen(text), NULL), 0);
	return event_catalog_get(catalog, 0);
}

/* As the hook wants it. fields: room for EVENT_FIELDS_MAX. */
static struct event_type_spec spec_of(const struct event_type *type, struct event_field_spec *fields)
{
	for (uint32_t i = 0; i < type->own_count; i++)
		fields[i] = (struct event_field_spec){ .name = type->fields[i].name,
						       .value = type->fields[i].value,
						       .bytes = type->fields[i].bytes };
	return (struct event_type_spec){ .name = type->name, .fields = fields, .field_count = type->own_count };
}

static uint64_t key_of(const char *text)
{
	struct event_field_spec fields[EVENT_FIELDS_MAX];
	struct event_catalog *catalog = event_catalog_new();
	const struct event_type_spec spec = spec_of(read_type(catalog, text), fields);
	uint64_t key = sensor_hook_key(&spec);

	event_catalog_free(catalog);
	return key;
}

static void the_same_key_from_text_and_type(void **state)
{
	(void)state;
	assert_int_equal(sensor_key(paragraph), key_of(paragraph));
	assert_int_equal(sensor_key("EVENT a \"\" {}\n"), key_of("EVENT a"
								 " {}"));
}

static void what_says_nothing_of_the_fields_does_not_count(void **state)
{
	(void)state;
	assert_int_equal(key_of("EVENT a { b: u8 \"one\", c: string[9] }"),
			 key_of("EVENT a \"x\" { b: u8 bytes, c: string[16] \"two\" }"));
	assert_int_not_equal(key_of("EVENT a { b: u8 }"), key_of("EVENT a { b: i8 }"));
	assert_int_not_equal(key_of("EVENT a { b: u8 }"), key_of("EVENT a { c: u8 }"));
	assert_int_not_equal(key_of("EVENT a { b: u8 }"), key_of("EVENT c { b: u8 }"));
	assert_int_not_equal(key_of("EVENT a { b: string[8] }"), key_of("EVENT a { b: string[16] }"));
}

static void fields_lie_where_the_compiler_has_them(void **state)
{
	struct event_field_spec fields[EVENT_FIELDS_MAX];
	struct event_catalog *catalog = event_catalog_new();
	struct arena *arena = arena_new();
	const struct event_type_spec spec = spec_of(read_type(catalog, paragraph), fields);
	const struct {
		const char *read;
		size_t offset, bytes;
	} expected[] = {
#define PLACE(read, name) { read, offsetof(struct order, name), sizeof(((struct order *)0)->name) }
		PLACE("user_uint", UNIT), PLACE("user_uint", amount), PLACE("user_uint", is_first),
		PLACE("user_int", rank),  PLACE("user_uint", price),  PLACE("user_chars", to),
		PLACE("user_int", since), PLACE("user_uint", by),
	};
	struct event_hook hook;

	(void)state;
	assert_int_equal(sensor_hook(arena, &spec, &hook), 0);
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		char path[64];

		snprintf(path, sizeof path, "%s(syscall_arg(4) + %zu, %zu)", expected[i].read, expected[i].offset,
			 expected[i].bytes);
		assert_string_equal(hook.paths[i], path);
	}
	arena_free(arena);
	event_catalog_free(catalog);
}

static void a_payload_beyond_its_size_is_refused(void **state)
{
	struct event_field_spec fields[EVENT_FIELDS_MAX];
	struct event_catalog *catalog = event_catalog_new();
	struct arena *arena = arena_new();
	struct event_hook hook;
	const struct event_type_spec spec = spec_of(read_type(catalog, "EVENT a { b: string[1024], c: u8 }"), fields);

	(void)state;
	assert_int_equal(sensor_hook(arena, &spec, &hook), -E2BIG);
	arena_free(arena);
	event_catalog_free(catalog);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_key_from_text_and_type),
		cmocka_unit_test(what_says_nothing_of_the_fields_does_not_count),
		cmocka_unit_test(fields_lie_where_the_compiler_has_them),
		cmocka_unit_test(a_payload_beyond_its_size_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
