// SPDX-License-Identifier: BSD-2-Clause
/* Tracepoints that no catalog has: format files, well-formed and not, in a tracefs of our own. */

#include "event/tracefs-priv.h"

#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#define COMMON                                                                         \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define FORMAT(fields) "name: x\nID: 1\nformat:\n" COMMON fields "\nprint fmt: \"field:int no;\toffset:0;\tsize:4;\"\n"

struct wanted {
	const char *name;
	enum event_value value;
	uint32_t bytes;
	const char *path;
};

static void expect(const char *text, const struct wanted *wanted, size_t count)
{
	struct event_format *format = calloc(1, sizeof *format);
	struct arena *arena = arena_new();

	assert_int_equal(event_format_read(arena, text, strlen(text), format), 0);
	for (size_t i = 0; i < count && i < format->count; i++) {
		assert_string_equal(format->fields[i].name, wanted[i].name);
		assert_int_equal(format->fields[i].value, wanted[i].value);
		assert_int_equal(format->fields[i].bytes, wanted[i].bytes);
		assert_string_equal(format->paths[i], wanted[i].path);
	}
	assert_int_equal(format->count, count);
	arena_free(arena);
	free(format);
}

static void every_kind_of_field_is_understood(void **state)
{
	static const struct wanted wanted[] = {
		{ "a", EVENT_I32, 0, "ctxs(8, 4)" },
		{ "b", EVENT_U64, 0, "ctx(16, 8)" },
		{ "c", EVENT_ADDR, 0, "ctx(24, 8)" },
		{ "d", EVENT_BOOL, 0, "ctx(32, 1)" },
		{ "name", EVENT_STRING, 16, "ctxstr(36, 16)" },
		{ "path", EVENT_STRING, 0, "ctxloc(52)" },
		{ "addr_0", EVENT_U8, 0, "ctx(56, 1)" },
		{ "addr_1", EVENT_U8, 0, "ctx(57, 1)" },
		{ "e", EVENT_I16, 0, "ctxs(60, 2)" },
		{ "f", EVENT_I8, 0, "ctxs(62, 1)" },
		{ "g", EVENT_U16, 0, "ctx(64, 2)" },
	};

	(void)state;
	expect(FORMAT("\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n"
		      "\tfield:unsigned long b;\toffset:16;\tsize:8;\tsigned:0;\n"
		      "\tfield:const struct foo * c;\toffset:24;\tsize:8;\tsigned:1;\n"
		      "\tfield:bool d;\toffset:32;\tsize:1;\tsigned:0;\n"
		      "\tfield:char name[16];\toffset:36;\tsize:16;\tsigned:1;\n"
		      "\tfield:__data_loc char[] path;\toffset:52;\tsize:4;\tsigned:1;\n"
		      "\tfield:__u8 addr[2];\toffset:56;\tsize:2;\tsigned:0;\n"
		      "\tfield:short e;\toffset:60;\tsize:2;\tsigned:1;\n"
		      "\tfield:s8 f;\toffset:62;\tsize:1;\tsigned:1;\n"
		      "\tfield:u16 g;\toffset:64;\tsize:2;\n"),
	       wanted, sizeof wanted / sizeof *wanted);
}

static void names_of_header_fields_are_changed(void **state)
{
	static const struct wanted wanted[] = {
		{ "target_cpu", EVENT_I32, 0, "ctxs(8, 4)" },
		{ "own_cpu", EVENT_I32, 0, "ctxs(12, 4)" },
		{ "target_pid", EVENT_I32, 0, "ctxs(16, 4)" },
		{ "target_comm", EVENT_STRING, 16, "ctxstr(20, 16)" },
	};

	(void)state;
	expect(FORMAT("\tfield:int target_cpu;\toffset:8;\tsize:4;\tsigned:1;\n"
		      "\tfield:int cpu;\toffset:12;\tsize:4;\tsigned:1;\n"
		      "\tfield:pid_t pid;\toffset:16;\tsize:4;\tsigned:1;\n"
		      "\tfield:char comm[16];\toffset:20;\tsize:16;\tsigned:0;\n"),
	       wanted, sizeof wanted / sizeof *wanted);
}

static void what_is_no_field_is_left_out(void **state)
{
	static const struct wanted wanted[] = { { "last", EVENT_U8, 0, "ctx(8, 1)" } };

	(void)state;
	expect(FORMAT("\tfield:struct blob x;\toffset:8;\tsize:24;\tsigned:0;\n"
		      "\tfield:__data_loc __u8[] x;\toffset:8;\tsize:4;\tsigned:0;\n"
		      "\tfield:__rel_loc char[] x;\toffset:8;\tsize:4;\tsigned:0;\n"
		      "\tfield:u64 x[64];\toffset:8;\tsize:512;\tsigned:0;\n"
		      "\tfield:u64 x[3];\toffset:8;\tsize:20;\tsigned:0;\n"
		      "\tfield:u64 x[];\toffset:8;\tsize:0;\tsigned:0;\n"
		      "\tfield:char x[0];\toffset:8;\tsize:0;\tsigned:0;\n"
		      "\tfield:int x;\toffset:9999999999999999999;\tsize:4;\tsigned:1;\n"
		      "\tfield:int x;\toffset:-8;\tsize:4;\tsigned:1;\n"
		      "\tfield:int x;\toffset:8;\tsigned:1;\n"
		      "\tfield:int x;\n"
		      "\tfield:int x\n"
		      "\tfield:;\toffset:8;\tsize:4;\tsigned:1;\n"
		      "\tfield:int 9;\toffset:8;\tsize:4;\tsigned:1;\n"
		      "\tfield:int ];\toffset:8;\tsize:4;\tsigned:1;\n"
		      "\tfield:x;\toffset:8;\tsize:4;\tsigned:1;\n"
		      "\tfield:void (*fn)(int);\toffset:8;\tsize:8;\tsigned:0;\n"
		      "\tfield:float x;\toffset:8;\tsize:16;\tsigned:1;\n"
		      "nonsense\n\n"
		      "\tfield:u8 last;\toffset:8;\tsize:1;\tsigned:0;\n"),
	       wanted, 1);
}

static void formats_that_are_none(void **state)
{
	static const char *const texts[] = { "", "\n", "name: x\n", "format:", "\0format:\n" };
	struct event_format *format = calloc(1, sizeof *format);
	struct arena *arena = arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		assert_int_equal(event_format_read(arena, texts[i], strlen(texts[i]), format), -EINVAL);
	arena_free(arena);
	free(format);
}

static void too_many_and_too_large_fields_are_left_out(void **state)
{
	struct event_format *format = calloc(1, sizeof *format);
	struct arena *arena = arena_new();
	char *text = calloc(400, 64);
	size_t length = (size_t)sprintf(text, "format:\n");

	(void)state;
	length += (size_t)sprintf(text + length, "field:char huge[8190];offset:8;size:8190;signed:0;\n");
	for (int i = 0; i < 300; i++)
		length += (size_t)sprintf(text + length, "field:int f%d;offset:8;size:4;signed:0;\n", i);
	assert_int_equal(event_format_read(arena, text, length, format), 0);
	assert_int_equal(format->count, EVENT_FIELDS_MAX);
	assert_string_equal(format->fields[0].name, "f0");
	assert_true(format->bytes <= EVENT_RECORD_BYTES_MAX);
	arena_free(arena);
	free(format);
	free(text);
}

/* A tracefs with sched/one, sched/two, net/one, net/nothing (no format) and ftrace/function. */
struct fixture {
	char root[64];
	struct event_catalog *catalog;
};

static void write_format(struct fixture *f, const char *system, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof path, "%s/events/%s", f->root, system);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/events/%s/%s", f->root, system, name);
	assert_int_equal(mkdir(path, 0700), 0);
	if (!text)
		return;
	snprintf(path, sizeof path, "%s/events/%s/%s/format", f->root, system, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	char path[96];

	strcpy(f->root, "/tmp/asterism-tracefs-XXXXXX");
	if (!mkdtemp(f->root))
		return -1;
	snprintf(path, sizeof path, "%s/events", f->root);
	if (mkdir(path, 0700))
		return -1;
	write_format(f, "sched", "one", FORMAT("\tfield:int x;\toffset:8;\tsize:4;\tsigned:1;\n"));
	write_format(f, "sched", "two", FORMAT(""));
	write_format(f, "net", "one", FORMAT("\tfield:int y;\toffset:8;\tsize:4;\tsigned:1;\n"));
	write_format(f, "net", "nothing", NULL);
	write_format(f, "net", "empty", "");
	write_format(f, "ftrace", "function", FORMAT(""));
	f->catalog = event_catalog_new();
	f->catalog->tracefs = f->root;
	*state = f;
	return 0;
}

static int remove_one(const char *path, const struct stat *status, int flag, struct FTW *ftw)
{
	(void)status, (void)flag, (void)ftw;
	return remove(path);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	nftw(f->root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	event_catalog_free(f->catalog);
	free(f);
	return 0;
}

static void all_three_ways_to_name_a_tracepoint(void **state)
{
	struct fixture *f = *state;
	const struct event_type *two = event_catalog_find(f->catalog, "two");

	assert_string_equal(two->name, "two");
	assert_int_equal(two->origin, EVENT_TRACEFS);
	assert_int_equal(two->hook_count, 1);
	assert_string_equal(two->hooks[0].tracepoint, "sched:two");
	assert_ptr_equal(event_catalog_find(f->catalog, "sched:two"), two);
	assert_ptr_equal(event_catalog_find(f->catalog, "sched__two"), two);
	assert_null(event_catalog_get(f->catalog, 1));
}

static void the_second_of_a_name_is_called_by_its_system(void **state)
{
	struct fixture *f = *state;
	const struct event_type *first = event_catalog_find(f->catalog, "sched:one");
	const struct event_type *second = event_catalog_find(f->catalog, "net:one");

	assert_string_equal(first->name, "one");
	assert_string_equal(second->name, "net__one");
	assert_string_equal(second->fields[0].name, "y");
	assert_ptr_equal(event_catalog_find(f->catalog, "net__one"), second);
	assert_ptr_equal(event_catalog_find(f->catalog, "net:one"), second);
	assert_ptr_equal(event_catalog_find(f->catalog, "one"), first);
}

static void a_catalog_has_precedence(void **state)
{
	static const char text[] = "EVENT one { z: u8 } FROM sched:one { z = 1 }";
	struct fixture *f = *state;
	const struct event_type *type;

	assert_int_equal(event_catalog_parse(f->catalog, "t", text, strlen(text), NULL), 0);
	type = event_catalog_find(f->catalog, "one");
	assert_int_equal(type->origin, EVENT_CATALOG);
	assert_ptr_equal(event_catalog_find(f->catalog, "sched:one"), type);
	assert_string_equal(event_catalog_find(f->catalog, "net:one")->name, "net__one");
}

static void names_that_are_none(void **state)
{
	struct fixture *f = *state;
	static const char *const names[] = {
		"",
		":",
		"a:",
		":one",
		"sched:",
		"sched:one:x",
		"../sched:one",
		"sched/one",
		"sched:../one",
		"net:nothing",
		"net:empty",
		"net__empty",
		"ftrace:function",
		"function",
		"__one",
		"sched__",
		"sched:one ",
		"three",
	};
	char name[600];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		assert_null(event_catalog_find(f->catalog, names[i]));
	memset(name, 'a', sizeof name);
	name[sizeof name - 1] = '\0';
	assert_null(event_catalog_find(f->catalog, name));
	name[300] = ':';
	assert_null(event_catalog_find(f->catalog, name));
	memset(name, '_', sizeof name - 1);
	assert_null(event_catalog_find(f->catalog, name));
	assert_null(event_catalog_get(f->catalog, 0));
}

static void all_of_them_are_added_once(void **state)
{
	static const char text[] = "EVENT two {} FROM sched:two {}";
	struct fixture *f = *state;

	assert_int_equal(event_catalog_parse(f->catalog, "t", text, strlen(text), NULL), 0);
	assert_int_equal(event_catalog_add_tracefs(f->catalog), 2);
	assert_int_equal(event_catalog_add_tracefs(f->catalog), 0);
	assert_non_null(event_catalog_get(f->catalog, 2));
	assert_null(event_catalog_get(f->catalog, 3));
	f->catalog->tracefs = "/no/such/folder";
	assert_int_equal(event_catalog_add_tracefs(f->catalog), -ENOENT);
	assert_null(event_catalog_find(f->catalog, "three"));
}

static void lack_of_memory_finds_nothing(void **state)
{
	struct fixture *f = *state;
	const struct event_type *type = NULL;

	for (unsigned long n = 1; !type; n++) {
		alloc_fail_at(n);
		type = event_catalog_find(f->catalog, "sched:one");
		alloc_fail_at(0);
		assert_true(n < 200);
	}
	assert_string_equal(type->name, "one");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_field_is_understood),
		cmocka_unit_test(names_of_header_fields_are_changed),
		cmocka_unit_test(what_is_no_field_is_left_out),
		cmocka_unit_test(formats_that_are_none),
		cmocka_unit_test(too_many_and_too_large_fields_are_left_out),
		CASE(all_three_ways_to_name_a_tracepoint),
		CASE(the_second_of_a_name_is_called_by_its_system),
		CASE(a_catalog_has_precedence),
		CASE(names_that_are_none),
		CASE(all_of_them_are_added_once),
		CASE(lack_of_memory_finds_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
