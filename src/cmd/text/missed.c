// SPDX-License-Identifier: BSD-2-Clause
/* What rules did not see, and which rules. */

#include "cmd/text/missed.h"

#include "cli/print.h"

#include <inttypes.h>
#include <stdio.h>

enum {
	EACH_MAX = 5,  /* so many rules have a line each */
	NAMED_MAX = 8, /* of the rules of one line */
	NAMES_BYTES = 600,
	LAST_BYTES = 128,
};

struct missed_kind {
	size_t counter; /* in program_rule_stats */
	const char *one, *many;
	const char *why, *hint;
	uint64_t (*total)(const struct session_totals *totals); /* of rules, and of a recording beside them */
	bool at_once;
};

static const struct missed_kind kinds[] = {
	{ offsetof(struct program_rule_stats, unread), "event completely", "events completely",
	  "a string could not be read, or was truncated",
	  "possible reasons: an invalid address; memory that was still not loaded when the call ended; "
	  "more than 4,096 calls waiting for their strings; a string that fills its field while the rule looks "
	  "at its end; a path of more than 255 bytes or 48 components; a cgroup more than 48 deep. "
	  "'asterism record' and 'asterism dump' show the calls",
	  session_totals_unread, false },
	{ offsetof(struct program_rule_stats, calls_32bit), "32-bit system call", "32-bit system calls",
	  "the kernel raises no event for them",
	  "i386 programs make such calls, and any program can (int 0x80); a rule with CALL Veto() ends "
	  "a program that does, and booting with ia32_emulation=0 disables them",
	  session_totals_calls_32bit, true },
	{ offsetof(struct program_rule_stats, io_uring), "operation of io_uring", "operations of io_uring",
	  "they are not system calls",
	  "rules over sys_enter_io_uring_setup find who uses io_uring; one with CALL Veto() refuses it "
	  "there, and the sysctl kernel.io_uring_disabled forbids it",
	  session_totals_io_uring, true },
};

enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]) };

static uint64_t missed_by(const struct program_rule_stats *stats, const struct missed_kind *kind)
{
	return *(const uint64_t *)((const char *)stats + kind->counter);
}

static uint64_t missed_count(const struct session_totals *totals, const struct missed_kind *kind, uint32_t rule)
{
	return missed_by(&totals->rules[rule], kind);
}

/* "; the last one: sys_enter_openat of process 5" of what was not seen completely, as far as it is known. */
static void name_last(const struct program *program, const struct program_rule_stats *stats,
		      const struct missed_kind *kind, char text[static LAST_BYTES])
{
	int length;

	text[0] = 0;
	if (kind->counter != offsetof(struct program_rule_stats, unread) || !stats->unread_type)
		return;
	length = snprintf(text, LAST_BYTES, "; %s: %.64s", stats->unread == 1 ? "it was" : "the last one",
			  program_text(program, program->types[stats->unread_type - 1].name));
	if (stats->unread_pid)
		snprintf(text + length, LAST_BYTES - (size_t)length, " of process %" PRIu32, stats->unread_pid);
}

static void warn_of_rule(const struct program *program, uint32_t rule, const struct missed_kind *kind,
			 const struct program_rule_stats *stats)
{
	uint64_t count = missed_by(stats, kind);
	char last[LAST_BYTES];

	name_last(program, stats, kind, last);
	cli_warning("%s %s did not see %" PRIu64 " %s: %s; matches may be missing%s",
		    program_sort(&program->rules[rule]), program_text(program, program->rules[rule].name), count,
		    count == 1 ? kind->one : kind->many, kind->why, last);
}

/* ": a, b and 3 more", of all rules that missed so many. */
static void name_rules(const struct program *program, const struct session_totals *totals,
		       const struct missed_kind *kind, uint32_t first, char text[static NAMES_BYTES])
{
	uint64_t count = missed_count(totals, kind, first);
	uint32_t rules = 0;
	size_t length = 0;

	for (uint32_t i = first; i < totals->rule_count; i++) {
		if (missed_count(totals, kind, i) != count || rules++ >= NAMED_MAX)
			continue;
		length += (size_t)snprintf(text + length, NAMES_BYTES - length, "%s%.64s", rules == 1 ? ": " : ", ",
					   program_text(program, program->rules[i].name));
	}
	if (rules > NAMED_MAX)
		snprintf(text + length, NAMES_BYTES - length, " and %u more", rules - NAMED_MAX);
}

static uint32_t count_like(const struct session_totals *totals, const struct missed_kind *kind, uint32_t rule)
{
	uint32_t count = 0;

	for (uint32_t i = rule; i < totals->rule_count; i++)
		count += missed_count(totals, kind, i) == missed_count(totals, kind, rule);
	return count;
}

static bool is_first(const struct session_totals *totals, const struct missed_kind *kind, uint32_t rule)
{
	for (uint32_t i = 0; i < rule; i++)
		if (missed_count(totals, kind, i) == missed_count(totals, kind, rule))
			return false;
	return true;
}

static void report_rules(const struct program *program, const struct session_totals *totals,
			 const struct missed_kind *kind, uint32_t rule)
{
	uint64_t count = missed_count(totals, kind, rule);
	uint32_t rules = count_like(totals, kind, rule);
	char names[NAMES_BYTES], last[LAST_BYTES];

	if (rules <= EACH_MAX) {
		for (uint32_t i = rule; i < totals->rule_count; i++)
			if (missed_count(totals, kind, i) == count)
				warn_of_rule(program, i, kind, &totals->rules[i]);
		return;
	}
	name_rules(program, totals, kind, rule, names);
	name_last(program, &totals->rules[rule], kind, last);
	cli_warning("%u rules did not see %" PRIu64 " %s: %s; matches may be missing%s%s", rules, count,
		    count == 1 ? kind->one : kind->many, kind->why, names, last);
}

void missed_tell(const struct program *program, uint32_t rule, const struct program_rule_stats *stats, unsigned *told)
{
	for (size_t k = 0; k < KIND_COUNT; k++) {
		uint64_t count = missed_by(stats, &kinds[k]);

		if (!kinds[k].at_once || !count || *told & 1U << k)
			continue;
		*told |= 1U << k;
		warn_of_rule(program, rule, &kinds[k], stats);
	}
}

void missed_report(const struct program *program, const struct session_totals *totals)
{
	for (size_t k = 0; k < KIND_COUNT; k++) {
		for (uint32_t i = 0; i < totals->rule_count; i++)
			if (missed_count(totals, &kinds[k], i) && is_first(totals, &kinds[k], i))
				report_rules(program, totals, &kinds[k], i);
		if (kinds[k].total(totals))
			cli_hint("%s", kinds[k].hint);
	}
}
