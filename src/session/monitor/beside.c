// SPDX-License-Identifier: BSD-2-Clause
/*
 * Separates the rules of a session that are evaluated without a promise: those that see an event of the kernel, and all
 * that EMIT connects with them.
 */

#include "session/monitor/beside.h"

#include "base/alloc.h"
#include "program/emissions.h"
#include "session/live/cgroups.h"

#include <errno.h>

/* A rule that floods must not keep its session from ending. */
enum { LAST_BATCHES = 64 };

struct beside {
	struct beside_options options;
	const struct program *program;
	bool *rules; /* per rule: it is one of them */
	struct executor *executor;
};

/* The first event of the kernel's that rule sees; NULL: none. */
static const char *kernel_event(const struct beside *beside, uint32_t rule)
{
	const struct program *program = beside->program;
	struct event_catalog *catalog = session_rules_catalog(beside->options.rules);

	for (uint32_t type = 0; type < program->type_count; type++) {
		const char *name = program_text(program, program->types[type].name);
		const struct event_type *known = event_catalog_find(catalog, name);

		if (!program->types[type].sensor && (!known || known->hook_count) &&
		    program_rule_sees(program, &program->rules[rule], type))
			return name;
	}
	return NULL;
}

static int take_connected(struct beside *beside, uint32_t rule, struct asterism_diag *diag)
{
	const struct program *program = beside->program;
	struct program_reached reached;

	if (program_reach(program, rule, PROGRAM_BOTH_WAYS, program->rule_count, &reached))
		return diag_no_memory(diag);
	for (uint32_t i = 0; i < reached.count; i++) {
		uint32_t other = reached.rules[i];

		if (!beside->rules[other])
			diag_add(diag, ASTERISM_NOTE, NULL, NULL,
				 "rule %s is not covered by the guarantee either: EMIT connects it with %s",
				 program_text(program, program->rules[other].name),
				 program_text(program, program->rules[rule].name));
		beside->rules[other] = true;
	}
	alloc_free(reached.rules);
	return 0;
}

/* Returns how many there are, -errno. */
static int find_rules_beside(struct beside *beside, struct asterism_diag *diag)
{
	const struct program *program = beside->program;
	int found = 0, result = 0;

	for (uint32_t i = 0; i < program->rule_count; i++) {
		const char *name = program_text(program, program->rules[i].name), *event = kernel_event(beside, i);

		beside->rules[i] = event != NULL;
		if (!event)
			continue;
		found++;
		if (program->rules[i].mode == PROGRAM_SYNCHRONOUS) {
			diag_error(diag, NULL, -EOPNOTSUPP,
				   "rule %s is SYNCHRONOUS and waits for %s, a kernel event: rules of a monitor cannot "
				   "act",
				   name, event);
			diag_hint(diag, "use 'asterism run' for it");
			return -EOPNOTSUPP;
		}
		diag_add(diag, ASTERISM_NOTE, NULL, NULL,
			 "rule %s is not covered by the guarantee: it waits for %s, a kernel event whose rate is "
			 "unknown; it runs as under 'asterism run'",
			 name, event);
	}
	for (uint32_t i = 0; i < program->rule_count && !result; i++)
		if (kernel_event(beside, i))
			result = take_connected(beside, i, diag);
	return result ? result : found;
}

int beside_new(const struct beside_options *options, struct asterism_diag *diag, struct beside **made)
{
	struct beside *beside = alloc_zero(1, sizeof *beside);
	int found;

	*made = NULL;
	if (!beside)
		return diag_no_memory(diag);
	beside->options = *options;
	beside->program = session_rules_program(options->rules);
	beside->rules = alloc_zero(beside->program->rule_count, sizeof *beside->rules);
	found = beside->rules ? find_rules_beside(beside, diag) : diag_no_memory(diag);
	if (found <= 0)
		beside_free(beside);
	else
		*made = beside;
	return found < 0 ? found : 0;
}

void beside_free(struct beside *beside)
{
	if (!beside)
		return;
	executor_free(beside->executor);
	alloc_free(beside->rules);
	alloc_free(beside);
}

bool beside_has(const struct beside *beside, uint32_t rule)
{
	return beside && beside->rules[rule];
}

int beside_start(struct beside *beside, struct asterism_diag *diag)
{
	if (!beside)
		return 0;
	const struct executor_options how = {
		.program = beside->program,
		.catalog = session_rules_catalog(beside->options.rules),
		.input = EXECUTOR_LIVE,
		.rules = beside->rules,
		.scope = beside->options.scope,
		.counts_why = beside->options.counts_why,
		.on_match = beside->options.on_match,
		.context = beside->options.context,
		.news = beside->options.diag,
	};
	int result;

	live_cgroups_warn(how.program, how.catalog, diag);
	result = executor_new(&how, diag, &beside->executor);
	if (!result)
		executor_attach(beside->executor, beside->options.aggregates);
	return result;
}

int beside_add(const struct beside *beside, pid_t pid)
{
	return beside ? executor_add(beside->executor, pid) : 0;
}

int beside_fd(const struct beside *beside)
{
	return beside ? executor_fd(beside->executor) : -1;
}

int beside_poll(const struct beside *beside, uint64_t *wait_ns)
{
	uint64_t wait = UINT64_MAX;
	int result = beside ? executor_poll(beside->executor, &wait) : 0;

	if (result == EXECUTOR_PAUSE)
		wait = 0;
	if (wait < *wait_ns)
		*wait_ns = wait;
	return result == EXECUTOR_PAUSE ? 0 : result;
}

int beside_finish(const struct beside *beside)
{
	uint64_t wait;
	int result, polled = EXECUTOR_PAUSE;

	if (!beside || !beside->executor)
		return 0;
	result = executor_finish(beside->executor);
	for (int i = 0; i < LAST_BATCHES && polled == EXECUTOR_PAUSE; i++)
		polled = executor_poll(beside->executor, &wait);
	return result ? result : polled == EXECUTOR_PAUSE ? 0 : polled;
}

void beside_count(const struct beside *beside, struct program_rule_stats *rules, struct program_why *why,
		  struct beside_counts *counts)
{
	struct session_totals totals = { .rules = rules };

	*counts = (struct beside_counts){ 0 };
	if (!beside || !beside->executor)
		return;
	totals.rule_count = beside->program->rule_count;
	executor_count(beside->executor, &totals);
	if (why)
		executor_count_why(beside->executor, why);
	/* Those of sensors are the monitor's, which has read them as well. */
	counts->events = totals.events - totals.sensors.events;
	counts->lost = totals.lost - totals.sensors.lost - totals.sensors.gaps;
	for (uint32_t i = 0; i < beside->program->rule_count; i++)
		counts->rules += beside->rules[i];
}
