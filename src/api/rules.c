// SPDX-License-Identifier: BSD-2-Clause
/* Adds, starts, stops and removes units of rules, each with an executor of its own. */

#include "api/api-priv.h"

#include "api/sized.h"
#include "base/alloc.h"
#include "ebpf/memory/layout.h"
#include "program/calls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void api_rules_free(struct asterism_rules *rules)
{
	if (rules->work.executor)
		api_work_close(rules);
	session_rules_free(rules->rules);
	session_totals_fini(&rules->past);
	session_totals_fini(&rules->now);
	react_tallies_fini(&rules->tallies);
	alloc_free(rules->layouts);
	alloc_free(rules->placements);
	alloc_free(rules->name);
	alloc_free(rules);
}

static int make_tables(struct asterism_rules *unit, struct asterism_diag *diag)
{
	uint32_t count = unit->program->rule_count;

	unit->past = unit->now = (struct session_totals){ .rule_count = count };
	unit->past.rules = alloc_zero(count, sizeof *unit->past.rules);
	unit->now.rules = alloc_zero(count, sizeof *unit->now.rules);
	unit->layouts = alloc_zero(count, sizeof *unit->layouts);
	unit->placements = alloc_zero(count, sizeof *unit->placements);
	if (!unit->past.rules || !unit->now.rules || !unit->layouts || !unit->placements)
		return diag_no_memory(diag);
	if (unit->session->options.count_transitions &&
	    (program_why_new(unit->program, &unit->past.why) || program_why_new(unit->program, &unit->now.why)))
		return diag_no_memory(diag);
	for (uint32_t i = 0; i < count; i++) {
		program_values_layout(unit->program, i, &unit->layouts[i]);
		session_placement_of(unit->program, i, &unit->placements[i]);
	}
	return 0;
}

/* A unit of what source (or, without bytes, the file called source->name) holds. */
static int load_unit(struct asterism_session *session, const struct session_rules_source *source,
		     struct asterism_rules **loaded)
{
	struct asterism_rules *unit = alloc_zero(1, sizeof *unit);
	int result = 0;

	if (unit)
		unit->name = alloc_text(source->name);
	if (!unit || !unit->name)
		result = diag_no_memory(session->diag);
	else if (source->bytes)
		result = session_rules_take(source, session->diag, &unit->rules);
	else
		result = session_rules_read(&source->name, 1, session->diag, &unit->rules);
	if (!result) {
		unit->session = session;
		unit->number = ++session->last_unit;
		unit->program = session_rules_program(unit->rules);
		result = make_tables(unit, session->diag);
	}
	if (result) {
		if (unit)
			api_rules_free(unit);
		return result;
	}
	unit->next = session->units;
	session->units = unit;
	*loaded = unit;
	return 0;
}

static int load_bytes(struct asterism_session *session, const struct session_rules_source *source,
		      struct asterism_rules **loaded)
{
	asterism_diag_clear(session->diag);
	if (!source->bytes || !loaded)
		return diag_error(session->diag, NULL, -EINVAL, "no rules were given to load");
	return load_unit(session, source, loaded);
}

int asterism_rules_load_text(struct asterism_session *session, const char *text, size_t length, const char *name,
			     struct asterism_rules **rules)
{
	const struct session_rules_source source = { .name = name ? name : "<text>", .bytes = text, .length = length };

	return load_bytes(session, &source, rules);
}

int asterism_rules_load_image(struct asterism_session *session, const void *bytes, size_t length, const char *name,
			      struct asterism_rules **rules)
{
	const struct session_rules_source source = {
		.name = name ? name : "<image>", .bytes = bytes, .length = length, .is_image = true
	};

	return load_bytes(session, &source, rules);
}

int asterism_rules_load_file(struct asterism_session *session, const char *file, struct asterism_rules **rules)
{
	asterism_diag_clear(session->diag);
	/* Standard input, which "-" is to the commands, is not the library's. */
	if (!file || strcmp(file, "-") == 0 || !rules)
		return diag_error(session->diag, NULL, -EINVAL, "no rule files were given to load");
	return load_unit(session, &(struct session_rules_source){ .name = file }, rules);
}

static bool has_magic(const void *bytes, size_t length)
{
	return bytes && length >= sizeof PROGRAM_MAGIC - 1 &&
	       memcmp(bytes, PROGRAM_MAGIC, sizeof PROGRAM_MAGIC - 1) == 0;
}

int asterism_rules_load(struct asterism_session *session, const void *bytes, size_t length, const char *name,
			struct asterism_rules **rules)
{
	if (has_magic(bytes, length))
		return asterism_rules_load_image(session, bytes, length, name, rules);
	return asterism_rules_load_text(session, bytes, length, name, rules);
}

static struct event_catalog_access access_for(const struct asterism_session *session,
					      const struct asterism_rules_source *source)
{
	bool defines = !source->is_foreign || session->policy.clients_define;

	return (struct event_catalog_access){ .files = defines ? EVENT_FILES_OWN : EVENT_FILES_NONE,
					      .owner = source->owner,
					      .is_foreign = source->is_foreign != 0 };
}

int asterism_rules_load_from(struct asterism_session *session, const struct asterism_rules_source *source,
			     struct asterism_rules **rules)
{
	struct asterism_rules_source own;
	bool is_image;

	asterism_diag_clear(session->diag);
	if (!source || sized_take(&own, sizeof own, source))
		return sized_refuse(session->diag, "source", source, sizeof own);
	is_image = has_magic(own.bytes, own.length);
	return load_bytes(session,
			  &(struct session_rules_source){ .name = own.name   ? own.name
								  : is_image ? "<image>"
									     : "<text>",
							  .bytes = own.bytes,
							  .length = own.length,
							  .is_image = is_image,
							  .access = access_for(session, &own) },
			  rules);
}

const char *asterism_rules_action(const struct asterism_rules *rules)
{
	const struct program *program = rules->program;

	for (uint32_t i = 0; i < program->header->sections[PROGRAM_STATEMENTS].count; i++) {
		const struct react_action *action = program_call(program, &program->statements[i]);

		if (action && action->changes_system)
			return action->name;
	}
	return NULL;
}

int asterism_rules_activate(struct asterism_rules *rules)
{
	struct asterism_session *session = rules->session;

	asterism_diag_clear(session->diag);
	if (rules->work.muted)
		return diag_error(session->diag, NULL, -EBUSY, "%s is still being deactivated", rules->name);
	if (rules->work.executor)
		return diag_error(session->diag, NULL, -EINVAL, "%s is already active", rules->name);
	return api_work_open(rules);
}

int asterism_rules_deactivate(struct asterism_rules *rules)
{
	asterism_diag_clear(rules->session->diag);
	if (!rules->work.executor || rules->work.muted)
		return diag_error(rules->session->diag, NULL, -EINVAL, "%s is not active", rules->name);
	if (rules->session->dispatching)
		rules->work.muted = true;
	else
		api_work_close(rules);
	return 0;
}

static void unload(struct asterism_rules *rules)
{
	struct asterism_session *session = rules->session;

	for (struct asterism_rules **link = &session->units; *link; link = &(*link)->next) {
		if (*link == rules) {
			*link = rules->next;
			break;
		}
	}
	if (rules->work.executor)
		api_work_close(rules);
	session->past_events += rules->past.events;
	session->past_lost += rules->past.lost;
	api_rules_free(rules);
}

void asterism_rules_unload(struct asterism_rules *rules)
{
	if (!rules)
		return;
	asterism_diag_clear(rules->session->diag);
	api_monitors_forget(rules);
	if (!rules->session->dispatching && !rules->attached)
		unload(rules);
	else
		rules->work.muted = rules->unloading = true;
}

void api_rules_settle(struct asterism_session *session)
{
	for (struct asterism_rules *unit = session->units, *next; unit; unit = next) {
		next = unit->next;
		if (unit->unloading && !unit->attached)
			unload(unit);
		else if (unit->unloading && !unit->work.executor)
			continue; /* a monitor still evaluates it */
		else if (unit->work.muted)
			api_work_close(unit);
	}
}

enum asterism_rules_state asterism_rules_state(const struct asterism_rules *rules)
{
	return rules->work.executor && !rules->work.muted ? ASTERISM_RULES_ACTIVE : ASTERISM_RULES_LOADED;
}

void asterism_rules_set_context(struct asterism_rules *rules, void *context)
{
	rules->context = context;
}

void *asterism_rules_context(const struct asterism_rules *rules)
{
	return rules->context;
}

const char *asterism_rules_name(const struct asterism_rules *rules)
{
	return rules->name;
}

size_t asterism_rules_count(const struct asterism_rules *rules)
{
	return rules->program->rule_count;
}

static enum asterism_place place_of_rule(enum session_place place)
{
	switch (place) {
	case SESSION_KERNEL:
		return ASTERISM_PLACE_KERNEL;
	case SESSION_USER:
		return ASTERISM_PLACE_USER;
	default:
		return ASTERISM_PLACE_NOWHERE;
	}
}

int asterism_rules_info(const struct asterism_rules *rules, size_t index, struct asterism_rule_info *info)
{
	if (index >= rules->program->rule_count)
		return -EINVAL;
	api_rules_count(rules);

	const struct session_placement *placement = &rules->placements[index];
	const struct program_rule_stats *stats = &rules->now.rules[index];
	struct asterism_rule_info own = {
		.name = program_text(rules->program, rules->program->rules[index].name),
		.place = place_of_rule(placement->place),
		.matches = stats->matches,
		.runs_opened = stats->runs_opened,
		.runs_live_max = stats->runs_live_max,
		.pool_exhausted = stats->pool_exhausted,
		.lost = stats->lost,
		.divisions_by_zero = stats->divisions_by_zero,
		.kernel_bytes =
			placement->place == SESSION_KERNEL ? ebpf_pool_bytes(rules->program, (uint32_t)index) : 0,
		.unread = stats->unread,
		.calls_32bit = stats->calls_32bit,
		.excepted = stats->excepted,
		.severity = rules->program->rules[index].severity,
		.replaced = stats->replaced,
		.crowded = stats->crowded,
		.io_uring = stats->io_uring,
	};

	snprintf(own.reason, sizeof own.reason, "%s", placement->reason);
	return sized_give(info, &own, sizeof own);
}

/* What can be had of rule number index without more than a look at memory. NULL: there is no such rule. */
static const struct program_rule_stats *look_at_rule(const struct asterism_rules *rules, size_t index)
{
	/* A table of scratch space: the unit itself does not change. */
	struct program_rule_stats *stats = ((struct asterism_rules *)rules)->now.rules;

	if (index >= rules->program->rule_count)
		return NULL;
	stats[index] = (struct program_rule_stats){ 0 };
	if (rules->work.executor)
		executor_look(rules->work.executor, stats);
	return &stats[index];
}

int asterism_rules_crowded(const struct asterism_rules *rules, size_t index, uint64_t *pool_exhausted,
			   uint64_t *crowded)
{
	const struct program_rule_stats *stats = look_at_rule(rules, index);

	if (!stats)
		return -EINVAL;
	*pool_exhausted = stats->pool_exhausted - stats->events_refused;
	*crowded = stats->crowded;
	return 0;
}

int asterism_rules_bypassed(const struct asterism_rules *rules, size_t index, uint64_t *calls_32bit, uint64_t *io_uring)
{
	const struct program_rule_stats *stats = look_at_rule(rules, index);

	if (!stats)
		return -EINVAL;
	*calls_32bit = stats->calls_32bit;
	*io_uring = stats->io_uring;
	return 0;
}

int asterism_rules_unread(const struct asterism_rules *rules, size_t index, uint64_t *unread, const char **event,
			  uint32_t *pid)
{
	const struct program_rule_stats *stats = look_at_rule(rules, index);

	if (!stats)
		return -EINVAL;
	*unread = stats->unread;
	*event = stats->unread_type ? program_text(rules->program, rules->program->types[stats->unread_type - 1].name)
				    : NULL;
	*pid = stats->unread_pid;
	return 0;
}

int asterism_rules_stats(const struct asterism_rules *rules, struct asterism_rules_stats *stats)
{
	struct ebpf_run_time time = { 0 };
	struct asterism_rules_stats own = { .matches = rules->matches };

	api_rules_count(rules);
	if (rules->work.executor)
		executor_run_time(rules->work.executor, &time);
	own.events = rules->now.events;
	own.lost = rules->now.lost;
	own.kernel_ns = rules->past_time.ns + time.ns;
	own.kernel_runs = rules->past_time.runs + time.runs;
	own.programs = time.programs;
	own.stops_refused = rules->now.stops_refused;
	own.requests_lost = rules->now.requests_lost;
	own.files_replaced = rules->now.replaced;
	return sized_give(stats, &own, sizeof own);
}
