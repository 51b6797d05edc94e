// SPDX-License-Identifier: BSD-2-Clause
/* Where catalogs are found, and that files that include each other come to an end. */

#include "event/catalog.h"

#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

struct fixture {
	char root[64], installed[96], own[96];
	struct event_catalog *catalog;
	struct asterism_diag *diag;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	strcpy(f->root, "/tmp/asterism-read-XXXXXX");
	if (!mkdtemp(f->root))
		return -1;
	snprintf(f->installed, sizeof f->installed, "%s/installed", f->root);
	snprintf(f->own, sizeof f->own, "%s/own", f->root);
	if (mkdir(f->installed, 0700) || mkdir(f->own, 0700) || setenv("ASTERISM_CATALOGS", f->installed, 1))
		return -1;
	f->catalog = event_catalog_new();
	f->diag = asterism_diag_new();
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
	asterism_diag_free(f->diag);
	free(f);
	return 0;
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static const char *last_message(struct fixture *f)
{
	size_t count = asterism_diag_count(f->diag, ASTERISM_NOTE);

	return count ? asterism_diag_get(f->diag, count - 1)->text : "";
}

static void the_own_folder_comes_first(void **state)
{
	struct fixture *f = *state;

	write_file(f->installed, "a.events", "EVENT installed {}");
	write_file(f->own, "a.events", "EVENT own {}");
	assert_int_equal(event_catalog_read(f->catalog, f->own, "a.events", f->diag), 0);
	assert_string_equal(event_catalog_get(f->catalog, 0)->name, "own");
	assert_int_equal(event_catalog_read(f->catalog, NULL, "a.events", f->diag), 0);
	assert_string_equal(event_catalog_get(f->catalog, 1)->name, "installed");
	assert_int_equal(event_catalog_read(f->catalog, f->own, "b.events", f->diag), -ENOENT);
	assert_int_equal(event_catalog_read(f->catalog, f->own, "", f->diag), -EINVAL);
	assert_non_null(strstr(last_message(f), "is not a regular file"));
}

/* A folder adds to what is built in, and what it has comes before. */
static void what_no_folder_has_is_built_in(void **state)
{
	struct fixture *f = *state;

	write_file(f->installed, "tcp.events", "EVENT installed {}");
	assert_int_equal(event_catalog_read(f->catalog, f->own, "linux.events", f->diag), 0);
	assert_non_null(event_catalog_find(f->catalog, "sys_enter_openat")); /* of a catalog that it includes */
	assert_int_equal(event_catalog_read(f->catalog, NULL, "linux.events", f->diag), 0);
	assert_int_equal(event_catalog_read(f->catalog, NULL, "tcp.events", f->diag), 0);
	assert_non_null(event_catalog_find(f->catalog, "installed"));
	assert_null(event_catalog_find(f->catalog, "tcp_segment_sent"));
	unsetenv("ASTERISM_CATALOGS");
	assert_int_equal(event_catalog_read(f->catalog, NULL, "scheduling.events", f->diag), 0);
	assert_int_equal(asterism_diag_count(f->diag, ASTERISM_NOTE), 0);
}

static void nothing_is_said_about_what_is_not_there(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(event_catalog_read(f->catalog, f->own, "b.events", f->diag), -ENOENT);
	assert_int_equal(event_catalog_read(f->catalog, NULL, "/no/such/file", f->diag), -ENOENT);
	assert_int_equal(asterism_diag_count(f->diag, ASTERISM_NOTE), 0);
}

static void reading_twice_is_fine(void **state)
{
	struct fixture *f = *state;

	write_file(f->own, "a.events", "EVENT a { x: u8 }");
	write_file(f->installed, "a.events", "EVENT a { x: u8 }");
	assert_int_equal(event_catalog_read(f->catalog, f->own, "a.events", f->diag), 0);
	write_file(f->own, "a.events", "EVENT a { x: u16 }"); /* too late */
	assert_int_equal(event_catalog_read(f->catalog, f->own, "a.events", f->diag), 0);
	assert_int_equal(event_catalog_read(f->catalog, NULL, "a.events", f->diag), 0);
	assert_null(event_catalog_get(f->catalog, 1));
}

static void includes_are_found_beside_the_file_that_names_them(void **state)
{
	struct fixture *f = *state;
	char path[128];

	write_file(f->own, "a.events", "EVENTS \"b.events\"\nEVENTS \"c.events\"\nEVENT a {}");
	write_file(f->own, "b.events", "EVENT b {}");
	write_file(f->installed, "c.events", "EVENT c {}");
	snprintf(path, sizeof path, "%s/a.events", f->own);
	assert_int_equal(event_catalog_read(f->catalog, NULL, path, f->diag), 0);
	assert_string_equal(event_catalog_get(f->catalog, 0)->name, "b");
	assert_string_equal(event_catalog_get(f->catalog, 1)->name, "c");
	assert_string_equal(event_catalog_get(f->catalog, 2)->name, "a");
}

static void circles_come_to_an_end(void **state)
{
	struct fixture *f = *state;

	write_file(f->own, "a.events", "EVENTS \"b.events\"\nEVENT a {}");
	write_file(f->own, "b.events", "EVENTS \"a.events\"\nEVENT b {}");
	assert_int_equal(event_catalog_read(f->catalog, f->own, "a.events", f->diag), 0);
	assert_string_equal(event_catalog_get(f->catalog, 0)->name, "b");
	assert_string_equal(event_catalog_get(f->catalog, 1)->name, "a");
	/* This one names itself differently each time. */
	write_file(f->own, "c.events", "EVENTS \"./c.events\"");
	assert_int_equal(event_catalog_read(f->catalog, f->own, "c.events", f->diag), -EINVAL);
	assert_string_equal(asterism_diag_get(f->diag, 0)->text,
			    "catalogs include each other more than 16 levels deep");
}

static void errors_in_an_include_count(void **state)
{
	struct fixture *f = *state;

	write_file(f->own, "a.events", "EVENTS \"b.events\"\nEVENT a {}");
	write_file(f->own, "b.events", "\n EVENT 1");
	assert_int_equal(event_catalog_read(f->catalog, f->own, "a.events", f->diag), -EINVAL);
	assert_non_null(strstr(asterism_diag_get(f->diag, 0)->file, "/own/b.events"));
	assert_int_equal(asterism_diag_get(f->diag, 0)->line, 2);
	assert_string_equal(event_catalog_get(f->catalog, 0)->name, "a");
}

static void what_never_ends_is_not_read(void **state)
{
	struct fixture *f = *state;
	char path[128];

	snprintf(path, sizeof path, "%s/fifo", f->own);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(event_catalog_read(f->catalog, f->own, "fifo", f->diag), -EINVAL);
	assert_int_equal(event_catalog_read(f->catalog, NULL, "/dev/zero", f->diag), -EINVAL);
	assert_string_equal(last_message(f), "/dev/zero is not a regular file");
	write_file(f->own, "large", "");
	snprintf(path, sizeof path, "%s/large", f->own);
	assert_int_equal(truncate(path, (1 << 24) + 1), 0);
	assert_int_equal(event_catalog_read(f->catalog, f->own, "large", f->diag), -EINVAL);
	assert_non_null(strstr(last_message(f), "is too large for a catalog"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_own_folder_comes_first),  CASE(nothing_is_said_about_what_is_not_there),
		CASE(reading_twice_is_fine),       CASE(includes_are_found_beside_the_file_that_names_them),
		CASE(circles_come_to_an_end),      CASE(errors_in_an_include_count),
		CASE(what_never_ends_is_not_read), CASE(what_no_folder_has_is_built_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
