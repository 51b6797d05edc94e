// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parses where a counter comes from:
 *
 * 	perf hardware NAME | perf software NAME | perf cache CACHE read|write|prefetch access|miss
 * 	perf raw:rHEX | perf raw:NUMBER | perf pmu:PMU:EVENT | perf pmu:PMU:TERM=NUMBER,TERM...
 * 	tracepoint SYSTEM:NAME
 * 	file "PATH" value | field NAME [column N+N] | table PREFIX NAME | disks column N+N | interfaces column N+N
 *
 * and after each TIMES NUMBER, then APPROXIMATES "what it counts instead".
 */

#include "counters/counters-priv.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMN_MAX = 63, PMU_TERMS_MAX = 256 };

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
static const char *const rows[] = { "field", "table", "disks", "interfaces", "value", NULL };

/* What follows the prefix, up to a blank. Returns 1, 0 where the next word has another prefix, or -ENOMEM. */
static int read_prefixed(struct counter_reading *reading, const char *prefix, const char **rest)
{
	const char *at = reading->at;
	size_t length = strlen(prefix);

	if ((size_t)(reading->end - at) < length || memcmp(at, prefix, length) != 0)
		return 0;
	at += length;
	length = 0;
	while (at + length < reading->end && (unsigned char)at[length] > ' ')
		length++;
	*rest = arena_text(reading->counters->arena, at, length);
	if (!*rest)
		return diag_no_memory(reading->diag);
	reading->at = at + length;
	counters_skip_blanks(reading);
	return 1;
}

/* As perf has it, "r1a8"; or a number as in C, decimal or hexadecimal. */
static int read_raw(struct counter_reading *reading, struct counter_source *source, const char *start,
		    const char *config)
{
	bool is_hex = config[0] == 'r' || (config[0] == '0' && config[1] == 'x');
	const char *digits = config + (config[0] == 'r' ? 1 : is_hex ? 2 : 0);

	errno = 0;
	source->perf_type = PERF_TYPE_RAW;
	source->config = strtoull(digits, NULL, is_hex ? 16 : 10);
	if (*digits && !digits[strspn(digits, is_hex ? "0123456789abcdefABCDEF" : "0123456789")] && !errno)
		return 0;
	reading->at = start;
	return counters_wrong(reading, NULL, "a raw event is raw:rHEX or raw:NUMBER, of 64 bits");
}

static bool is_made_of(const char *text, size_t length, const char *others)
{
	for (size_t i = 0; i < length; i++) {
		if (!isalnum((unsigned char)text[i]) && !strchr(others, text[i]))
			return false;
	}
	return length;
}

/* Names become parts of paths. Whether there are such ones only the machine knows. */
static int read_pmu(struct counter_reading *reading, struct counter_source *source, const char *start, const char *rest)
{
	const char *colon = strchr(rest, ':');
	const char *event = colon ? colon + 1 : "";
	size_t length = colon ? (size_t)(colon - rest) : 0, most = COUNTER_NAME_MAX;
	const char *others = "_-";

	if (strchr(event, '=')) {
		others = "_-=,";
		most = PMU_TERMS_MAX;
	}
	source->from = COUNTER_PMU;
	source->field = event;
	source->path = arena_text(reading->counters->arena, rest, length);
	if (!source->path)
		return diag_no_memory(reading->diag);
	if (*rest != '.' && length <= COUNTER_NAME_MAX && is_made_of(rest, length, "_-.*") && strlen(event) <= most &&
	    is_made_of(event, strlen(event), others))
		return 0;
	reading->at = start;
	return counters_wrong(reading, NULL, "an event of a PMU is pmu:PMU:EVENT or pmu:PMU:TERM=NUMBER,TERM=NUMBER");
}

static int read_perf(struct counter_reading *reading, struct counter_source *source)
{
	unsigned kind, name = 0, access = 0, outcome = 0;
	const char *start = reading->at, *rest;
	int result = read_prefixed(reading, "raw:", &rest);

	if (result)
		return result < 0 ? result : read_raw(reading, source, start, rest);
	result = read_prefixed(reading, "pmu:", &rest);
	if (result)
		return result < 0 ? result : read_pmu(reading, source, start, rest);
	result = counters_choice(reading, "hardware, software, cache, raw:CONFIG or pmu:PMU:EVENT", perf_kinds, &kind);
	if (result)
		return result;
	if (kind == 2) {
		result = counters_choice(reading, "a cache", caches, &name);
		if (!result)
			result = counters_choice(reading, "read, write or prefetch", accesses, &access);
		if (!result)
			result = counters_choice(reading, "access or miss", outcomes, &outcome);
		source->perf_type = PERF_TYPE_HW_CACHE;
		source->config = name | access << 8 | outcome << 16;
		return result;
	}
	result = counters_choice(reading, "an event of perf", kind ? software : hardware, &name);
	source->perf_type = kind ? PERF_TYPE_SOFTWARE : PERF_TYPE_HARDWARE;
	source->config = name;
	return result;
}

/* The name goes into a path. */
static int read_tracepoint(struct counter_reading *reading, struct counter_source *source)
{
	const char *start, *colon;
	int result;

	counters_skip_blanks(reading);
	start = reading->at;
	result = counters_word(reading, "SYSTEM:NAME", &source->path);
	if (result)
		return result;
	colon = strchr(source->path, ':');
	for (const char *at = source->path; *at; at++) {
		if (!colon || (at != colon && !isalnum((unsigned char)*at) && *at != '_' && *at != '-')) {
			reading->at = start;
			return counters_wrong(reading, NULL, "a tracepoint is SYSTEM:NAME");
		}
	}
	return 0;
}

static int read_columns(struct counter_reading *reading, struct counter_source *source)
{
	double number;

	if (!counters_pass(reading, "column"))
		return source->rows >= COUNTER_DISKS ? counters_wrong(reading, NULL, "expected 'column'") : 0;
	source->columns = 0;
	do {
		int result = counters_number(reading, &number);

		if (result)
			return result;
		if (number < 1 || number > COLUMN_MAX || number != (unsigned)number)
			return counters_wrong(reading, NULL, "columns are 1 to %d", COLUMN_MAX);
		source->columns |= UINT64_C(1) << (unsigned)number;
	} while (reading->at < reading->end && *reading->at == '+' && reading->at++);
	return 0;
}

static int read_source_file(struct counter_reading *reading, struct counter_source *source)
{
	unsigned choice;
	int result = counters_quoted(reading, "a path", &source->path);

	if (!result && strncmp(source->path, "/proc/", 6) != 0 && strncmp(source->path, "/sys/", 5) != 0)
		result = counters_wrong(reading, NULL, "counters are read only from files below /proc and /sys");
	if (!result && strstr(source->path, ".."))
		result = counters_wrong(reading, NULL, "the path has '..' in it");
	if (!result)
		result = counters_choice(reading, "value, field, table, disks or interfaces", rows, &choice);
	if (result)
		return result;
	source->rows = (enum counter_rows)choice;
	source->columns = 1 << 2;
	if (source->rows == COUNTER_TABLE)
		result = counters_word(reading, "what the lines of the table begin with", &source->table);
	if (!result && source->rows <= COUNTER_TABLE)
		result = counters_word(reading, "the name of a value", &source->field);
	if (!result && source->rows != COUNTER_TABLE && source->rows != COUNTER_VALUE)
		result = read_columns(reading, source);
	return result;
}

int counters_read_source(struct counter_reading *reading, struct counter_source **read)
{
	struct counter_source *source = arena_zero(reading->counters->arena, 1, sizeof *source);
	const char *start;
	size_t length;
	unsigned from;
	int result;

	if (!source)
		return diag_no_memory(reading->diag);
	counters_skip_blanks(reading);
	start = reading->at;
	result = counters_choice(reading, "perf, tracepoint or file", froms, &from);
	if (result)
		return result;
	source->from = (enum counter_from)from;
	source->times = 1;
	result = from == COUNTER_PERF         ? read_perf(reading, source)
		 : from == COUNTER_TRACEPOINT ? read_tracepoint(reading, source)
					      : read_source_file(reading, source);
	if (!result && counters_pass(reading, "TIMES"))
		result = counters_number(reading, &source->times);
	if (result)
		return result;
	length = (size_t)(reading->at - start);
	while (length && start[length - 1] == ' ')
		length--;
	source->text = arena_text(reading->counters->arena, start, length);
	if (!source->text)
		return diag_no_memory(reading->diag);
	if (counters_pass(reading, "APPROXIMATES"))
		result = counters_quoted(reading, "what it counts instead", &source->approximates);
	*read = source;
	return result;
}
