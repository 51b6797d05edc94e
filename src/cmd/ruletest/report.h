/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_RULETEST_REPORT_H
#define CMD_RULETEST_REPORT_H

/* What people and programs see of tests. */

#include "cmd/ruletest/run.h"

#include <stdbool.h>
#include <stdio.h>

enum test_format { TEST_TEXT, TEST_TAP, TEST_JSON };

struct test_report {
	enum test_format format;
	bool verbose;  /* show the matches of tests that passed as well */
	bool quiet;    /* say nothing of tests that passed */
	bool progress; /* standard error is a terminal: show there which test is running */
	size_t planned;
	size_t passed, failed, skipped, wrong; /* wrong ones count as failed, too */
};

void test_report_begin(const struct test_report *report);
void test_report_running(const struct test_report *report, const char *name);
void test_report_result(struct test_report *report, const char *name, const struct test_outcome *outcome);
void test_report_end(const struct test_report *report);

#endif
