// SPDX-License-Identifier: BSD-2-Clause
#include "session/output/totals.h"

#include "base/alloc.h"

uint64_t session_totals_unread(const struct session_totals *totals)
{
	uint64_t unread = 0;

	for (uint32_t i = 0; i < totals->rule_count; i++)
		unread += totals->rules[i].unread;
	return unread;
}

uint64_t session_totals_calls_32bit(const struct session_totals *totals)
{
	uint64_t calls = totals->recording.calls_32bit;

	for (uint32_t i = 0; i < totals->rule_count; i++)
		if (totals->rules[i].calls_32bit > calls)
			calls = totals->rules[i].calls_32bit; /* the same ones for each */
	return calls;
}

uint64_t session_totals_io_uring(const struct session_totals *totals)
{
	uint64_t operations = totals->recording.io_uring;

	for (uint32_t i = 0; i < totals->rule_count; i++)
		if (totals->rules[i].io_uring > operations)
			operations = totals->rules[i].io_uring;
	return operations;
}

void session_totals_fini(struct session_totals *totals)
{
	alloc_free(totals->rules);
	program_why_free(totals->why);
	react_tallies_fini(&totals->tallies);
	session_refusals_fini(&totals->refusals);
	*totals = (struct session_totals){ 0 };
}

void session_refusals_fini(struct session_refusals *refusals)
{
	alloc_free(refusals->items);
	*refusals = (struct session_refusals){ 0 };
}
