/* SPDX-License-Identifier: BSD-2-Clause */
/* Who made the most system calls in traces, and how many of them failed:  trace-top TRACE... */
#include <asterism/asterism.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct row {
	char name[64];
	unsigned long calls, failed;
} rows[4096]; /* the last: those without a row of their own */

int main(int argc, char **argv)
{
	struct asterism_trace_options options = { .size = sizeof options, .events = "sys_exit*" };
	struct asterism_trace_stats stats = { .size = sizeof stats };
	struct asterism_event event = { .size = sizeof event };
	struct asterism_diag *diag = asterism_diag_new();
	struct row *row, *end = rows + sizeof rows / sizeof *rows - 1;
	struct asterism_trace *trace;
	struct asterism_value ret;
	int item;

	if (asterism_trace_open((const char *const *)argv + 1, (size_t)argc - 1, &options, diag, &trace))
		return fprintf(stderr, "%s\n", asterism_diag_get(diag, 0)->text), 1;
	while ((item = asterism_trace_next(trace)) == ASTERISM_TRACE_EVENT || item == ASTERISM_TRACE_LOSS ||
	       item == -EINVAL) {
		if (item < 0)
			fprintf(stderr, "%s\n", asterism_diag_get(asterism_trace_diag(trace), 0)->text);
		if (asterism_trace_event(trace, &event) || asterism_trace_field_find(trace, "ret", &ret))
			continue;
		for (row = rows; row < end && *row->name && strcmp(row->name, event.comm); row++)
			;
		snprintf(row->name, sizeof row->name, "%s", row == end ? "(others)" : event.comm);
		row->calls++;
		row->failed += ret.as.i64 < 0;
	}
	for (row = rows; row <= end; row++)
		if (row->calls)
			printf("%10lu calls %8lu failed  %s\n", row->calls, row->failed, row->name);
	asterism_trace_stats(trace, &stats);
	printf("%lu events read, %lu lost\n", (unsigned long)stats.read, (unsigned long)stats.lost);
	if (item < 0)
		fprintf(stderr, "%s\n", asterism_diag_get(asterism_trace_diag(trace), 0)->text);
	asterism_trace_free(trace);
	asterism_diag_free(diag);
	return item < 0 || stats.damaged;
}
