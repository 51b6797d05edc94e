// SPDX-License-Identifier: BSD-2-Clause
/* Decides how units of rules come, work, rest and go, each with an executor of its own. */

#include "api/api-priv.h"

#include "api/sized.h"
#include "base/alloc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

void api_rules_free(struct asterism_rules *rules)
{
	executor_free(rules->executor);
	session_rules_free(rules->rules);
	session_totals_fini(&rules->past);
	session_totals_fini(&rules->now);
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
	for (uint32_t i = 0; i < count; i++) {
		program_values_layout(unit->program, i, &unit->layouts[i]);
		session_place_watching(unit->program, i, &unit->placements[i]);
	}
	return 0;
}

/* A unit of what source (or, without bytes, the file called source->name) holds. */
static int load(struct asterism_session *session, const struct session_rules_source *source,
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
		return diag_error(session->diag, NULL, -EINVAL, "there are no rules to load");
	return load(session, source, loaded);
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
		return diag_error(session->diag, NULL, -EINVAL, "there is no file of rules to load");
	return load(session, &(struct session_rules_source){ .name = file }, rules);
}

static enum ebpf_scope scope_of(const struct asterism_session *session)
{
	switch (session->options.scope) {
	case ASTERISM_SCOPE_PIDS:
		return EBPF_SCOPE_PIDS;
	case ASTERISM_SCOPE_ALL:
		return EBPF_SCOPE_ALL;
	default:
		return EBPF_SCOPE_TREE;
	}
}

int asterism_rules_activate(struct asterism_rules *rules)
{
	struct asterism_session *session = rules->session;
	const struct executor_options options = {
		.scope = scope_of(session),
		.on_match = api_on_match,
		.context = rules,
	};
	struct executor *executor;
	int result;

	asterism_diag_clear(session->diag);
	if (rules->leaving)
		return diag_error(session->diag, NULL, -EBUSY, "%s is still being deactivated", rules->name);
	if (rules->executor)
		return diag_error(session->diag, NULL, -EINVAL, "%s is active already", rules->name);
	result = executor_new(rules->rules, &options, session->diag, &executor);
	if (result)
		return result;
	result = api_processes_enter(session, executor);
	if (!result)
		result = api_session_watch(session, executor);
	if (result)
		executor_free(executor);
	else
		rules->executor = executor;
	return result;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void api_rules_count(const struct asterism_rules *rules)
{
	/* The tables behind it are scratch space: the unit itself does not change. */
	struct asterism_rules *unit = (struct asterism_rules *)rules;
	const struct session_totals *past = &unit->past;
	struct session_totals *now = &unit->now;

	memset(now->rules, 0, now->rule_count * sizeof *now->rules);
	now->events = now->lost = 0;
	if (unit->executor)
		executor_count(unit->executor, now);
	now->events += past->events;
	now->lost += past->lost;
	for (uint32_t i = 0; i < now->rule_count; i++) {
		const struct program_rule_stats *before = &past->rules[i];
		struct program_rule_stats *stats = &now->rules[i];

		stats->matches += before->matches;
		stats->runs_opened += before->runs_opened;
		stats->runs_live_max = larger(stats->runs_live_max, before->runs_live_max);
		stats->pool_exhausted += before->pool_exhausted;
		stats->lost += before->lost;
		stats->divisions_by_zero += before->divisions_by_zero;
	}
}

/* The unit's counts so far become its past. */
static void detach(struct asterism_rules *rules)
{
	struct session_totals past = rules->past;

	api_rules_count(rules);
	rules->past = rules->now;
	rules->now = past;
	/* Where this process has forked, closing does not take a descriptor out of the set. */
	epoll_ctl(rules->session->epoll_fd, EPOLL_CTL_DEL, executor_fd(rules->executor), NULL);
	executor_free(rules->executor);
	rules->executor = NULL;
	rules->leaving = false;
}

int asterism_rules_deactivate(struct asterism_rules *rules)
{
	asterism_diag_clear(rules->session->diag);
	if (!rules->executor || rules->leaving)
		return diag_error(rules->session->diag, NULL, -EINVAL, "%s is not active", rules->name);
	if (rules->session->dispatching)
		rules->leaving = true;
	else
		detach(rules);
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
	if (rules->executor)
		detach(rules);
	session->past_events += rules->past.events;
	session->past_lost += rules->past.lost;
	api_rules_free(rules);
}

void asterism_rules_unload(struct asterism_rules *rules)
{
	if (!rules)
		return;
	asterism_diag_clear(rules->session->diag);
	if (!rules->session->dispatching)
		unload(rules);
	else
		rules->leaving = rules->unloading = true;
}

void api_rules_settle(struct asterism_session *session)
{
	for (struct asterism_rules *unit = session->units, *next; unit; unit = next) {
		next = unit->next;
		if (unit->unloading)
			unload(unit);
		else if (unit->leaving)
			detach(unit);
	}
}

enum asterism_rules_state asterism_rules_state(const struct asterism_rules *rules)
{
	return rules->executor && !rules->leaving ? ASTERISM_RULES_ACTIVE : ASTERISM_RULES_LOADED;
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

static enum asterism_place place_of(enum session_place place)
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
		.place = place_of(placement->place),
		.matches = stats->matches,
		.runs_opened = stats->runs_opened,
		.runs_live_max = stats->runs_live_max,
		.pool_exhausted = stats->pool_exhausted,
		.lost = stats->lost,
		.divisions_by_zero = stats->divisions_by_zero,
	};

	snprintf(own.reason, sizeof own.reason, "%s", placement->reason);
	return sized_give(info, &own, sizeof own);
}

int asterism_rules_stats(const struct asterism_rules *rules, struct asterism_rules_stats *stats)
{
	api_rules_count(rules);

	const struct asterism_rules_stats own = {
		.matches = rules->matches,
		.events = rules->now.events,
		.lost = rules->now.lost,
	};

	return sized_give(stats, &own, sizeof own);
}
