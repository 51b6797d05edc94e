// SPDX-License-Identifier: BSD-2-Clause
/*
 * Warns of rules for which events do not come in the order of time: an awaited call's event comes when its call ends
 * (docs/internals/kernel-sources.md), behind what the kernel has raised within that call. A rule that looks at strings
 * of calls and at such events as well is told so before it runs.
 */

#include "session/load/order.h"

#include "ebpf/kernel/attach-probe.h"
#include "ebpf/source/plan.h"
#include "program/reads.h"

#include <errno.h>
#include <string.h>

static const struct event_type *ordered_type(const struct program *program, struct event_catalog *catalog,
					     uint32_t type)
{
	return event_catalog_find(catalog, program_text(program, program->types[type].name));
}

/* Whether what the rule looks at in events of its type number may be awaited. -ENOMEM. */
static int may_wait(const struct program *program, struct event_catalog *catalog, uint32_t rule, uint32_t number)
{
	const struct event_type *type = ordered_type(program, catalog, number);
	bool may[EVENT_FIELDS_MAX] = { false }, reads[EVENT_FIELDS_MAX] = { false }, begins = false;

	if (!type)
		return 0;
	for (uint32_t i = 0; i < type->hook_count; i++)
		begins |= strcmp(type->hooks[i].tracepoint, "raw_syscalls:sys_enter") == 0;
	if (!begins)
		return 0;
	if (source_may_be_unread(type, type->own_count, may))
		return -ENOMEM;
	program_rule_reads(program, rule, number, reads);
	for (uint32_t i = 0; i < type->field_count; i++)
		if (may[i] && reads[i])
			return 1;
	return 0;
}

/* Whether a thread may raise events of the type within a call that has strings. */
static bool comes_within(const struct event_type *type)
{
	static const char *const never[] = { "raw_syscalls:", "sched:sched_process_", "task:" };

	for (uint32_t i = 0; type && i < type->hook_count; i++) {
		const char *tracepoint = type->hooks[i].tracepoint;
		bool is_outside = attach_is_probe(tracepoint); /* in user mode */

		for (size_t j = 0; j < sizeof never / sizeof *never; j++)
			is_outside |= strncmp(tracepoint, never[j], strlen(never[j])) == 0;
		if (!is_outside)
			return true;
	}
	return false;
}

int session_report_order(const struct program *program, struct event_catalog *catalog, uint32_t rule,
			 struct asterism_diag *diag)
{
	const struct program_rule *row = &program->rules[rule];
	const struct event_type *waiting = NULL, *within = NULL;

	for (uint32_t i = 0; i < row->over_count; i++) {
		uint32_t number = program->indices[row->first_over + i];
		const struct event_type *type = ordered_type(program, catalog, number);
		int may = may_wait(program, catalog, rule, number);

		if (may < 0)
			return diag_no_memory(diag);
		if (may)
			waiting = type;
		else if (comes_within(type))
			within = type;
	}
	if (waiting && within)
		diag_add(
			diag, ASTERISM_NOTE, NULL, NULL,
			"%s %s may see %s after %s of the same call, if the data that it compares is not in memory yet",
			program_sort(row), program_text(program, row->name), waiting->name, within->name);
	return 0;
}
