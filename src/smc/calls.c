// SPDX-License-Identifier: BSD-2-Clause
/* Translates the guards and the actions of a file by the binding, and refuses what has no meaning there. */

#include "smc/smc-priv.h"

#include <string.h>

enum { NAMES_MAX = 256 };

struct smc_bound *smc_find(const struct smc_work *work, char sort, const char *name)
{
	for (struct smc_bound *bound = work->binding->bounds; bound; bound = bound->next) {
		if (bound->sort == sort && strcmp(bound->name.text, name) == 0)
			return bound;
	}
	return NULL;
}

static bool refuse_word(struct smc_work *work, const struct smc_word *at, const char *hint, const char *what)
{
	lang_error(work->report, &at->at, hint, "%s", what);
	return false;
}

/* The bound call; NULL after saying that there is none. */
static const struct smc_bound *find_call(struct smc_work *work, char sort, const struct smc_expr *call)
{
	const char *names[NAMES_MAX], *nearest, *what = sort == 'G' ? "GUARD" : "ACTION";
	const struct smc_bound *bound = smc_find(work, sort, call->word.text);
	size_t count = 0;

	if (bound)
		return bound;
	for (bound = work->binding->bounds; bound && count < NAMES_MAX; bound = bound->next) {
		if (bound->sort == sort)
			names[count++] = bound->name.text;
	}
	nearest = diag_nearest(call->word.text, names, count);
	lang_error(work->report, &call->word.at,
		   nearest ? lang_did_you_mean(work->report, call->word.text, nearest)
			   : lang_hint(work->report, "add to the binding: %s %s(...) = { ... }", what, call->word.text),
		   "the binding does not define the %s %s", sort == 'G' ? "guard" : "action", call->word.text);
	return NULL;
}

static bool is_plain_word(const char *text)
{
	while (lang_is_word((unsigned char)*text) || *text == '.')
		text++;
	return !*text;
}

/* The value of an event's argument, for an expression. */
static const char *argument_text(struct smc_work *work, const struct smc_place *place, const char *name)
{
	const struct smc_transition *transition = place->transition;

	for (unsigned i = 0; transition && i < transition->params.count; i++) {
		const char *value;

		if (strcmp(transition->params.items[i].text, name) != 0)
			continue;
		value = place->event->values.items[i].text;
		return is_plain_word(value) ? value : lang_hint(work->report, "(%s)", value);
	}
	return NULL;
}

static const char *call_text(struct smc_work *work, const struct smc_place *place, const struct smc_expr *call);

/* A value as the rule language writes it; NULL after an error. */
static const char *value_text(struct smc_work *work, const struct smc_place *place, const struct smc_expr *value)
{
	const char *text = value->word.text;

	if (value->kind == SMC_CALL)
		return call_text(work, place, value);
	if (value->kind != SMC_NAME)
		return text;
	if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
		return strcmp(text, "true") == 0 ? "TRUE" : "FALSE";
	text = argument_text(work, place, text);
	if (!text)
		lang_error(work->report, &value->word.at,
			   "only arguments of the transition are known; make the rest a function and bind it",
			   "'%s' is not an argument of this transition", value->word.text);
	return text;
}

bool smc_arguments_of(struct smc_work *work, const struct smc_place *place, const struct smc_expr *call,
		      const struct smc_bound *bound, struct smc_arguments *arguments)
{
	unsigned count = 0;

	*arguments = (struct smc_arguments){ .params = &bound->params };
	for (const struct smc_expr *arg = call->args; arg && count < SMC_ARGS_MAX; arg = arg->next, count++) {
		arguments->are_strings[count] = arg->kind == SMC_STRING;
		arguments->texts[count] = value_text(work, place, arg);
		if (!arguments->texts[count])
			return false;
	}
	if (count == bound->params.count)
		return true;
	lang_error(work->report, &call->word.at, NULL, "the binding gives %s %u parameters, here it has %u arguments",
		   call->word.text, bound->params.count, count);
	return false;
}

/* A condition or a value that a function of the host gives. */
static const char *call_text(struct smc_work *work, const struct smc_place *place, const struct smc_expr *call)
{
	const struct smc_bound *bound = find_call(work, 'G', call);
	struct smc_arguments arguments;
	const char *text;

	if (!bound || !smc_arguments_of(work, place, call, bound, &arguments))
		return NULL;
	if (bound->meaning == SMC_KEY) {
		refuse_word(work, &call->word, "join it to the others with &&",
			    "the call that finds the instance must stand alone, or be joined by &&");
		return NULL;
	}
	text = smc_expand(work, &bound->text, &arguments);
	return text ? smc_made(work, lang_hint(work->report, "(%s)", text)) : NULL;
}

/* The value of a parameter of KEY { }. */
static const char *key_value(const struct smc_bound *bound, const struct smc_arguments *arguments, const char *name)
{
	if (strcmp(name, "*") == 0)
		return name;
	for (unsigned i = 0; i < bound->params.count; i++) {
		if (strcmp(bound->params.items[i].text, name) == 0)
			return arguments->texts[i];
	}
	return NULL;
}

/* Notes which instance the call finds, or names: that is the key of the event. */
static bool take_key(struct smc_work *work, const struct smc_expr *call, const struct smc_bound *bound,
		     const struct smc_arguments *arguments, struct smc_leg *leg)
{
	const char *by = NULL;

	leg->is_partial = false;
	for (unsigned i = 0; i < bound->values.count; i++) {
		const char *value = key_value(bound, arguments, bound->values.items[i].text);

		if (!value)
			return refuse_word(work, &bound->values.items[i], NULL, "this is not a parameter of the call");
		leg->is_partial |= *value == '*';
		by = by ? smc_made(work, lang_hint(work->report, "%s, %s", by, value)) : value;
		if (!by)
			return false;
	}
	if (bound->values.count != work->binding->keys.count || !by)
		return refuse_word(work, &bound->name, "KEY { } gives a parameter, or *, for each",
				   "the machine has a different number of keys");
	if (leg->by && strcmp(leg->by, by) != 0) {
		lang_error(work->report, &call->word.at, "an event finds its instance in one way",
			   "this takes %s as the key, but the call before it takes %s", by, leg->by);
		return false;
	}
	leg->by = by;
	return true;
}

static const char *condition(struct smc_work *work, const struct smc_place *place, const struct smc_expr *guard)
{
	const char *left, *right, *word;

	switch (guard->kind) {
	case SMC_NOT:
		left = condition(work, place, guard->left);
		return left ? smc_made(work, lang_hint(work->report, "NOT (%s)", left)) : NULL;
	case SMC_AND:
	case SMC_OR:
		left = condition(work, place, guard->left);
		right = left ? condition(work, place, guard->right) : NULL;
		word = guard->kind == SMC_AND ? "AND" : "OR";
		return right ? smc_made(work, lang_hint(work->report, "(%s %s %s)", left, word, right)) : NULL;
	case SMC_COMPARE:
		left = value_text(work, place, guard->left);
		right = left ? value_text(work, place, guard->right) : NULL;
		word = guard->word.text;
		return right ? smc_made(work, lang_hint(work->report, "%s %s %s", left, word, right)) : NULL;
	default:
		return value_text(work, place, guard);
	}
}

bool smc_guard(struct smc_work *work, const struct smc_place *place, const struct smc_expr *guard, struct smc_leg *leg)
{
	const struct smc_bound *bound = guard->kind == SMC_CALL ? smc_find(work, 'G', guard->word.text) : NULL;
	struct smc_arguments arguments;
	const char *text;

	if (guard->kind == SMC_AND)
		return smc_guard(work, place, guard->left, leg) && smc_guard(work, place, guard->right, leg);
	if (bound && bound->meaning == SMC_KEY)
		return smc_arguments_of(work, place, guard, bound, &arguments) &&
		       take_key(work, guard, bound, &arguments, leg);
	text = condition(work, place, guard);
	if (text && leg->where)
		text = smc_made(work, lang_hint(work->report, "%s AND %s", leg->where, text));
	leg->where = text;
	return text;
}

/* NEW: in the start, where what comes is another instance anyway. */
static bool take_new(struct smc_work *work, const struct smc_place *place, const struct smc_expr *call)
{
	return (place->state == work->file->first && place->transition) ||
	       refuse_word(work, &call->word, "there is one instance for a key, and each key has its own",
			   "another instance can only be created in the first state");
}

/* A number and its unit are one word. */
static const char *without_blanks(struct smc_work *work, const char *text)
{
	const char *blank = strchr(text, ' ');

	return blank ? lang_hint(work->report, "%.*s%s", (int)(blank - text), text, blank + 1) : text;
}

/* A timer belongs to the state that is entered with it. */
static bool take_timer(struct smc_work *work, const struct smc_place *place, const struct smc_expr *call,
		       const char *time, struct smc_leg *leg)
{
	struct smc_state *state = place->is_entry ? place->state : place->target;

	if (!time)
		return false;
	time = without_blanks(work, time);
	if (!state || place->is_exit)
		return refuse_word(work, &call->word, "start it where a state is entered",
				   "a timer can only be started on the way into a state");
	if (state->timer && strcmp(state->timer, time) != 0)
		return refuse_word(work, &call->word, NULL,
				   "the timer of this state is started with two different times");
	state->timer = time;
	leg->has_timer = true;
	return true;
}

/* Whether the statements assign to variables; EMIT names its fields within parentheses. */
static bool assigns(const char *text)
{
	unsigned depth = 0;
	bool is_string = false;

	for (const char *at = text; *at; at++) {
		if (is_string && *at == '\\' && at[1])
			at++;
		else if (*at == '"')
			is_string = !is_string;
		else if (!is_string && *at == '(')
			depth++;
		else if (!is_string && *at == ')')
			depth--;
		else if (!is_string && !depth && *at == '=')
			return true;
	}
	return false;
}

/* One more piece of the block. */
static bool add_text(struct smc_work *work, const char *text, struct smc_leg *leg)
{
	if (!text || !*text)
		return text;
	leg->assigns |= assigns(text);
	if (leg->block)
		text = smc_made(work, lang_hint(work->report, "%s;\n\t\t  %s", leg->block, text));
	leg->block = text;
	return text;
}

static bool take_action(struct smc_work *work, const struct smc_place *place, const struct smc_expr *call,
			struct smc_leg *leg)
{
	const struct smc_bound *bound = find_call(work, 'A', call);
	struct smc_arguments arguments;

	if (!bound || !smc_arguments_of(work, place, call, bound, &arguments))
		return false;
	switch (bound->meaning) {
	case SMC_KEY:
		return take_key(work, call, bound, &arguments, leg);
	case SMC_NEW:
		return take_new(work, place, call);
	case SMC_END:
		leg->ends = true;
		return place->transition || refuse_word(work, &call->word, "move it to a transition",
							"an instance can end only in a transition");
	case SMC_TIMER:
		return take_timer(work, place, call, smc_expand(work, &bound->text, &arguments), leg);
	case SMC_STOP:
		leg->stops_timer = true;
		return place->is_exit || place->target ||
		       refuse_word(work, &call->word, "leave the state",
				   "a timer runs as long as the instance is in the state");
	default:
		return add_text(work, smc_expand(work, &bound->text, &arguments), leg);
	}
}

bool smc_actions(struct smc_work *work, const struct smc_place *place, const struct smc_expr *actions,
		 struct smc_leg *leg)
{
	bool is_fine = true;

	for (; actions; actions = actions->next)
		is_fine &= take_action(work, place, actions, leg);
	return is_fine;
}
