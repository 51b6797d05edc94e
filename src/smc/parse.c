// SPDX-License-Identifier: BSD-2-Clause
/* Parses a .sm file. A guard that cannot be translated is passed over, so that all are told of. */

#include "smc/smc-priv.h"

#include <string.h>

static bool parse_actions(struct smc_reading *reading, struct smc_expr **actions)
{
	reading->parts = 0;
	if (!smc_take(reading, LANG_TOKEN_LBRACE, "'{'"))
		return false;
	while (!smc_accept(reading, LANG_TOKEN_RBRACE)) {
		if (!smc_parse_call(reading, actions))
			return false;
		actions = &(*actions)->next;
	}
	return true;
}

/* Passes the type of C of a parameter. */
static bool skip_type(struct smc_reading *reading)
{
	unsigned depth = 0;

	if (!smc_take(reading, LANG_TOKEN_COLON, "':' and a type"))
		return false;
	while (reading->token.kind != LANG_TOKEN_END && reading->token.kind != LANG_TOKEN_BAD) {
		if (!depth && (reading->token.kind == LANG_TOKEN_COMMA || reading->token.kind == LANG_TOKEN_RPAREN))
			return true;
		depth += reading->token.kind == LANG_TOKEN_LPAREN;
		depth -= reading->token.kind == LANG_TOKEN_RPAREN;
		smc_advance(reading);
	}
	return smc_refuse(reading, NULL, "the parameters do not end");
}

static bool parse_params(struct smc_reading *reading, struct smc_words *params)
{
	while (!smc_accept(reading, LANG_TOKEN_RPAREN)) {
		if (params->count == SMC_ARGS_MAX)
			return smc_refuse(reading, NULL, "a transition has at most 16 parameters");
		if (!smc_take_word(reading, "a parameter", &params->items[params->count++]) || !skip_type(reading))
			return false;
		smc_accept(reading, LANG_TOKEN_COMMA);
	}
	return true;
}

/* To behind the bracket that ends a guard. */
static void skip_guard(struct smc_reading *reading)
{
	unsigned depth = 1;

	while (depth && reading->token.kind != LANG_TOKEN_END) {
		depth += reading->token.kind == LANG_TOKEN_LBRACKET;
		depth -= reading->token.kind == LANG_TOKEN_RBRACKET;
		smc_advance(reading);
	}
}

static bool parse_qualified(struct smc_reading *reading, struct smc_word *map, struct smc_word *name, const char *what)
{
	if (!smc_take_word(reading, what, name))
		return false;
	if (!smc_accept(reading, LANG_TOKEN_COLON))
		return true;
	*map = *name;
	return smc_take(reading, LANG_TOKEN_COLON, "'::'") && smc_take_word(reading, "a state", name);
}

static bool parse_target(struct smc_reading *reading, struct smc_transition *transition)
{
	if (!parse_qualified(reading, &transition->map, &transition->target, "the next state"))
		return false;
	transition->is_nil = strcmp(transition->target.text, "nil") == 0;
	if (reading->token.kind != LANG_TOKEN_LPAREN && reading->token.kind != LANG_TOKEN_SLASH &&
	    strcmp(transition->target.text, "pop") != 0)
		return true;
	lang_error(reading->report, &transition->target.at, "name the next state",
		   "push and pop cannot be translated: machines have no stack of states");
	transition->is_broken = true;
	while (reading->token.kind != LANG_TOKEN_LBRACE && reading->token.kind != LANG_TOKEN_RBRACE &&
	       reading->token.kind != LANG_TOKEN_END)
		smc_advance(reading);
	return true;
}

static bool parse_transition(struct smc_reading *reading, struct smc_file *file, struct smc_transition **made)
{
	struct smc_transition *transition = arena_zero(reading->arena, 1, sizeof *transition);

	if (!transition) {
		lang_no_memory(reading->report);
		return false;
	}
	if (++file->transition_count > SMC_TRANSITIONS_MAX)
		return smc_refuse(reading, NULL, "a file has at most 4096 transitions");
	*made = transition;
	if (!smc_take_word(reading, "a transition", &transition->name) ||
	    (smc_accept(reading, LANG_TOKEN_LPAREN) && !parse_params(reading, &transition->params)))
		return false;
	if (smc_accept(reading, LANG_TOKEN_LBRACKET) && !smc_parse_guard(reading, &transition->guard)) {
		transition->is_broken = true;
		skip_guard(reading);
	}
	/* The thesis prints a transition without actions without braces, too. */
	return parse_target(reading, transition) &&
	       (reading->token.kind != LANG_TOKEN_LBRACE || parse_actions(reading, &transition->actions));
}

static bool parse_state(struct smc_reading *reading, struct smc_file *file, struct smc_state *state)
{
	struct smc_transition **last = &state->transitions;

	if (!smc_take_word(reading, "a state", &state->name))
		return false;
	if (smc_find_state(file, state->map.text, state->name.text)) {
		lang_error(reading->report, &state->name.at, "give one of them another name",
			   "the map has two states '%s'", state->name.text);
		return false;
	}
	while (smc_at_word(reading, "Entry") || smc_at_word(reading, "Exit")) {
		struct smc_expr **block = smc_at_word(reading, "Entry") ? &state->entry : &state->exit;

		smc_advance(reading);
		if (*block)
			return smc_refuse(reading, NULL, "the state has two of them");
		if (!parse_actions(reading, block))
			return false;
	}
	if (!smc_take(reading, LANG_TOKEN_LBRACE, "'{'"))
		return false;
	for (; !smc_accept(reading, LANG_TOKEN_RBRACE); last = &(*last)->next) {
		if (!parse_transition(reading, file, last))
			return false;
	}
	return true;
}

static bool take_percents(struct smc_reading *reading)
{
	return smc_take(reading, LANG_TOKEN_PERCENT, "'%%'") && smc_take(reading, LANG_TOKEN_PERCENT, "'%%'");
}

static bool parse_map(struct smc_reading *reading, struct smc_file *file)
{
	struct smc_state **last = &file->states;
	struct smc_word map;

	if (!smc_take_word(reading, "the map's name", &map) || !take_percents(reading))
		return false;
	file->maps++;
	while (*last)
		last = &(*last)->next;
	while (reading->token.kind != LANG_TOKEN_PERCENT) {
		struct smc_state *state = arena_zero(reading->arena, 1, sizeof *state);

		if (!state) {
			lang_no_memory(reading->report);
			return false;
		}
		if (++file->state_count > SMC_STATES_MAX)
			return smc_refuse(reading, NULL, "a file has at most 256 states");
		state->map = map;
		if (!parse_state(reading, file, state))
			return false;
		*last = state;
		last = &state->next;
	}
	return take_percents(reading);
}

static bool parse_section(struct smc_reading *reading, struct smc_file *file)
{
	if (reading->token.kind == LANG_TOKEN_LBRACE)
		return smc_skip_raw(reading, "%}");
	if (smc_at_word(reading, "map")) {
		smc_advance(reading);
		return parse_map(reading, file);
	}
	if (smc_at_word(reading, "start")) {
		smc_advance(reading);
		return parse_qualified(reading, &file->start_map, &file->start, "the first state");
	}
	if (smc_at_word(reading, "class")) {
		smc_advance(reading);
		return smc_take_word(reading, "the class", &file->class);
	}
	if (smc_at_word(reading, "header") || smc_at_word(reading, "include") || smc_at_word(reading, "declare") ||
	    smc_at_word(reading, "import") || smc_at_word(reading, "package") || smc_at_word(reading, "access"))
		return smc_skip_raw(reading, "\n"); /* of the host program's language alone */
	return smc_refuse(reading, "%start %class %header %include %declare %map", "unknown section");
}

bool smc_parse(struct smc_reading *reading, struct smc_file *file)
{
	while (reading->token.kind != LANG_TOKEN_END) {
		if (!smc_take(reading, LANG_TOKEN_PERCENT, "a section, as '%map'") || !parse_section(reading, file))
			return false;
	}
	if (!file->class.text)
		return smc_refuse(reading, "as in: %class fd", "the file does not name a class");
	if (!file->start.text)
		return smc_refuse(reading, "as in: %start Map::State", "the file does not name the first state");
	file->first = smc_find_state(file, file->start_map.text, file->start.text);
	if (!file->first)
		lang_error(reading->report, &file->start.at, NULL, "that map has no state '%s'", file->start.text);
	return file->first;
}
