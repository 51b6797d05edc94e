// SPDX-License-Identifier: BSD-2-Clause
/* C headers from anybody: every prefix of one, every byte of it changed, and what has no end. */

#include "../size.h"

#include "event/catalog.h"

#include "base/alloc.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char good[] =
	"#ifndef A /* x */\n#define A\n#if 0\n'\n#else\n# define N (0x4u)\n#endif\n#define B_ID N // y\n#define "
	"B_HANDLE 07\n"
	"typedef unsigned long long \\\n w; typedef enum { P, Q } e; typedef const char *t;\n"
	"struct b { w a, c[2]; char d[N], f; e g; t h; const volatile struct b *i; double j; char k[]; };\n"
	"typedef struct _X_E_C_D { UCHAR Type; } X_E_C_D;\n#define X_E_C_D_ID 65535\n"
	"typedef struct { int Type, BodySize, pid; } EVENT_HEADER;\n"
	"extern \"C\" { int f(int, char *) { return '\\''; } }\n#endif\n";

/* In a block of just its size, so that a sanitizer sees one byte too many. */
static int parse(const char *text, size_t length, struct event_catalog **kept)
{
	struct event_catalog *catalog = event_catalog_new();
	struct asterism_diag *diag = asterism_diag_new();
	char *exact = malloc(length ? length : 1);

	assert_true(catalog && diag && exact);
	memcpy(exact, text, length);
	int result = event_catalog_parse(catalog, "t.h", exact, length, diag);

	assert_true(result == 0 || result == -EINVAL);
	assert_int_equal(asterism_diag_count(diag, ASTERISM_ERROR) > 0, result != 0);
	free(exact);
	asterism_diag_free(diag);
	if (kept)
		*kept = catalog;
	else
		event_catalog_free(catalog);
	return result;
}

static void check_field(const struct event_type *type, uint32_t i, const char *name, const char *path)
{
	assert_string_equal(type->fields[i].name, name);
	assert_string_equal(type->hooks[0].paths[i], path);
}

static void layout(void **state)
{
	static const char *const fields[][2] = {
		{ "a", "user_uint(syscall_arg(4) + 0, 8)" },
		{ "c_0", "user_uint(syscall_arg(4) + 8, 8)" },
		{ "c_1", "user_uint(syscall_arg(4) + 16, 8)" },
		{ "d", "user_chars(syscall_arg(4) + 24, 4)" },
		{ "f", "user_int(syscall_arg(4) + 28, 1)" },
		{ "g", "user_int(syscall_arg(4) + 32, 4)" },
		{ "h", "user_uint(syscall_arg(4) + 40, 8)" },
		{ "i", "user_uint(syscall_arg(4) + 48, 8)" },
		{ "j", "user_uint(syscall_arg(4) + 56, 8)" },
		{ "k", "ustr(syscall_arg(4) + 64)" },
		{ "Type", "4" },
		{ "BodySize", "syscall_arg(3) & 0xffff" },
	};
	struct event_catalog *catalog;
	const struct event_type *type;

	(void)state;
	assert_int_equal(parse(good, sizeof good - 1, &catalog), 0);
	type = event_catalog_find(catalog, "b");
	assert_non_null(type);
	assert_int_equal(type->field_count, sizeof fields / sizeof *fields);
	for (uint32_t i = 0; i < type->field_count; i++)
		check_field(type, i, fields[i][0], fields[i][1]);
	assert_non_null(strstr(type->hooks[0].when,
			       "(syscall_arg(2) & 0xffff) == 4 AND (syscall_arg(1) & 0xffffffff) == 7 "
			       "AND (syscall_arg(3) & 0xffff) >= 64"));
	type = event_catalog_find(catalog, "cd");
	assert_non_null(type);
	assert_int_equal(type->field_count, 2);
	check_field(type, 0, "Type", "user_uint(syscall_arg(4) + 0, 1)");
	assert_null(event_catalog_find(catalog, "x_e_c_d"));
	event_catalog_free(catalog);
}

static void survives_damage(void **state)
{
	static const char bytes[] = {
		'\0', '\n', '"', '#', '{', '}', '(', ';', '[', '/', '*', '9', 'a', ' ', (char)0xff
	};
	char damaged[sizeof good];

	(void)state;
	for (size_t i = 0; i < sizeof good; i++) {
		parse(good, i, NULL);
		for (size_t j = 0; j < sizeof bytes; j++) {
			memcpy(damaged, good, sizeof good);
			damaged[i] = bytes[j];
			parse(damaged, sizeof good - 1, NULL);
		}
		memmove(damaged, good, i);
		memcpy(damaged + i, good + i + 1, sizeof good - i - 1);
		parse(damaged, sizeof good - 2, NULL);
	}
}

static void long_and_deep_texts(void **state)
{
	enum { BYTES = 1 << 19 };
	static const char *const repeated[] = { "{",
						"#if 1\n",
						"#define A_ID 1\n",
						"struct a {",
						"typedef int a;",
						"*",
						"(",
						"/*",
						"a",
						"0",
						"struct a { int b; };",
						"}",
						"\"",
						"\\\n",
						"#ifdef a\n" };
	static const char head[] = "#define A_ID 1\nstruct a { ";
	char *text = malloc(BYTES + (1 << 19) + 1);

	(void)state;
	for (size_t j = 0; j < sizeof repeated / sizeof *repeated; j++) {
		size_t step = strlen(repeated[j]);

		for (size_t begun = 0; begun < 2; begun++) {
			size_t length = begun ? sizeof head - 1 : 0;

			memcpy(text, head, length);
			for (; length + step < sized(BYTES, 8); length += step)
				memcpy(text + length, repeated[j], step);
			parse(text, length, NULL);
		}
	}
	memset(text, ' ', BYTES + (1 << 19) + 1);
	assert_int_equal(parse(text, BYTES + (1 << 19) + 1, NULL), -EINVAL);
	free(text);
}

static int parse_fields(int count)
{
	static char text[16 * (EVENT_FIELDS_MAX + 2) + 64];
	size_t length = (size_t)sprintf(text, "#define A_ID 1\nstruct a {");

	for (int i = 0; i < count; i++)
		length += (size_t)sprintf(text + length, " char f%d;", i);
	length += (size_t)sprintf(text + length, " };\n");
	return parse(text, length, NULL);
}

static void as_many_fields_as_events_have(void **state)
{
	(void)state;
	assert_int_equal(parse_fields(EVENT_FIELDS_MAX), 0);
	assert_int_equal(parse_fields(EVENT_FIELDS_MAX + 1), -EINVAL);
}

static void memory_runs_out_anywhere(void **state)
{
	int result = -ENOMEM;

	(void)state;
	for (unsigned long n = 1; result; n++) {
		struct asterism_diag *diag = asterism_diag_new();

		alloc_fail_at(n);
		struct event_catalog *catalog = event_catalog_new();

		if (catalog)
			result = event_catalog_parse(catalog, "t.h", good, sizeof good - 1, diag);
		alloc_fail_at(0);
		assert_true(result == 0 || result == -ENOMEM);
		event_catalog_free(catalog);
		asterism_diag_free(diag);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layout),
		cmocka_unit_test(survives_damage),
		cmocka_unit_test(long_and_deep_texts),
		cmocka_unit_test(as_many_fields_as_events_have),
		cmocka_unit_test(memory_runs_out_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
