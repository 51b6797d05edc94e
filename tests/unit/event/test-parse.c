// SPDX-License-Identifier: BSD-2-Clause
/* Catalog texts: what they declare, and the place and words of every complaint. */

#include "event/catalog.h"
#include "meaning/meaning.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static int parse(struct event_catalog *catalog, const char *text, struct asterism_diag *diag)
{
	return event_catalog_parse(catalog, "t.events", text, strlen(text), diag);
}

static const char example[] = "# a comment\n"
			      "EVENT sched_switch \"the \\\"CPU\\\" changes\" { # here too\n"
			      "	prev_tid: I32 tid \"thread that leaves\",\n"
			      "	prev_comm: string[16],\n"
			      "	runtime: u64 UNIT jiffies \"doc\",\n"
			      "	path: string,\n"
			      "}\n"
			      "from sched:sched_switch SCOPE next->tgid, prev -> tgid {\n"
			      "	prev_comm = prev->comm,\n"
			      "	prev_tid = prev->pid,\n"
			      "	runtime = (preempt # why\n"
			      "		* 0x10) | ((x ? y->z[3].w) == -1),\n"
			      "	path = ustr(syscall_arg(1)),\n"
			      "}\n"
			      "FROM a:b WHEN id == 257 AND (x & 1) != -0x10 and y<3 {\n"
			      "	prev_tid = 1, prev_comm = ctxstr(8, 16), runtime = ctx(0, 8), path = ctxloc(4) }\n"
			      "EVENT opened { flags: i32 flags open \"how\", address: addr, at: time }\n"
			      "EVENT nothing {}\n"
			      "EVENT bare { x: bool } FROM c:d{x=arg0}";

static void a_catalog_is_read(void **state)
{
	struct event_catalog *catalog = event_catalog_new();
	struct asterism_diag *diag = asterism_diag_new();
	const struct event_type *type;

	(void)state;
	assert_int_equal(parse(catalog, example, diag), 0);
	assert_int_equal(asterism_diag_count(diag, ASTERISM_NOTE), 0);
	type = event_catalog_get(catalog, 0);
	assert_string_equal(type->name, "sched_switch");
	assert_string_equal(type->doc, "the \"CPU\" changes");
	assert_int_equal(type->origin, EVENT_CATALOG);
	assert_int_equal(type->field_count, 4);
	assert_int_equal(type->fields[0].value, EVENT_I32);
	assert_string_equal(type->fields[0].doc, "thread that leaves");
	assert_ptr_equal(type->fields[0].meaning, &meaning_tid);
	assert_null(type->fields[2].meaning);
	assert_int_equal(type->fields[1].bytes, 16);
	assert_string_equal(type->fields[2].unit, "jiffies");
	assert_int_equal(type->fields[3].bytes, EVENT_STRING_BYTES);
	assert_int_equal(type->hook_count, 2);
	assert_string_equal(type->hooks[0].tracepoint, "sched:sched_switch");
	assert_null(type->hooks[0].when);
	assert_string_equal(type->hooks[0].scope, "next->tgid, prev -> tgid");
	/* Paths are in the order of the fields, whatever their order in the text. */
	assert_string_equal(type->hooks[0].paths[0], "prev->pid");
	assert_string_equal(type->hooks[0].paths[1], "prev->comm");
	assert_string_equal(type->hooks[0].paths[2], "(preempt * 0x10) | ((x ? y->z[3].w) == -1)");
	assert_string_equal(type->hooks[0].paths[3], "ustr(syscall_arg(1))");
	assert_string_equal(type->hooks[1].when, "id == 257 AND (x & 1) != -0x10 and y<3");
	assert_null(type->hooks[1].scope);
	type = event_catalog_get(catalog, 1);
	assert_string_equal(type->fields[0].meaning->text, "flags open");
	assert_string_equal(type->fields[0].doc, "how");
	assert_ptr_equal(type->fields[1].meaning, &meaning_addr);
	assert_null(type->fields[2].meaning);
	assert_string_equal(event_catalog_get(catalog, 2)->name, "nothing");
	assert_int_equal(event_catalog_get(catalog, 2)->hook_count, 0);
	assert_string_equal(event_catalog_get(catalog, 3)->hooks[0].paths[0], "arg0");
	assert_null(event_catalog_get(catalog, 4));
	/* The same again is fine. */
	assert_int_equal(parse(catalog, example, diag), 0);
	assert_null(event_catalog_get(catalog, 4));
	event_catalog_free(catalog);
	asterism_diag_free(diag);
}

#define NEST_12 "(((((((((((("
#define OPEN    "EVENT e { x: u32, s: string } FROM a:b { "

static const struct {
	const char *text;
	uint32_t line, column;
	const char *message;
} refused[] = {
	{ "x", 1, 1, "expected EVENT, EVENTS, SYSCALL or FROM, found 'x'" },
	{ "FROM a:b {}", 1, 1, "expected EVENT, EVENTS, SYSCALL or FROM, found 'FROM'" },
	{ "\n  \001", 2, 3, "expected EVENT, EVENTS, SYSCALL or FROM, found the byte 0x01" },
	{ "EVENT", 1, 6, "expected the event's name, found the end of the file" },
	{ "EVENT 3", 1, 7, "expected the event's name, found '3'" },
	{ "EVENT e", 1, 8, "expected '{', found the end of the file" },
	{ "EVENT e \"doc", 1, 9, "this string is not closed on its line" },
	{ "EVENT e \"doc\n\" {}", 1, 9, "this string is not closed on its line" },
	{ "EVENT e \"a\\q\" {}", 1, 11, "the only escapes in strings are \\n \\t \\\" \\\\" },
	{ "EVENT e \"a\\", 1, 9, "this string is not closed on its line" },
	{ "EVENT e {", 1, 10, "expected a field's name, found the end of the file" },
	{ "EVENT e { , }", 1, 11, "expected a field's name, found ','" },
	{ "EVENT e { x }", 1, 13, "expected ':' and a type, found '}'" },
	{ "EVENT e { x: }", 1, 14, "expected a type, found '}'" },
	{ "EVENT e {\n\tx: u33 }", 2, 5, "unknown type 'u33'" },
	{ "EVENT e { x: u32[4] }", 1, 17, "only strings have a capacity" },
	{ "EVENT e { x: string[] }", 1, 21, "expected a number of bytes, found ']'" },
	{ "EVENT e { x: string[1] }", 1, 20, "a string holds 2 to 4096 bytes" },
	{ "EVENT e { x: string[4097] }", 1, 20, "a string holds 2 to 4096 bytes" },
	{ "EVENT e { x: string[18446744073709551616] }", 1, 21, "this number does not fit 64 bits" },
	{ "EVENT e { x: string[12ab] }", 1, 21, "'12ab' is not a number" },
	{ "EVENT e { x: string[8 }", 1, 23, "expected ']', found '}'" },
	{ "EVENT e { x: u8 UNIT, }", 1, 21, "expected a unit, found ','" },
	{ "EVENT e { x: u8 duratoin }", 1, 17, "unknown meaning 'duratoin'" },
	{ "EVENT e { x: u8 flags, y: u8 }", 1, 17, "unknown meaning 'flags'" },
	{ "EVENT e { x: string[8] bytes }", 1, 24, "only integers, times and addresses have this meaning" },
	{ "EVENT e { x: u8 y: u8 }", 1, 17, "expected ',' or '}', found 'y'" },
	{ "EVENT e { x: ABSENT }", 1, 21, "expected a string that says what to use instead, found '}'" },
	{ "EVENT e { x: ABSENT \"y\", x: u8 }", 1, 26, "field 'x' is declared twice" },
	{ OPEN "x = length(1), s = 0 }", 1, 53, "length() takes a string, not a number" },
	{ "EVENT e { x: u8, x: u8 }", 1, 18, "field 'x' is declared twice" },
	{ "EVENT e { pid: u32 }", 1, 11, "every event already has the header field 'pid'" },
	{ "EVENT e {} FROM", 1, 16, "expected a tracepoint, found the end of the file" },
	{ "EVENT e {} FROM a {}", 1, 17, "a tracepoint is written system:name" },
	{ "EVENT e {} FROM a: b {}", 1, 17, "a tracepoint is written system:name" },
	{ "EVENT e {} FROM a:b", 1, 20, "expected '{', found the end of the file" },
	{ OPEN "x = 1 }", 1, 36, "field 's' of event 'e' is not given here" },
	{ OPEN "y = 1 }", 1, 42, "event 'e' has no field 'y'" },
	{ OPEN "x = 1, x = 1 }", 1, 49, "field 'x' is given twice" },
	{ OPEN "x 1 }", 1, 44, "expected '=', found '1'" },
	{ OPEN "x == 1 }", 1, 45, "expected a path, found '='" },
	{ OPEN "x = }", 1, 46, "expected a path, found '}'" },
	{ OPEN "x = 1 s = 2", 1, 48, "expected ',' or '}', found 's'" },
	{ OPEN "x = ustr(p) }", 1, 46, "field 'x' has the type u32, but this path gives a string" },
	{ OPEN "s = p + 1 }", 1, 46, "field 's' has the type string, but this path gives a number" },
	{ OPEN "x = ustr(p) + 1 }", 1, 46, "strings cannot be used in calculations" },
	{ OPEN "x = (ustr(p) == 1) }", 1, 46, "strings cannot be used in calculations" },
	{ OPEN "x = ustr(kstr(p)) }", 1, 51, "ustr() takes a number or a pointer, not a string" },
	{ OPEN "s = ustr(p) ? 0 }", 1, 46, "some choices give a string and some a number" },
	{ OPEN "x = frob(p) }", 1, 46, "unknown function in a path" },
	{ OPEN "x = be16(p }", 1, 53, "expected ')', found '}'" },
	{ OPEN "x = syscall_arg(6) }", 1, 58, "this number must be below 6" },
	{ OPEN "x = syscall_arg(p) }", 1, 58, "expected a number, found 'p'" },
	{ OPEN "x = ctx(4, 3) }", 1, 53, "ctx() reads 1, 2, 4 or 8 bytes" },
	{ OPEN "x = ctx(4) }", 1, 51, "expected ',', found ')'" },
	{ OPEN "s = ctxstr(4, 0) }", 1, 56, "ctxstr() reads at least one byte" },
	{ OPEN "x = a-> }", 1, 50, "expected a member's name, found '}'" },
	{ OPEN "x = a[-1] }", 1, 48, "expected a number, found '-'" },
	{ OPEN "x = a[1 }", 1, 50, "expected ']', found '}'" },
	{ OPEN "x = 0x }", 1, 46, "'0x' is not a number" },
	{ OPEN "x = - y }", 1, 48, "expected a number, found 'y'" },
	{ OPEN "x = (1 }", 1, 49, "expected ')', found '}'" },
	{ OPEN "x = a < b }", 1, 48, "expected ',' or '}', found '<'" },
	{ OPEN "x = " NEST_12 "( 1", 1, 58, "parentheses are nested more than 12 levels deep here" },
	{ "EVENT e {} FROM a:b WHEN {}", 1, 26, "expected a path, found '{'" },
	{ "EVENT e {} FROM a:b WHEN x {}", 1, 28, "expected a comparison, found '{'" },
	{ "EVENT e {} FROM a:b WHEN x == {}", 1, 31, "expected an integer, found '{'" },
	{ "EVENT e {} FROM a:b WHEN x == y {}", 1, 31, "expected an integer, found 'y'" },
	{ "EVENT e {} FROM a:b WHEN x == 1 OR y == 1 {}", 1, 33, "expected '{', found 'OR'" },
	{ "EVENT e {} FROM a:b WHEN kstr(x) == 1 {}", 1, 26, "conditions of WHEN compare numbers, not strings" },
	{ "EVENT e {} FROM a:b SCOPE {}", 1, 27, "expected a path, found '{'" },
	{ "EVENT e {} FROM a:b SCOPE kstr(x) {}", 1, 27, "a process id is a number, not a string" },
	{ "EVENT e {} FROM a:b SCOPE a,b,c,d,e,f,g,h,i {}", 1, 43, "a SCOPE has at most 8 paths" },
	{ "SYSCALL", 1, 8, "expected the call's number, found the end of the file" },
	{ "SYSCALL x", 1, 9, "expected the call's number, found 'x'" },
	{ "SYSCALL 7 {", 1, 11, "expected the call's name, found '{'" },
	{ "SYSCALL 7 x", 1, 12, "expected '{', found the end of the file" },
	{ "SYSCALL 7 x { pid: i32 }", 1, 15, "every event already has the header field 'pid'" },
	{ "SYSCALL 7 x { a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8 }", 1, 11,
	  "a system call has at most 6 arguments" },
	{ "SYSCALL 7 x { a: u8 } SYSCALL 7 x { b: u8 }", 1, 33,
	  "event 'sys_enter_x' is already declared, with other fields" },
	{ "SYSCALL 7 x {} FROM a:b {}", 1, 16, "expected EVENT, EVENTS, SYSCALL or FROM, found 'FROM'" },
	{ "EVENT e { a: string[4096], b: string[4096] }", 1, 7, "a record of 'e' would exceed 8192 bytes" },
	{ "EVENT e {}\nEVENT e { x: u8 }", 2, 7, "event 'e' is already declared, with other fields" },
	{ "EVENTS e", 1, 8, "expected the name of a catalog in quotes, found 'e'" },
	{ "EVENTS \"no/such\"", 1, 8, "catalog not found: 'no/such'" },
};

static void complaints_name_the_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct event_catalog *catalog = event_catalog_new();
		struct asterism_diag *diag = asterism_diag_new();
		const struct asterism_message *message;

		assert_int_equal(parse(catalog, refused[i].text, diag), -EINVAL);
		message = asterism_diag_get(diag, 0);
		if (strcmp(message->text, refused[i].message) || message->line != refused[i].line ||
		    message->column != refused[i].column)
			fail_msg("%s\ngives %u:%u: %s", refused[i].text, message->line, message->column, message->text);
		assert_string_equal(message->file, "t.events");
		asterism_diag_free(diag);
		event_catalog_free(catalog);
	}
}

/* What a row for a system call stands for, and the same in full. */
static void a_call_is_two_types(void **state)
{
	static const char
		row[] = "EVENT before { x }\nSYSCALL 0x101 openat { dfd: i32, filename: string, buf: string[32] }\n"
			"syscall 0 none {}",
		full[] = "EVENT sys_enter_openat { dfd: i32, filename: string, buf: string[32] }\n"
			 "FROM raw_syscalls:sys_enter WHEN id == 257 AND (current->thread_info.status & 2) == 0 {"
			 "dfd = syscall_arg(0), filename = ustr(syscall_arg(1)), buf = ustr(syscall_arg(2)) }\n"
			 "EVENT sys_exit_openat { ret: i64 } FROM raw_syscalls:sys_exit "
			 "WHEN regs->orig_ax == 257 AND (current->thread_info.status & 2) == 0 { ret = ret }\n"
			 "EVENT sys_enter_none {} FROM raw_syscalls:sys_enter "
			 "WHEN id == 0 AND (current->thread_info.status & 2) == 0 {}\n"
			 "EVENT sys_exit_none { ret: i64 } FROM raw_syscalls:sys_exit "
			 "WHEN regs->orig_ax == 0 AND (current->thread_info.status & 2) == 0 { ret = ret }\n";
	struct event_catalog *rows = event_catalog_new(), *fulls = event_catalog_new();
	struct asterism_diag *diag = asterism_diag_new();
	const struct event_type *type, *same;

	(void)state;
	assert_int_equal(parse(rows, row, diag), -EINVAL); /* the first paragraph, and no other */
	assert_int_equal(asterism_diag_count(diag, ASTERISM_ERROR), 1);
	assert_int_equal(parse(fulls, full, diag), 0);
	for (size_t i = 0; (type = event_catalog_get(rows, i)) && (same = event_catalog_get(fulls, i)); i++) {
		assert_string_equal(type->name, same->name);
		assert_int_equal(type->field_count, same->field_count);
		assert_int_equal(type->record_bytes, same->record_bytes);
		assert_int_equal(type->hook_count, 1);
		assert_string_equal(type->hooks[0].tracepoint, same->hooks[0].tracepoint);
		assert_string_equal(type->hooks[0].when, same->hooks[0].when);
		for (uint32_t j = 0; j < type->field_count; j++) {
			assert_string_equal(type->fields[j].name, same->fields[j].name);
			assert_int_equal(type->fields[j].value, same->fields[j].value);
			assert_string_equal(type->hooks[0].paths[j], same->hooks[0].paths[j]);
		}
	}
	assert_non_null(event_catalog_get(rows, 3));
	assert_null(event_catalog_get(rows, 4));
	event_catalog_free(rows);
	event_catalog_free(fulls);
	asterism_diag_free(diag);
}

static void hints_offer_near_names(void **state)
{
	struct event_catalog *catalog = event_catalog_new();
	struct asterism_diag *diag = asterism_diag_new();

	(void)state;
	assert_int_equal(parse(catalog, "EVENT a { x: u23 }", diag), -EINVAL);
	assert_string_equal(asterism_diag_get(diag, 0)->hint, "u32");
	assert_int_equal(parse(catalog, "EVENT a { filename: u32 } FROM a:b { filenam = 1 }", diag), -EINVAL);
	assert_string_equal(asterism_diag_get(diag, 1)->hint, "filename");
	asterism_diag_free(diag);
	event_catalog_free(catalog);
}

static void an_error_leaves_its_paragraph_out_and_no_other(void **state)
{
	struct event_catalog *catalog = event_catalog_new();
	struct asterism_diag *diag = asterism_diag_new();

	(void)state;
	assert_int_equal(parse(catalog, "EVENT a {}\nEVENT b { x: }\nEVENT c {}\nEVENT d { ! }\nEVENT e {}", diag),
			 -EINVAL);
	assert_int_equal(asterism_diag_count(diag, ASTERISM_ERROR), 2);
	assert_int_equal(asterism_diag_get(diag, 1)->line, 4);
	assert_string_equal(event_catalog_get(catalog, 0)->name, "a");
	assert_string_equal(event_catalog_get(catalog, 1)->name, "c");
	assert_string_equal(event_catalog_get(catalog, 2)->name, "e");
	assert_null(event_catalog_get(catalog, 3));
	asterism_diag_free(diag);
	event_catalog_free(catalog);
}

static void many_errors_are_cut_short(void **state)
{
	char text[100 * 16] = "";
	struct event_catalog *catalog = event_catalog_new();
	struct asterism_diag *diag = asterism_diag_new();

	(void)state;
	for (size_t i = 0; i < 100; i++)
		strcat(text, "EVENT a { !\n");
	assert_int_equal(parse(catalog, text, diag), -EINVAL);
	assert_int_equal(asterism_diag_count(diag, ASTERISM_ERROR), 21);
	assert_string_equal(asterism_diag_get(diag, 20)->text, "t.events: too many errors, giving up");
	asterism_diag_free(diag);
	event_catalog_free(catalog);
}

static void as_many_fields_as_a_record_has_and_no_more(void **state)
{
	struct event_catalog *catalog = event_catalog_new();
	struct asterism_diag *diag = asterism_diag_new();
	char text[EVENT_FIELDS_MAX * 16] = "EVENT a { ";
	size_t length = strlen(text);

	(void)state;
	for (size_t i = 0; i < EVENT_FIELDS_MAX; i++)
		length += (size_t)snprintf(text + length, sizeof text - length, "f%zu: u8, ", i);
	snprintf(text + length, sizeof text - length, "}");
	assert_int_equal(parse(catalog, text, diag), 0);
	assert_int_equal(event_catalog_get(catalog, 0)->field_count, EVENT_FIELDS_MAX);
	snprintf(text + length, sizeof text - length, "x: u8 }");
	assert_int_equal(parse(catalog, text, diag), -EINVAL);
	assert_string_equal(asterism_diag_get(diag, 0)->text, "an event has at most 128 fields");
	asterism_diag_free(diag);
	event_catalog_free(catalog);
}

static void a_text_needs_no_end_mark(void **state)
{
	static const char text[] = "EVENT abc { x: u8 }";
	struct event_catalog *catalog = event_catalog_new();
	char *exact = malloc(sizeof text - 1);

	(void)state;
	memcpy(exact, text, sizeof text - 1);
	/* Every prefix, each in a block of just its size, so that a sanitizer sees one byte too many. */
	for (size_t length = 0; length < sizeof text - 1; length++) {
		char *prefix = malloc(length ? length : 1);

		memcpy(prefix, exact, length);
		assert_int_equal(event_catalog_parse(catalog, "t", prefix, length, NULL), length ? -EINVAL : 0);
		free(prefix);
	}
	assert_int_equal(event_catalog_parse(catalog, "t", exact, sizeof text - 1, NULL), 0);
	free(exact);
	event_catalog_free(catalog);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_catalog_is_read),
		cmocka_unit_test(complaints_name_the_place),
		cmocka_unit_test(a_call_is_two_types),
		cmocka_unit_test(hints_offer_near_names),
		cmocka_unit_test(an_error_leaves_its_paragraph_out_and_no_other),
		cmocka_unit_test(many_errors_are_cut_short),
		cmocka_unit_test(as_many_fields_as_a_record_has_and_no_more),
		cmocka_unit_test(a_text_needs_no_end_mark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
