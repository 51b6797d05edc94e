// SPDX-License-Identifier: BSD-2-Clause
/* Runs top's own rules, and counts whose matches are the most. */

#include "cmd/top/rules.h"

#include "asterism/asterism.h"
#include "base/alloc.h"
#include "base/diag.h"
#include "cli/print.h"
#include "cmd/input/library.h"
#include "cmd/ctl/print.h"
#include "cmd/input/rules.h"
#include "cmd/options/status.h"
#include "cmd/top/asked.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 16 << 20, SPARE_BYTES = 4096 };

/* The space-saving algorithm (Metwally, Agrawal, El Abbadi 2005): a key that is new takes the place of the rarest. */
struct keys {
	struct {
		char name[TOP_KEY_BYTES];
		uint64_t count;
	} rows[TOP_KEYS];
	uint64_t all;
};

struct own_unit {
	struct asterism_rules *rules;
	char name[TOP_NAME_BYTES];
	struct keys *keys; /* per rule */
};

struct top_rules {
	const char *socket; /* of asterismd; NULL: own */
	struct asterism_session *session;
	struct own_unit *units;
	size_t count;
};

static void count_key(struct keys *keys, const char *name)
{
	size_t rarest = 0;

	keys->all++;
	for (size_t i = 0; i < TOP_KEYS; i++) {
		if (strcmp(keys->rows[i].name, name) == 0) {
			keys->rows[i].count++;
			return;
		}
		if (keys->rows[i].count < keys->rows[rarest].count)
			rarest = i;
	}
	snprintf(keys->rows[rarest].name, sizeof keys->rows[rarest].name, "%s", name);
	keys->rows[rarest].count++;
}

static int top_on_match(void *context, const struct asterism_match *match)
{
	struct own_unit *unit = asterism_rules_context(asterism_match_unit(match));
	char name[TOP_KEY_BYTES];

	(void)context;
	snprintf(name, sizeof name, "%s[%" PRIu32 "]", asterism_match_comm(match), asterism_match_pid(match));
	count_key(&unit->keys[asterism_match_rule_index(match)], name);
	return ASTERISM_CONTINUE;
}

/* Prints what the session says. */
static int complain_of_session(const struct top_rules *rules, int result)
{
	cli_print((struct asterism_diag *)asterism_session_diag(rules->session));
	return cmd_status_of(result);
}

static int open_unit(struct top_rules *rules, const struct session_rules_file *file)
{
	struct own_unit *unit = &rules->units[rules->count];
	struct asterism_diag *diag = asterism_diag_new();
	char *text = NULL;
	size_t length;
	int result = library_text(file, TEXT_MAX, diag, &text, &length);

	if (result) {
		cli_print(diag);
		asterism_diag_free(diag);
		return cmd_status_of(result);
	}
	asterism_diag_free(diag);
	result = asterism_rules_load(rules->session, text, length, file->path, &unit->rules);
	alloc_free(text);
	if (result)
		return complain_of_session(rules, result);
	snprintf(unit->name, sizeof unit->name, "%s", file->path);
	unit->keys = alloc_zero(asterism_rules_count(unit->rules), sizeof *unit->keys);
	rules->count++;
	if (!unit->keys) {
		cli_error("out of memory");
		return STATUS_USAGE;
	}
	asterism_rules_set_context(unit->rules, unit);
	result = asterism_rules_activate(unit->rules);
	return result ? complain_of_session(rules, result) : STATUS_FINE;
}

static int check_chosen(const struct top_rules *rules, const char *chosen)
{
	struct asterism_rule_info info = { .size = sizeof info };

	for (size_t i = 0; i < rules->count; i++) {
		for (size_t j = 0; j < asterism_rules_count(rules->units[i].rules); j++) {
			if (asterism_rules_info(rules->units[i].rules, j, &info) == 0 && strcmp(info.name, chosen) == 0)
				return STATUS_FINE;
		}
	}
	cli_error("there is no rule '%s' in the rule files", chosen);
	return STATUS_USAGE;
}

static int open_own(struct top_rules *rules, const struct cli_arguments *arguments)
{
	const char *chosen = arguments->options[OPTION_TRANSITIONS].text;
	const struct asterism_session_options options = { .size = sizeof options,
							  .scope = ASTERISM_SCOPE_ALL,
							  .on_match = top_on_match,
							  .measure = 1,
							  .count_transitions = chosen != NULL };
	struct library_files files = { 0 };
	struct asterism_diag *diag = asterism_diag_new();
	int status = library_resolve(arguments->operands, arguments->operand_count, &files);
	int result = status ? 0 : asterism_session_open(&options, diag, &rules->session);

	if (result) {
		cli_print(diag);
		status = cmd_status_of(result);
	}
	asterism_diag_free(diag);
	rules->units = status ? NULL : alloc_zero(files.count, sizeof *rules->units);
	if (!status && !rules->units) {
		cli_error("out of memory");
		status = STATUS_USAGE;
	}
	for (size_t i = 0; i < files.count && !status; i++)
		status = open_unit(rules, &files.files[i]);
	library_files_fini(&files);
	return status || !chosen ? status : check_chosen(rules, chosen);
}

int top_rules_new(const struct cli_arguments *arguments, const char *socket, struct top_rules **made)
{
	struct top_rules *rules;
	int status = STATUS_FINE;

	*made = NULL;
	if (!socket && !arguments->operand_count)
		return STATUS_FINE;
	rules = alloc_zero(1, sizeof *rules);
	if (!rules) {
		cli_error("out of memory");
		return STATUS_USAGE;
	}
	rules->socket = socket;
	if (!socket)
		status = open_own(rules, arguments);
	if (status)
		top_rules_free(rules);
	else
		*made = rules;
	return status;
}

void top_rules_free(struct top_rules *rules)
{
	if (!rules)
		return;
	asterism_session_free(rules->session);
	for (size_t i = 0; i < rules->count; i++)
		alloc_free(rules->units[i].keys);
	alloc_free(rules->units);
	alloc_free(rules);
}

int top_rules_fd(const struct top_rules *rules)
{
	return rules && rules->session ? asterism_session_fd(rules->session) : -1;
}

int top_rules_dispatch(struct top_rules *rules)
{
	int result = asterism_session_dispatch(rules->session);

	return result < 0 && result != -EINTR ? complain_of_session(rules, result) : STATUS_FINE;
}

static void name_key(const struct keys *keys, char *name, size_t size)
{
	size_t most = 0;

	for (size_t i = 1; i < TOP_KEYS; i++)
		most = keys->rows[i].count > keys->rows[most].count ? i : most;
	if (keys->rows[most].count)
		snprintf(name, size, "%s %.0f%%", keys->rows[most].name,
			 100.0 * (double)keys->rows[most].count / (double)keys->all);
}

/* Of the chosen rule. Counts may grow between the two calls. */
static int look_at_transitions(const struct own_unit *unit, size_t rule, struct top *top)
{
	size_t size = (size_t)asterism_rules_why(unit->rules, rule, NULL, 0) + SPARE_BYTES;
	char *text = alloc_zero(size, 1);
	json_t *why;

	if (!text)
		return -ENOMEM;
	asterism_rules_why(unit->rules, rule, text, size);
	why = json_loads(text, 0, NULL);
	alloc_free(text);
	if (!why)
		return -ENOMEM;
	ctl_put_transitions(why, &top->transitions);
	json_decref(why);
	return top->transitions.failure;
}

static int look_at_unit(const struct own_unit *unit, struct top *top)
{
	static const char *const places[] = { [ASTERISM_PLACE_KERNEL] = "kernel", [ASTERISM_PLACE_USER] = "user" };
	struct asterism_rules_stats stats = { .size = sizeof stats };
	struct asterism_rule_info info = { .size = sizeof info };

	asterism_rules_stats(unit->rules, &stats);
	for (size_t i = 0; i < asterism_rules_count(unit->rules); i++) {
		struct top_rule *rule = top_add_rule(top);

		if (!rule)
			return -ENOMEM;
		asterism_rules_info(unit->rules, i, &info);
		snprintf(rule->name, sizeof rule->name, "%s", info.name);
		snprintf(rule->unit, sizeof rule->unit, "%s", unit->name);
		snprintf(rule->place, sizeof rule->place, "%s",
			 info.place < sizeof places / sizeof *places && places[info.place] ? places[info.place] : "-");
		rule->matches = info.matches;
		rule->opened = info.runs_opened;
		rule->peak = info.runs_live_max;
		rule->lost = info.lost;
		rule->kernel_ns = stats.kernel_ns;
		rule->is_measured = true;
		rule->is_first = i == 0;
		name_key(&unit->keys[i], rule->key, sizeof rule->key);
		if (!top->transitions.length && top_is_chosen(top, info.name) && look_at_transitions(unit, i, top))
			return -ENOMEM;
	}
	return 0;
}

int top_rules_look(struct top_rules *rules, struct top *top)
{
	if (rules->socket)
		return top_ask(rules->socket, top);
	for (size_t i = 0; i < rules->count; i++) {
		if (look_at_unit(&rules->units[i], top)) {
			cli_error("out of memory");
			return STATUS_USAGE;
		}
	}
	return STATUS_FINE;
}
