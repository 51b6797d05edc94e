// SPDX-License-Identifier: BSD-2-Clause
/*
 * Catalogs that somebody broke: every way of cutting and many ways of altering one, and lack of memory at every
 * allocation. Whatever comes of it, the types that are there are whole.
 */

#include "../size.h"

#include "base/alloc.h"
#include "event/catalog.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char good[] =
	"EVENT a \"doc \\\"x\\\"\" { x: i32 UNIT ns \"d\", s: string[16], t: string, }\n"
	"FROM s:n WHEN id == 1 AND (x & -1) != 0x20 SCOPE p->tgid, q[3].r {\n"
	"\tx = (a->b ? c.d[7]) << 3, s = ustr(syscall_arg(1)), t = ctxloc(12), # note\n}\n"
	"EVENT b {}\nFROM s:m {}\n"
	"EVENT u { m: addr, r: i64, w: u64 }\n"
	"FROM uprobe:\"/lib/x.so:f\" WHEN user_arg(0) != 0 { m = user_arg(5), r = 0, w = user_caller() }\n"
	"FROM uretprobe:\"x.so:f\" SCOPE current->tgid { m = 0, r = user_result(), w = user_word(arg0 + 8) }\n"
	"FROM usdt:\"x.so:p:n\" WHEN usdt_arg(0) != 0 { m = usdt_arg(11), r = user_word(usdt_arg(1)), w = 0 }\n"
	"EVENTS \"no/such/catalog\"\n";

/* system:name, or uprobe:file:function with something for each of them. */
static void check_place(const char *tracepoint)
{
	const char *first = strchr(tracepoint, ':'), *last = strrchr(tracepoint, ':');

	assert_non_null(first);
	assert_true(first > tracepoint && last[1] != '\0');
	if (strncmp(tracepoint, "uprobe:", strlen("uprobe:")) == 0 ||
	    strncmp(tracepoint, "uretprobe:", strlen("uretprobe:")) == 0)
		assert_true(last > first + 1 && first[1] != '\0');
	if (strncmp(tracepoint, "usdt:", strlen("usdt:")) == 0)
		assert_true(memrchr(first + 2, ':', (size_t)(last - first - 3)) != NULL);
}

static void check_whole(struct event_catalog *catalog)
{
	const struct event_type *type;

	for (size_t i = 0; (type = event_catalog_get(catalog, i)); i++) {
		assert_ptr_equal(event_catalog_find(catalog, type->name), type);
		assert_in_range(type->record_bytes, 48, EVENT_RECORD_BYTES_MAX);
		for (uint32_t f = 0; f < type->field_count; f++) {
			assert_non_null(event_field_find(type, type->fields[f].name));
			assert_in_range(type->fields[f].value, EVENT_U8, EVENT_STRING);
			assert_true(type->fields[f].offset % 8 == 0);
			assert_true(type->fields[f].offset + type->fields[f].bytes <= type->record_bytes);
			for (uint32_t s = 0; s < type->hook_count; s++)
				assert_true(strlen(type->hooks[s].paths[f]) > 0);
		}
		for (uint32_t s = 0; s < type->hook_count; s++)
			check_place(type->hooks[s].tracepoint);
	}
}

/* In a block of just its size, so that a sanitizer sees one byte too many. */
static int parse_exact(const char *text, size_t length)
{
	struct event_catalog *catalog = event_catalog_new();
	struct asterism_diag *diag = asterism_diag_new();
	char *exact = malloc(length ? length : 1);
	int result;

	memcpy(exact, text, length);
	result = event_catalog_parse(catalog, "t", exact, length, diag);
	assert_true(result == 0 || result == -EINVAL);
	assert_int_equal(asterism_diag_count(diag, ASTERISM_ERROR) != 0, result != 0);
	check_whole(catalog);
	free(exact);
	asterism_diag_free(diag);
	event_catalog_free(catalog);
	return result;
}

static void cut_anywhere(void **state)
{
	(void)state;
	for (size_t length = 0; length < sizeof good; length++)
		parse_exact(good, length);
	for (size_t start = 0; start < sizeof good; start++)
		parse_exact(good + start, sizeof good - start);
}

static void every_byte_replaced(void **state)
{
	static const char others[] = "\0\n #\"\\{}()[],:=!<>-.&|?*+0x9aE_\177\200\377";
	char text[sizeof good];

	(void)state;
	for (size_t i = 0; i < sizeof good; i++) {
		memcpy(text, good, sizeof good);
		for (size_t j = 0; j < sizeof others; j++) {
			text[i] = others[j];
			parse_exact(text, sizeof good - 1);
		}
	}
}

/* xorshift, fixed seed: the same texts on every run. */
static uint32_t next_random(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

static void pieces_shuffled(void **state)
{
	static const char *const pieces[] = {
		"EVENT ",      "EVENTS ",
		"\nEVENT ",    "FROM ",
		"WHEN ",       "SCOPE ",
		" AND ",       "UNIT ",
		"a",           "x: u8",
		"s: string",   "a:b",
		"{",           "}",
		"(",           ")",
		"[",           "]",
		",",           "=",
		"==",          "->",
		".",           "?",
		"1",           "-",
		"<<",          "\"d\"",
		"ustr(",       "ctx(0, 8)",
		"#\n",         "uprobe:",
		"uretprobe:",  "\"f:g\"",
		"\":\"",       "user_arg(1)",
		"user_word(",  "user_result()",
		"cast(f, ",    "cast(1, a)",
		"usdt:",       "\"f:g:h\"",
		"usdt_arg(1)",
	};
	uint32_t seed = 20100705;
	char text[1024];

	(void)state;
	for (size_t round = 0; round < sized(20000, 4); round++) {
		size_t length = 0, count = next_random(&seed) % 60;

		for (size_t i = 0; i < count; i++) {
			const char *piece = pieces[next_random(&seed) % (sizeof pieces / sizeof *pieces)];

			memcpy(text + length, piece, strlen(piece));
			length += strlen(piece);
		}
		parse_exact(text, length);
	}
}

static void deep_and_long_texts(void **state)
{
	const size_t bytes = sized(1 << 20, 8);
	static const char *const heads[] = { "EVENT a { x: u8 } FROM a:b { x = ",
					     "EVENT a {} FROM a:b WHEN ",
					     "EVENT a {} FROM uprobe:\"",
					     "EVENT a {} FROM a:b SCOPE ",
					     "EVENT ",
					     "EVENT a \"" };
	static const char *const repeated[] = { "(", "ustr(", "a->", "a[", "1+", "x?", "a", "0", "\"", "#" };
	char *text = malloc(bytes);

	(void)state;
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
		for (size_t j = 0; j < sizeof repeated / sizeof *repeated; j++) {
			size_t length = strlen(heads[i]), step = strlen(repeated[j]);

			memcpy(text, heads[i], length);
			for (; length + step < bytes; length += step)
				memcpy(text + length, repeated[j], step);
			assert_int_equal(parse_exact(text, length), -EINVAL);
		}
	}
	free(text);
}

static void memory_runs_out_anywhere(void **state)
{
	static const char text[] = "EVENT a \"doc\" { x: i32 UNIT ns \"d\", s: string }\n"
				   "FROM s:n WHEN id == 1 SCOPE p->tgid { x = a->b, s = ustr(p) }\nEVENT b {}\n"
				   "FROM uprobe:\"x.so:f\" {}";
	int result = -ENOMEM;

	(void)state;
	for (unsigned long n = 1; result; n++) {
		struct event_catalog *catalog;
		struct asterism_diag *diag = asterism_diag_new();

		alloc_fail_at(n);
		catalog = event_catalog_new();
		if (catalog)
			result = event_catalog_parse(catalog, "t", text, strlen(text), diag);
		alloc_fail_at(0);
		assert_true(result == 0 || result == -ENOMEM);
		if (catalog) {
			assert_int_equal(asterism_diag_count(diag, ASTERISM_ERROR), result ? 1 : 0);
			check_whole(catalog);
		}
		event_catalog_free(catalog);
		asterism_diag_free(diag);
		assert_true(n < 1000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(every_byte_replaced),
		cmocka_unit_test(pieces_shuffled),
		cmocka_unit_test(deep_and_long_texts),
		cmocka_unit_test(memory_runs_out_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
