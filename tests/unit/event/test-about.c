// SPDX-License-Identifier: BSD-2-Clause
/* What types gain when somebody asks whom their events are about, and that they gain nothing before. */

#include "base/alloc.h"
#include "event/about.h"
#include "meaning/meaning.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static const char text[] = "EVENT one { x: u32, s: string[8] }\n"
			   "FROM a:b { x = p->x, s = p->s }\n"
			   "FROM a:c { x = q->x, s = q->s }\n"
			   "EVENT own { uid: i64 }\nFROM a:b { uid = p->uid }\n"
			   "EVENT opened { fd: i32 fd, x: u32 }\n"
			   "FROM a:b { fd = p->fd, x = p->x }\n"
			   "FROM a:c { fd = q->fd, x = q->x }\n"
			   "EVENT alone { x: u32 }\n"
			   "EVENT wide { s: string[4096], t: string[4048] }\nFROM a:b { s = p->s, t = p->s }\n";

static struct event_catalog *catalog_of_text(void)
{
	struct event_catalog *catalog = event_catalog_new();

	assert_int_equal(event_catalog_parse(catalog, "t.events", text, sizeof text - 1, NULL), 0);
	return catalog;
}

static void what_is_asked_for_stands_behind_the_rest(void **state)
{
	struct event_catalog *catalog = catalog_of_text();
	const struct event_type *type = event_catalog_find(catalog, "one");
	const struct event_field *uid, *again, *ppid;

	(void)state;
	assert_int_equal(event_about_ask(catalog, type, "uid", &uid), 0);
	assert_int_equal(type->field_count, 3);
	assert_int_equal(type->own_count, 2);
	assert_ptr_equal(uid, &type->fields[2]);
	assert_int_equal(uid->offset, 64);
	assert_int_equal(type->record_bytes, 72);
	assert_ptr_equal(uid->meaning, &meaning_uid);
	for (uint32_t i = 0; i < 2; i++) {
		assert_string_equal(type->hooks[i].paths[0], i ? "q->x" : "p->x");
		assert_string_equal(type->hooks[i].paths[2], "current->cred->uid.val");
	}
	assert_int_equal(event_about_ask(catalog, type, "ppid", &ppid), 0);
	assert_int_equal(event_about_ask(catalog, type, "uid", &again), 0);
	assert_ptr_equal(again, uid);
	assert_ptr_equal(ppid, &type->fields[3]);
	event_catalog_free(catalog);
}

static void nothing_is_gained_unasked(void **state)
{
	struct event_catalog *catalog = catalog_of_text();
	const struct event_type *type = event_catalog_find(catalog, "one");
	const struct event_field *x;

	(void)state;
	assert_int_equal(event_about_reserve(catalog, type), 0);
	x = event_field_find(type, "x");
	assert_null(event_field_find(type, "uid"));
	assert_int_equal(type->field_count, 2);
	assert_int_equal(type->record_bytes, 64);
	for (size_t i = 0; i < EVENT_ABOUT_FIELDS; i++) {
		const struct event_field *field;

		assert_int_equal(event_about_ask(catalog, type, event_abouts[i].name, &field), 0);
	}
	assert_ptr_equal(event_field_find(type, "x"), x);
	event_catalog_free(catalog);
}

static void a_field_of_its_own_comes_first(void **state)
{
	struct event_catalog *catalog = catalog_of_text();
	const struct event_type *type = event_catalog_find(catalog, "own");
	const struct event_field *field;

	(void)state;
	assert_int_equal(event_about_ask(catalog, type, "uid", &field), 0);
	assert_ptr_equal(field, &type->fields[0]);
	assert_int_equal(type->field_count, 1);
	event_catalog_free(catalog);
}

static void a_descriptor_has_a_file_by_each_hook(void **state)
{
	struct event_catalog *catalog = catalog_of_text();
	const struct event_type *type = event_catalog_find(catalog, "opened");
	const struct event_field *field;

	(void)state;
	assert_true(event_about_may_ask(type, "fd_path"));
	assert_false(event_about_may_ask(type, "x_path"));
	assert_int_equal(event_about_ask(catalog, type, "fd_path", &field), 0);
	assert_int_equal(field->value, EVENT_STRING);
	assert_non_null(strstr(type->hooks[0].paths[2], "(((p->fd) & 4294967295) < "));
	assert_non_null(strstr(type->hooks[1].paths[2], "(((q->fd) & 4294967295) < "));
	assert_int_equal(event_about_ask(catalog, type, "fd_peer", &field), 0);
	assert_non_null(strstr(type->hooks[1].paths[3], "socket_peer("));
	assert_int_equal(event_about_ask(catalog, type, "x_path", &field), -ENOENT);
	assert_int_equal(event_about_ask(catalog, type, "_path", &field), -ENOENT);
	event_catalog_free(catalog);
}

static void calls_with_an_address_say_what_it_holds(void **state)
{
	struct event_catalog *catalog = event_catalog_new();
	const struct event_field *field;

	(void)state;
	assert_int_equal(event_catalog_read(catalog, NULL, "linux.events", NULL), 0);
	const struct event_type *connect = event_catalog_find(catalog, "sys_enter_connect");
	const struct event_type *send = event_catalog_find(catalog, "sys_enter_sendto");

	assert_int_equal(event_about_ask(catalog, connect, "port", &field), 0);
	assert_ptr_equal(field->meaning, meaning_find("port"));
	assert_int_equal(event_about_ask(catalog, send, "addr", &field), 0);
	assert_true(field - send->fields < send->own_count); /* the argument */
	assert_int_equal(event_about_ask(catalog, send, "to_addr", &field), 0);
	assert_ptr_equal(field->meaning, meaning_find("ip"));
	assert_int_equal(field->value, EVENT_STRING);
	assert_false(event_about_may_ask(event_catalog_find(catalog, "sys_enter_close"), "port"));
	event_catalog_free(catalog);
}

static void what_cannot_be_had_is_refused(void **state)
{
	static const struct {
		const char *type, *field;
		int error;
	} rows[] = {
		{ "alone", "uid", -EOPNOTSUPP },
		{ "one", "nobody", -ENOENT },
		{ "wide", "uid", -E2BIG },
	};
	struct event_catalog *catalog = catalog_of_text();

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct event_type *type = event_catalog_find(catalog, rows[i].type);
		const struct event_field *field;

		assert_int_equal(event_about_ask(catalog, type, rows[i].field, &field), rows[i].error);
		assert_null(field);
		assert_int_equal(type->field_count, type->own_count);
	}
	event_catalog_free(catalog);
}

static void a_declaration_fits_before_and_after(void **state)
{
	struct event_catalog *catalog = catalog_of_text();
	const struct event_type *type = event_catalog_find(catalog, "one");
	const struct event_field *field;

	(void)state;
	assert_int_equal(event_about_ask(catalog, type, "gid", &field), 0);
	assert_int_equal(event_catalog_parse(catalog, "u.events", text, sizeof text - 1, NULL), 0);
	assert_true(event_about_extends(type, 2, 64));
	assert_true(event_about_extends(type, 3, 72));
	assert_false(event_about_extends(type, 2, 72));
	assert_false(event_about_extends(type, 1, 56));
	assert_false(event_about_extends(type, 4, 80));
	event_catalog_free(catalog);
}

static void lack_of_memory_leaves_the_type_as_it_was(void **state)
{
	int result = -ENOMEM;

	(void)state;
	for (unsigned long failing = 1; result == -ENOMEM; failing++) {
		struct event_catalog *catalog = catalog_of_text();
		const struct event_type *type = event_catalog_find(catalog, "one");
		const struct event_field *field;

		alloc_fail_at(failing);
		result = event_about_ask(catalog, type, "uid", &field);
		alloc_fail_at(0);
		assert_int_equal(type->field_count, result ? 2 : 3);
		event_catalog_free(catalog);
	}
	assert_int_equal(result, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_asked_for_stands_behind_the_rest),
		cmocka_unit_test(nothing_is_gained_unasked),
		cmocka_unit_test(a_field_of_its_own_comes_first),
		cmocka_unit_test(a_descriptor_has_a_file_by_each_hook),
		cmocka_unit_test(calls_with_an_address_say_what_it_holds),
		cmocka_unit_test(what_cannot_be_had_is_refused),
		cmocka_unit_test(a_declaration_fits_before_and_after),
		cmocka_unit_test(lack_of_memory_leaves_the_type_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
