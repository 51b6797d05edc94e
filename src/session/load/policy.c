// SPDX-License-Identifier: BSD-2-Clause
/* Checks what rules may do to the system against a policy. */

#include "session/load/policy.h"

#include "base/alloc.h"
#include "program/calls.h"
#include "program/emissions.h"
#include "program/query.h"
#include "program/whose.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 512 };

struct reading {
	struct session_policy *policy;
	struct asterism_diag *diag;
	struct diag_source source;
	uint32_t line;
};

static int wrong_policy(const struct reading *reading, const char *hint, const char *what, const char *word)
{
	struct diag_location location = { .source = &reading->source, .line = reading->line, .column = 1, .length = 1 };

	diag_add(reading->diag, ASTERISM_ERROR, &location, hint, "%s '%s'", what, word);
	return -EINVAL;
}

static int allow(const struct reading *reading, const char *name)
{
	struct session_policy *policy = reading->policy;
	const struct react_action *action = react_find(name);

	if (strcmp(name, "all") == 0) {
		policy->allows_all = true;
		return 0;
	}
	if (!action)
		return wrong_policy(reading, react_nearest(name), "unknown action", name);
	if (policy_allows(policy, action))
		return 0;
	if (policy->action_count == POLICY_ACTIONS_MAX)
		return wrong_policy(reading, NULL, "too many actions, at", name);
	policy->actions[policy->action_count++] = action;
	return 0;
}

static int read_policy_line(const struct reading *reading, char *line)
{
	static const char blanks[] = " \t\r\n,";
	const struct {
		const char *name;
		bool *is_on;
	} switches[] = { { "outside-scope", &reading->policy->anywhere },
			 { "clients-define", &reading->policy->clients_define } };
	char *state, *word;
	int result = 0;

	line[strcspn(line, "#")] = 0;
	word = strtok_r(line, blanks, &state);
	if (!word)
		return 0;
	for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
		if (strcmp(word, switches[i].name) != 0)
			continue;
		*switches[i].is_on = true;
		word = strtok_r(NULL, blanks, &state);
		return word ? wrong_policy(reading, switches[i].name, "a statement without arguments is followed by",
					   word)
			    : 0;
	}
	if (strcmp(word, "allow") != 0)
		return wrong_policy(reading, "'allow ACTION, ...', 'outside-scope' or 'clients-define'",
				    "unknown statement", word);
	word = strtok_r(NULL, blanks, &state);
	if (!word)
		return wrong_policy(reading, "write 'allow Stop, Continue' or 'allow all'", "no action after", "allow");
	for (; word && !result; word = strtok_r(NULL, blanks, &state))
		result = allow(reading, word);
	return result;
}

int policy_read(struct session_policy *policy, const char *path, struct asterism_diag *diag)
{
	struct reading reading = { .policy = policy, .diag = diag, .source = { .file = path } };
	char line[LINE_BYTES];
	FILE *file = fopen(path, "re");
	int result = 0;

	if (!file)
		return diag_error(diag, NULL, -errno, "cannot read %s: %s", path, strerror(errno));
	while (!result && fgets(line, sizeof line, file)) {
		reading.line++;
		if (!strchr(line, '\n') && !feof(file))
			result = wrong_policy(&reading, NULL, "the line is too long:", "...");
		else
			result = read_policy_line(&reading, line);
	}
	if (!result && ferror(file))
		result = diag_error(diag, NULL, -EIO, "cannot read %s", path);
	fclose(file);
	return result;
}

bool policy_allows(const struct session_policy *policy, const struct react_action *action)
{
	if (!action->changes_system || (policy && policy->allows_all))
		return true;
	for (uint32_t i = 0; policy && i < policy->action_count; i++)
		if (policy->actions[i] == action)
			return true;
	return false;
}

static int check_statement(const struct session_policy *policy, const struct program *program,
			   const struct program_rule *rule, const struct react_action *action,
			   struct asterism_diag *diag)
{
	const char *name = program_text(program, rule->name);

	if (policy) {
		diag_add(diag, ASTERISM_ERROR, NULL, "add 'allow' with its name to the policy file",
			 "%s %s calls %s, which the policy does not allow", program_sort(rule), name, action->name);
		return -EINVAL;
	}
	diag_add(diag, ASTERISM_NOTE, NULL, "use --allow-actions to let rules act",
		 "%s %s calls %s, which is only reported, not done", program_sort(rule), name, action->name);
	return 0;
}

/* On whose word a rule's matches rest. */
enum hearsay {
	OF_THE_KERNEL,
	OF_ITSELF, /* of the process that all their events are of, as it called the kernel */
	OF_ANYBODY,
};

/* Whether the rule waits for sensors that call the kernel. */
static bool lists_called(const struct program *program, const struct program_rule *rule, struct event_catalog *catalog)
{
	for (uint32_t i = 0; i < program->type_count; i++) {
		const struct event_type *type =
			catalog && program_rule_lists(program, rule, i)
				? event_catalog_find(catalog, program_text(program, program->types[i].name))
				: NULL;

		if (type && type->called)
			return true;
	}
	return false;
}

static int judge_hearsay(const struct program *program, struct event_catalog *catalog,
			 const struct program_whose *whose, enum hearsay *hearsay)
{
	struct program_reached fed;
	int result = 0;

	for (uint32_t i = 0; i < program->rule_count && !result; i++) {
		bool is_anybody = program_rule_lists_sensor(program, &program->rules[i]);

		if (!is_anybody && !lists_called(program, &program->rules[i], catalog))
			continue;
		if (hearsay[i] != OF_ANYBODY)
			hearsay[i] = is_anybody || !whose[i].is_one ? OF_ANYBODY : OF_ITSELF;
		result = program_reach(program, i, PROGRAM_DOWNSTREAM, program->rule_count, &fed);
		for (uint32_t j = 0; j < fed.count; j++)
			hearsay[fed.rules[j]] = fed.rules[j] == i ? hearsay[i] : OF_ANYBODY;
		alloc_free(fed.rules);
	}
	return result;
}

/* Whether the call acts upon a process of the match, or holds the thread that completes it, and upon nobody else. */
static bool is_on_itself(const struct program *program, const struct program_statement *statement,
			 const struct react_action *action)
{
	bool is_named = action->primitive == REACT_HOLD || action->fails_call;

	for (uint32_t i = 0; i < action->param_count && i < statement->arg_count; i++) {
		if (action->params[i].type != REACT_TARGET)
			continue;
		if (program->args[statement->first_arg + i].field == REACT_BY_VALUE)
			return false;
		is_named = true;
	}
	return is_named;
}

/* What a process says of itself is no ground for acting on any: it could have others ended by what it makes up. */
static int refuse_hearsay(const struct program *program, const struct program_rule *rule,
			  const struct react_action *action, struct asterism_diag *diag)
{
	return diag_error(
		diag, NULL, -EINVAL,
		"%s %s calls %s, but depends on events of applications (sensors), which are not trusted for that",
		program_sort(rule), program_text(program, rule->name), action->name);
}

static int check_policy_rule(const struct session_policy *policy, const struct program *program,
			     const struct program_rule *rule, enum hearsay hearsay, struct asterism_diag *diag)
{
	int result = 0;

	for (uint32_t i = 0; i < rule->statement_count; i++) {
		const struct program_statement *statement = &program_statements(program, rule)[i];
		const struct react_action *action = program_call(program, statement);
		int error = 0;

		if (action && !policy_allows(policy, action))
			error = check_statement(policy, program, rule, action, diag);
		else if (action && action->changes_system &&
			 (hearsay == OF_ANYBODY || (hearsay == OF_ITSELF && !is_on_itself(program, statement, action))))
			error = refuse_hearsay(program, rule, action, diag);
		result = result ? result : error;
	}
	return result;
}

int policy_check(const struct session_policy *policy, const struct program *program, struct event_catalog *catalog,
		 struct asterism_diag *diag)
{
	enum hearsay *hearsay = alloc_zero(program->rule_count, sizeof *hearsay);
	struct program_whose *whose = NULL;
	int result = 0;

	if (!hearsay || program_find_whose(program, &whose) || judge_hearsay(program, catalog, whose, hearsay))
		result = diag_no_memory(diag);
	for (uint32_t i = 0; i < program->rule_count && result != -ENOMEM; i++)
		if (check_policy_rule(policy, program, &program->rules[i], hearsay[i], diag))
			result = -EINVAL;
	alloc_free(whose);
	alloc_free(hearsay);
	return result;
}
