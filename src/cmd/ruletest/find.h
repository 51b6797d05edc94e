/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_RULETEST_FIND_H
#define CMD_RULETEST_FIND_H

/* The tests that folders hold, as docs/rule-tests.md lays them out. */

#include "base/diag.h"
#include "session/load/rules.h"

#include <stddef.h>

enum test_kind {
	TEST_EVENTS,  /* NAME.jsonl: the events */
	TEST_PROGRAM, /* NAME.events: a program that writes them */
	TEST_LIVE,    /* NAME.sh: a program that is observed */
};

struct test_folder {
	char *name;                       /* the last part of its path */
	char *path;                       /* absolute */
	struct session_rules_file *rules; /* their paths are the folder's own */
	size_t rule_count, rule_capacity;
	size_t test_count;
};

struct test_case {
	const struct test_folder *folder;
	enum test_kind kind;
	char *name;   /* FOLDER/NAME.jsonl and so on */
	char *source; /* the path of NAME.jsonl, NAME.events or NAME.sh */
	char *expect; /* of NAME.expect */
	char *set;    /* of NAME.set; NULL: there is none */
};

struct test_suite {
	struct test_folder **folders;
	size_t folder_count, folder_capacity;
	struct test_case *cases; /* in the order of the folders, by name in each */
	size_t case_count, case_capacity;
};

/*
 * Adds the tests of the folder at path: those of its rules or, where it has none, those of the folders in it. Returns
 * 0; -EINVAL (no such folder, no rules in it, a test without what it needs: the diag says it), -ENOMEM.
 */
int test_find(struct test_suite *suite, const char *path, struct asterism_diag *diag);
void test_suite_fini(struct test_suite *suite);

#endif
