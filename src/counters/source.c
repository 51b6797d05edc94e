// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides how a catalog says where a counter is to be had:
 *
 *	perf hardware NAME | perf software NAME | perf cache CACHE read|write|prefetch access|miss
 *	tracepoint SYSTEM:NAME
 *	file "PATH" field NAME [column N+N] | table PREFIX NAME | disks column N+N | interfaces column N+N, [TIMES
 *NUMBER]
 *
 * and after each APPROXIMATES "what it counts instead".
 */

#include "counters/counters-priv.h"

#include <ctype.h>
#include <linux/perf_event.h>
#include <string.h>

enum { COLUMN_MAX = 63 };

static const char *const froms[] = { "perf", "tracepoint", "file", NULL };
static const char *const perf_kinds[] = { "hardware", "software", "cache", NULL };

/* In the order of PERF_COUNT_HW_*, PERF_COUNT_SW_*, PERF_COUNT_HW_CACHE_*. */
static const char *const hardware[] = { "cpu-cycles",
					"instructions",
					"cache-references",
					"cache-misses",
					"branch-instructions",
					"branch-misses",
					"bus-cycles",
					"stalled-cycles-frontend",
					"stalled-cycles-backend",
					"ref-cycles",
					NULL };
static const char *const software[] = {
	"cpu-clock",    "task-clock",   "page-faults",      "context-switches", "cpu-migrations",
	"minor-faults", "major-faults", "alignment-faults", "emulation-faults", NULL
};
static const char *const caches[] = { "L1D", "L1I", "LL", "DTLB", "ITLB", "BPU", "NODE", NULL };
static const char *const accesses[] = { "read", "write", "prefetch", NULL };
static const char *const outcomes[] = { "access", "miss", NULL };
static const char *const rows[] = { "field", "table", "disks", "interfaces", NULL };

static int read_perf(struct counter_reading *reading, struct counter_source *source)
{
	unsigned kind, name = 0, access = 0, outcome = 0;
	int result = counter_choice(reading, "hardware, software or cache", perf_kinds, &kind);

	if (result)
		return result;
	if (kind == 2) {
		result = counter_choice(reading, "a cache", caches, &name);
		if (!result)
			result = counter_choice(reading, "read, write or prefetch", accesses, &access);
		if (!result)
			result = counter_choice(reading, "access or miss", outcomes, &outcome);
		source->perf_type = PERF_TYPE_HW_CACHE;
		source->config = name | access << 8 | outcome << 16;
		return result;
	}
	result = counter_choice(reading, "an event of perf", kind ? software : hardware, &name);
	source->perf_type = kind ? PERF_TYPE_SOFTWARE : PERF_TYPE_HARDWARE;
	source->config = name;
	return result;
}

/* The name goes into a path. */
static int read_tracepoint(struct counter_reading *reading, struct counter_source *source)
{
	const char *start, *colon;
	int result;

	counter_skip_blanks(reading);
	start = reading->at;
	result = counter_word(reading, "SYSTEM:NAME", &source->path);
	if (result)
		return result;
	colon = strchr(source->path, ':');
	for (const char *at = source->path; *at; at++) {
		if (!colon || (at != colon && !isalnum((unsigned char)*at) && *at != '_' && *at != '-')) {
			reading->at = start;
			return counter_wrong(reading, NULL, "a tracepoint is SYSTEM:NAME");
		}
	}
	return 0;
}

static int read_columns(struct counter_reading *reading, struct counter_source *source)
{
	double number;

	if (!counter_pass(reading, "column"))
		return source->rows >= COUNTER_DISKS ? counter_wrong(reading, NULL, "'column' was expected") : 0;
	source->columns = 0;
	do {
		int result = counter_number(reading, &number);

		if (result)
			return result;
		if (number < 1 || number > COLUMN_MAX || number != (unsigned)number)
			return counter_wrong(reading, NULL, "columns are 1 to %d", COLUMN_MAX);
		source->columns |= UINT64_C(1) << (unsigned)number;
	} while (reading->at < reading->end && *reading->at == '+' && reading->at++);
	return 0;
}

static int read_file(struct counter_reading *reading, struct counter_source *source)
{
	unsigned choice;
	int result = counter_quoted(reading, "a path", &source->path);

	if (!result && strncmp(source->path, "/proc/", 6) != 0 && strncmp(source->path, "/sys/", 5) != 0)
		result = counter_wrong(reading, NULL, "counters are read only from files below /proc and /sys");
	if (!result && strstr(source->path, ".."))
		result = counter_wrong(reading, NULL, "the path has '..' in it");
	if (!result)
		result = counter_choice(reading, "field, table, disks or interfaces", rows, &choice);
	if (result)
		return result;
	source->rows = (enum counter_rows)choice;
	source->columns = 1 << 2;
	if (source->rows == COUNTER_TABLE)
		result = counter_word(reading, "what the lines of the table begin with", &source->table);
	if (!result && source->rows <= COUNTER_TABLE)
		result = counter_word(reading, "the name of a value", &source->field);
	if (!result && source->rows != COUNTER_TABLE)
		result = read_columns(reading, source);
	if (!result && counter_pass(reading, "TIMES"))
		result = counter_number(reading, &source->times);
	return result;
}

int counter_read_source(struct counter_reading *reading, struct counter_source **read)
{
	struct counter_source *source = arena_zero(reading->counters->arena, 1, sizeof *source);
	const char *start;
	size_t length;
	unsigned from;
	int result;

	if (!source)
		return diag_no_memory(reading->diag);
	counter_skip_blanks(reading);
	start = reading->at;
	result = counter_choice(reading, "perf, tracepoint or file", froms, &from);
	if (result)
		return result;
	source->from = (enum counter_from)from;
	source->times = 1;
	result = from == COUNTER_PERF         ? read_perf(reading, source)
		 : from == COUNTER_TRACEPOINT ? read_tracepoint(reading, source)
					      : read_file(reading, source);
	if (result)
		return result;
	length = (size_t)(reading->at - start);
	while (length && start[length - 1] == ' ')
		length--;
	source->text = arena_text(reading->counters->arena, start, length);
	if (!source->text)
		return diag_no_memory(reading->diag);
	if (counter_pass(reading, "APPROXIMATES"))
		result = counter_quoted(reading, "what it counts instead", &source->approximates);
	*read = source;
	return result;
}
