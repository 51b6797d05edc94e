// SPDX-License-Identifier: BSD-2-Clause
/* Creates and removes the directory in which tests leave what they make. */

#include "cmd/ruletest/run.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FOLDERS_OPEN = 16 };

int test_scratch_make(struct test_scratch *scratch)
{
	const char *folder = getenv("TMPDIR");
	int length = snprintf(scratch->path, sizeof scratch->path, "%s/asterism-test-XXXXXX",
			      folder && *folder == '/' ? folder : "/tmp");

	if (length >= (int)sizeof scratch->path)
		snprintf(scratch->path, sizeof scratch->path, "/tmp/asterism-test-XXXXXX");
	return mkdtemp(scratch->path) ? 0 : -errno;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)status, (void)type, (void)place;
	remove(path);
	return 0;
}

void test_scratch_remove(const struct test_scratch *scratch)
{
	nftw(scratch->path, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
