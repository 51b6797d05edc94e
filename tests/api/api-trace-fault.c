// SPDX-License-Identifier: BSD-2-Clause
/*
 * Traces opened and read with every allocation failing in turn: -ENOMEM with a sentence each time, or all is well, and
 * nothing is left behind. Argument: make-trace.
 */

#include "base/alloc.h"

#include <asterism/asterism.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EVENTS = 40, EVERY_ONE = 500, RARER = 37 };

static const char *const paths[] = { "a", "lines", "b" };

static int count_descriptors(void)
{
	DIR *listing = opendir("/proc/self/fd");
	int count = 0;

	while (listing && readdir(listing))
		count++;
	if (listing)
		closedir(listing);
	return count;
}

/* Returns the events, or the error. */
static int use(struct asterism_trace *trace)
{
	char line[4096];
	int item, count = 0;

	while ((item = asterism_trace_next(trace)) > 0) {
		int result = asterism_trace_json(trace, line, sizeof line);

		if (result >= 0)
			result = asterism_trace_field_text(trace, 0, line, sizeof line);
		if (result < 0 && result != -EINVAL)
			return result;
		count++;
	}
	if (item < 0 && !asterism_diag_count(asterism_trace_diag(trace), ASTERISM_ERROR))
		return -EPROTO;
	return item < 0 ? item : count;
}

static int attempt(unsigned long failing, struct asterism_diag *diag)
{
	const uint32_t cpus[] = { 0, 1 };
	const struct asterism_trace_options options = {
		.size = sizeof options, .events = "*tick,*a*,*i*,sys_*", .cpus = cpus, .cpu_count = 2
	};
	struct asterism_trace *trace = NULL;
	int result;

	asterism_diag_clear(diag);
	alloc_fail_at(failing);
	result = asterism_trace_open(paths, 3, &options, diag, &trace);
	if (result && !asterism_diag_count(diag, ASTERISM_ERROR))
		result = -EPROTO;
	if (!result)
		result = use(trace);
	alloc_fail_at(0);
	asterism_trace_free(trace);
	return result;
}

int main(int argc, char **argv)
{
	char folder[] = "/tmp/asterism-api-trace-fault-XXXXXX", command[4096];
	struct asterism_diag *diag = asterism_diag_new();
	char *maker = argc == 2 ? realpath(argv[1], NULL) : NULL;
	unsigned long failing = 1;
	int before, result;

	if (!diag || !maker || !mkdtemp(folder) || chdir(folder))
		return 2;
	snprintf(command, sizeof command,
		 "%s -n %d a && %s -n %d b && echo '{\"event\":\"sys_enter_getppid\",\"ts\":1,\"cpu\":0}' >lines",
		 maker, EVENTS, maker, EVENTS);
	if (system(command))
		return 2;
	before = count_descriptors();
	while ((result = attempt(failing, diag)) == -ENOMEM && count_descriptors() == before)
		failing += failing < EVERY_ONE ? 1 : RARER;
	printf("%lu allocations, then %d; %d descriptors, %d before\n", failing, result, count_descriptors(), before);
	asterism_diag_free(diag);
	free(maker);
	if (chdir("/") || snprintf(command, sizeof command, "rm -r %s", folder) < 0 || system(command))
		return 2;
	return result == 2 * EVENTS + 1 && count_descriptors() == before ? 0 : 1;
}
