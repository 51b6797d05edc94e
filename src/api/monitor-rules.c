// SPDX-License-Identifier: BSD-2-Clause
/*
 * Turns the rules of a unit into an evaluation of a monitor, which knows sensors by other numbers than the unit's
 * program does.
 */

#include "api/monitor-priv.h"

#include "base/alloc.h"
#include "program/calls.h"
#include "program/query.h"
#include "session/monitor/rules.h"

#include <errno.h>
#include <string.h>

enum { MATCHES_BYTES = 1 << 20 };

struct attached {
	struct attached *next;
	struct asterism_monitor *monitor; /* NULL: it is a twin, whose matches nobody gets */
	struct asterism_rules *unit;
	struct monitor_rules *rules;
	struct monitor_queue matches;
	uint32_t *types; /* of the program, per number of a sensor; PROGRAM_NONE: it does not know it */
	uint32_t count;
	struct event_header *record; /* as the program is to get it */
	int64_t name;
};

/* ---- evaluation */

static void commit_attached(void *context, bool ok, const struct monitor_element *element)
{
	const struct attached *attached = context;
	struct monitor_element own = *element;

	if (!ok || element->sensor >= attached->count || attached->types[element->sensor] == PROGRAM_NONE)
		return;
	memcpy(attached->record, element->data, element->bytes);
	attached->record->type = attached->types[element->sensor] | (element->is_late ? EVENT_LATE : 0);
	own.sensor = attached->types[element->sensor];
	own.data = attached->record;
	monitor_rules_kind.commit(attached->rules, ok, &own);
}

static void lose_rule_events(void *context, uint64_t lost)
{
	monitor_rules_kind.lose(((struct attached *)context)->rules, lost);
}

static void pass_attached(void *context, uint64_t now_ns)
{
	monitor_rules_kind.pass(((struct attached *)context)->rules, now_ns);
}

static void free_attached(struct attached *attached)
{
	if (!attached)
		return;
	monitor_rules_free(attached->rules);
	monitor_queue_fini(&attached->matches);
	alloc_free(attached->types);
	alloc_free(attached->record);
	alloc_free(attached);
}

/* What the rules have counted becomes their unit's past. */
static void keep_counts(const struct attached *attached)
{
	struct asterism_rules *unit = attached->unit;

	for (uint32_t i = 0; i < unit->program->rule_count; i++) {
		struct program_rule_stats *past = &unit->past.rules[i], stats;

		monitor_rules_stats(attached->rules, i, &stats);
		past->matches += stats.matches;
		past->runs_opened += stats.runs_opened;
		past->runs_live_max =
			stats.runs_live_max > past->runs_live_max ? stats.runs_live_max : past->runs_live_max;
		past->pool_exhausted += stats.pool_exhausted;
		past->replaced += stats.replaced;
		past->crowded += stats.crowded;
		past->lost += stats.lost;
		unit->past.lost += stats.lost;
	}
}

static void release_attached(void *context)
{
	struct attached *attached = context, **link;

	if (attached->monitor) {
		for (link = &attached->monitor->attached; *link != attached; link = &(*link)->next)
			;
		*link = attached->next;
		attached->monitor->untold += atomic_load(&attached->matches.overflowed);
		attached->unit->attached--;
		keep_counts(attached);
	}
	free_attached(attached);
}

static void *twin_attached(const void *context);

static const struct monitor_evaluation_kind kind = {
	.name = "rules",
	.commit = commit_attached,
	.lose = lose_rule_events,
	.pass = pass_attached,
	.twin = twin_attached,
	.release = release_attached,
};

/* ---- beginning and end */

/* With types, but without numbers of sensors in them. */
static struct attached *make_attached(struct asterism_rules *unit, uint32_t count, bool is_twin)
{
	struct attached *made = alloc_zero(1, sizeof *made);
	const struct monitor_rules_options options = {
		.program = unit->program,
		.matches = made && !is_twin ? &made->matches : NULL,
	};

	if (!made)
		return NULL;
	made->unit = unit;
	made->count = count;
	made->types = alloc_zero(count, sizeof *made->types);
	made->record = alloc_zero(1, EVENT_RECORD_BYTES_MAX);
	if (made->types && made->record && (is_twin || !monitor_queue_init(&made->matches, MATCHES_BYTES)) &&
	    !monitor_rules_new(&options, NULL, &made->rules))
		return made;
	free_attached(made);
	return NULL;
}

static void *twin_attached(const void *context)
{
	const struct attached *attached = context;
	struct attached *made = make_attached(attached->unit, attached->count, true);

	if (made)
		memcpy(made->types, attached->types, attached->count * sizeof *made->types);
	return made;
}

static int refuse_rule(const struct asterism_rules *unit, uint32_t rule, int result, const char *why, const char *what)
{
	struct asterism_diag *diag = unit->session->diag;

	return diag_error(diag, NULL, result, "rule %s %s%s",
			  program_text(unit->program, unit->program->rules[rule].name), why, what);
}

/* What a monitor does not do. */
static int check_monitored_rule(const struct asterism_rules *unit, uint32_t rule)
{
	const struct program *program = unit->program;
	const struct program_rule *row = &program->rules[rule];

	if (row->aggregation)
		return refuse_rule(unit, rule, -EOPNOTSUPP,
				   "uses AGGREGATE, which a monitor in a program does not support", "");
	for (uint32_t i = 0; i < row->statement_count; i++)
		if (program_call(program, &program_statements(program, row)[i]))
			return refuse_rule(unit, rule, -EOPNOTSUPP, "calls actions, which rules of a monitor cannot do",
					   "");
	return 0;
}

static bool is_alike(const struct event_type *a, const struct event_type *b)
{
	if (a->own_count != b->own_count || b->field_count != b->own_count)
		return false;
	for (uint32_t i = 0; i < a->own_count; i++)
		if (strcmp(a->fields[i].name, b->fields[i].name) != 0 || a->fields[i].value != b->fields[i].value ||
		    a->fields[i].offset != b->fields[i].offset || a->fields[i].bytes != b->fields[i].bytes)
			return false;
	return true;
}

/* Finds the sensor that is the program's type, for the rule. */
static int map_type(const struct attached *attached, const struct asterism_monitor *monitor, uint32_t rule,
		    uint32_t type)
{
	const struct asterism_rules *unit = attached->unit;
	const struct program_type *row = &unit->program->types[type];
	const char *name = program_text(unit->program, row->name);
	const struct event_type *known = event_catalog_find(session_rules_catalog(unit->rules), name);
	int64_t number;

	if (!row->sensor)
		return known && !known->hook_count
			       ? 0
			       : refuse_rule(unit, rule, -EOPNOTSUPP,
					     "waits for an event of the kernel, whose rate is unknown: ", name);
	name = program_text(unit->program, row->sensor - 1);
	for (size_t i = 0; i < monitor->wants.count; i++) {
		const struct stream_want *want = &monitor->wants.items[i];

		number = want->number;
		if (strcmp(want->name, name) != 0)
			continue;
		if (!known || !is_alike(want->type, known))
			return refuse_rule(unit, rule, -EINVAL, "declares other fields than the monitor does for ",
					   name);
		attached->types[number] = type;
		return 0;
	}
	return refuse_rule(unit, rule, -EINVAL, "waits for a sensor that the monitor was not given: ", name);
}

static int map_all(const struct attached *attached, const struct asterism_monitor *monitor)
{
	const struct program *program = attached->unit->program;
	int result = 0;

	for (uint32_t i = 0; i < attached->count; i++)
		attached->types[i] = PROGRAM_NONE;
	for (uint32_t rule = 0; rule < program->rule_count && !result; rule++) {
		result = check_monitored_rule(attached->unit, rule);
		for (uint32_t type = 0; type < program->type_count && !result; type++)
			if (program_rule_sees(program, &program->rules[rule], type))
				result = map_type(attached, monitor, rule, type);
	}
	return result;
}

int64_t asterism_monitor_add_rules(struct asterism_monitor *monitor, struct asterism_rules *rules)
{
	struct asterism_diag *diag = monitor->session->diag;
	struct attached *made;
	int64_t name;

	asterism_diag_clear(diag);
	if (!rules || rules->session != monitor->session || rules->unloading)
		return diag_error(diag, NULL, -EINVAL, "the rules belong to a different session from the monitor's");
	made = make_attached(rules, (uint32_t)monitor->wants.count, false);
	if (!made)
		return diag_no_memory(diag);
	name = map_all(made, monitor);
	if (!name) {
		name = monitor_add(monitor->engine, MONITOR_ANY_SENSOR, &kind, made);
		if (name < 0)
			diag_no_memory(diag);
	}
	if (name < 0) {
		free_attached(made);
		return name;
	}
	made->name = name;
	made->monitor = monitor;
	made->next = monitor->attached;
	monitor->attached = made;
	rules->attached++;
	return name;
}

void api_monitors_forget(struct asterism_rules *rules)
{
	for (struct asterism_monitor *monitor = rules->session->monitors; monitor; monitor = monitor->next) {
		struct attached *next;

		for (struct attached *attached = monitor->attached; attached; attached = next) {
			next = attached->next;
			if (attached->unit == rules)
				monitor_remove(monitor->engine, attached->name);
		}
		if (!monitor->runs && !rules->session->dispatching)
			monitor_idle(monitor->engine);
	}
}

/* ---- matches */

int api_monitor_rules_take(struct asterism_monitor *monitor)
{
	int result = 0;

	for (struct attached *attached = monitor->attached; attached && result >= 0; attached = attached->next)
		if (!attached->unit->unloading)
			result = monitor_rules_take(&attached->matches, api_report, attached->unit);
	return result < 0 ? result : 0;
}

uint64_t api_monitor_rules_untold(const struct asterism_monitor *monitor)
{
	uint64_t untold = monitor->untold;

	for (const struct attached *attached = monitor->attached; attached; attached = attached->next)
		untold += atomic_load(&attached->matches.overflowed);
	return untold;
}
