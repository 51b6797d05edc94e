// SPDX-License-Identifier: BSD-2-Clause
/* Finds the files of tests. What looks like a part of one but belongs to none is an error, not silence. */

#include "cmd/ruletest/find.h"

#include "base/alloc.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const endings[] = {
	[TEST_EVENTS] = ".jsonl",
	[TEST_PROGRAM] = ".events",
	[TEST_LIVE] = ".sh",
};

#define KINDS (sizeof endings / sizeof *endings)

static int say_find_error(struct asterism_diag *diag, const char *file, const char *hint, const char *text)
{
	struct diag_source source = { .file = file };

	diag_add(diag, ASTERISM_ERROR, &(struct diag_location){ .source = &source }, hint, "%s", text);
	return -EINVAL;
}

static bool has_ending(const char *name, const char *ending)
{
	size_t length = strlen(name), ending_length = strlen(ending);

	return length > ending_length && strcmp(name + length - ending_length, ending) == 0;
}

static bool is_folder(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* The names in a folder, sorted; hidden ones are left out. */
struct names {
	struct dirent **rows;
	int count;
};

static int is_file_shown(const struct dirent *row)
{
	return row->d_name[0] != '.';
}

static int list_tests(const char *path, struct names *names, struct asterism_diag *diag)
{
	int count = scandir(path, &names->rows, is_file_shown, alphasort);

	names->count = count < 0 ? 0 : count;
	if (count >= 0)
		return 0;
	names->rows = NULL;
	return errno == ENOENT || errno == ENOTDIR ? say_find_error(diag, path, NULL, "no such directory")
						   : say_find_error(diag, path, NULL, strerror(errno));
}

static void free_names(struct names *names)
{
	for (int i = 0; i < names->count; i++)
		free(names->rows[i]);
	free(names->rows);
}

static char *join_file_name(const char *folder, const char *name, const char *ending)
{
	size_t size = strlen(folder) + strlen(name) + strlen(ending) + 2;
	char *path = alloc_zero(size, 1);

	if (path)
		snprintf(path, size, "%s/%s%s", folder, name, ending);
	return path;
}

static void free_folder(struct test_folder *folder)
{
	for (size_t i = 0; i < folder->rule_count; i++)
		alloc_free((void *)folder->rules[i].path);
	alloc_free(folder->rules);
	alloc_free(folder->name);
	alloc_free(folder->path);
	alloc_free(folder);
}

static int add_folder_rules(struct test_folder *folder, const struct names *names)
{
	for (int i = 0; i < names->count; i++) {
		const char *name = names->rows[i]->d_name;

		if (!has_ending(name, ".rule"))
			continue;
		if (alloc_grow(&folder->rules, &folder->rule_capacity, folder->rule_count, sizeof *folder->rules))
			return -ENOMEM;
		folder->rules[folder->rule_count].path = join_file_name(folder->path, name, "");
		if (!folder->rules[folder->rule_count++].path)
			return -ENOMEM;
	}
	return 0;
}

static int check_case(const struct test_case *test, const char *expect, struct asterism_diag *diag)
{
	if (access(expect, R_OK))
		return say_find_error(diag, test->source, "create one; an empty file expects that nothing matches",
				      "this test has no .expect file of the same name");
	if (test->kind != TEST_EVENTS && access(test->source, X_OK))
		return say_find_error(diag, test->source, "make it executable with chmod +x",
				      "this script is not executable");
	return 0;
}

/* The last folder's test whose source is name in path, the folder of its tests. */
static int add_case(struct test_suite *suite, const char *path, const char *name, enum test_kind kind,
		    struct asterism_diag *diag)
{
	struct test_folder *folder = suite->folders[suite->folder_count - 1];
	size_t length = strlen(name) - strlen(endings[kind]);
	struct test_case *test;
	char stem[NAME_MAX + 1];

	if (alloc_grow(&suite->cases, &suite->case_capacity, suite->case_count, sizeof *suite->cases))
		return diag_no_memory(diag);
	snprintf(stem, sizeof stem, "%.*s", (int)length, name);
	test = &suite->cases[suite->case_count++];
	*test = (struct test_case){
		.folder = folder,
		.kind = kind,
		.name = join_file_name(folder->name, name, ""),
		.source = join_file_name(path, name, ""),
		.expect = join_file_name(path, stem, ".expect"),
		.set = join_file_name(path, stem, ".set"),
	};
	if (!test->name || !test->source || !test->expect || !test->set)
		return diag_no_memory(diag);
	if (access(test->set, F_OK)) {
		alloc_free(test->set);
		test->set = NULL;
	}
	return check_case(test, test->expect, diag);
}

/* An .expect that no test uses was meant for something. */
static int check_orphan(const char *path, const char *name, const struct names *names, struct asterism_diag *diag)
{
	size_t stem = strlen(name) - strlen(strrchr(name, '.'));
	char *orphan;
	int result;

	for (int i = 0; i < names->count; i++) {
		const char *other = names->rows[i]->d_name;

		for (size_t kind = 0; kind < KINDS; kind++) {
			if (strncmp(other, name, stem) == 0 && strcmp(other + stem, endings[kind]) == 0)
				return 0;
		}
	}
	orphan = join_file_name(path, name, "");
	result = orphan ? say_find_error(diag, orphan, "next to it there must be NAME.jsonl, NAME.events or NAME.sh",
					 "there is no test with this name")
			: diag_no_memory(diag);
	alloc_free(orphan);
	return result;
}

static int add_test_name(struct test_suite *suite, const char *path, const char *name, struct asterism_diag *diag)
{
	for (enum test_kind kind = 0; kind < KINDS; kind++) {
		if (has_ending(name, endings[kind])) {
			suite->folders[suite->folder_count - 1]->test_count++;
			return add_case(suite, path, name, kind, diag);
		}
	}
	return 0;
}

static int add_cases(struct test_suite *suite, struct test_folder *folder, struct asterism_diag *diag)
{
	char *path = join_file_name(folder->path, "tests", "");
	struct names names;
	int result = path ? 0 : diag_no_memory(diag);

	if (result || !is_folder(path)) {
		alloc_free(path);
		return result;
	}
	result = list_tests(path, &names, diag);
	for (int i = 0; !result && i < names.count; i++) {
		const char *name = names.rows[i]->d_name;

		if (has_ending(name, ".expect") || has_ending(name, ".set"))
			result = check_orphan(path, name, &names, diag);
		else
			result = add_test_name(suite, path, name, diag);
	}
	free_names(&names);
	alloc_free(path);
	return result;
}

/* 1: the folder has rules, and its tests are in the suite now; 0: it has none. */
static int add_folder(struct test_suite *suite, const char *path, struct asterism_diag *diag)
{
	struct test_folder *folder = alloc_zero(1, sizeof *folder);
	char *real = realpath(path, NULL);
	struct names names = { 0 };
	int result = -ENOMEM;

	if (folder && real &&
	    !alloc_grow(&suite->folders, &suite->folder_capacity, suite->folder_count, sizeof *suite->folders)) {
		const char *slash = strrchr(real, '/');

		suite->folders[suite->folder_count++] = folder;
		folder->path = alloc_text(real);
		folder->name = alloc_text(slash[1] ? slash + 1 : slash);
		result = folder->path && folder->name ? list_tests(path, &names, diag) : -ENOMEM;
	} else {
		alloc_free(folder);
		folder = NULL;
	}
	if (!result)
		result = add_folder_rules(folder, &names);
	free_names(&names);
	free(real);
	if (result == -ENOMEM)
		diag_no_memory(diag);
	if (!result && folder->rule_count) {
		result = add_cases(suite, folder, diag);
		return result ? result : 1;
	}
	if (folder) {
		suite->folder_count--;
		free_folder(folder);
	}
	return result;
}

static int add_folders_in(struct test_suite *suite, const char *path, struct asterism_diag *diag)
{
	struct names names;
	int result = list_tests(path, &names, diag);
	bool found = false;

	for (int i = 0; i < names.count && result >= 0; i++) {
		char *below = join_file_name(path, names.rows[i]->d_name, "");

		if (!below)
			result = diag_no_memory(diag);
		else if (is_folder(below))
			result = add_folder(suite, below, diag);
		alloc_free(below);
		found |= result > 0;
		if (result > 0)
			result = 0;
	}
	free_names(&names);
	if (!result && !found)
		result = say_find_error(diag, path,
					"a directory of rules has NAME.rule files, and their tests in tests/",
					"neither this directory nor its subdirectories have rules");
	return result;
}

int test_find(struct test_suite *suite, const char *path, struct asterism_diag *diag)
{
	int result;

	if (!is_folder(path))
		return say_find_error(diag, path, NULL,
				      access(path, F_OK) ? "no such directory" : "this is not a directory");
	result = add_folder(suite, path, diag);
	if (result == 0)
		result = add_folders_in(suite, path, diag);
	return result < 0 ? result : 0;
}

void test_suite_fini(struct test_suite *suite)
{
	for (size_t i = 0; i < suite->case_count; i++) {
		alloc_free(suite->cases[i].name);
		alloc_free(suite->cases[i].source);
		alloc_free(suite->cases[i].expect);
		alloc_free(suite->cases[i].set);
	}
	for (size_t i = 0; i < suite->folder_count; i++)
		free_folder(suite->folders[i]);
	alloc_free(suite->cases);
	alloc_free(suite->folders);
	*suite = (struct test_suite){ 0 };
}
