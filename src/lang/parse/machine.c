// SPDX-License-Identifier: BSD-2-Clause
/* Parses the frame of a state machine: keys, variables, bounds, states; parse/transition.c has what stands in these. */

#include "lang/parse/parse-machine-priv.h"

#include "event/type.h"

static const char part_what[] = "STATE, ON, VAR, POOL, TRAIL, SEVERITY, TAGS, DESCRIPTION or the next statement";

static bool parse_keys(struct lang_parser *p, struct lang_syntax_machine *machine)
{
	struct lang_list list = { .separator = LANG_TOKEN_COMMA,
				  .closer = LANG_TOKEN_RBRACE,
				  .item = "a field",
				  .expect = "',' or '}'",
				  .recovers = true };
	struct lang_syntax_key **end = &machine->keys;
	bool parsed;

	if (!lang_accept_word(p, "KEY"))
		return lang_unexpected(p, "KEY", "a machine is written 'MACHINE name KEY { pid } STATE ...'");
	if (!lang_expect(p, LANG_TOKEN_LBRACE, "'{'", "the key is written 'KEY { pid, fd }'"))
		return false;
	if (lang_accept(p, LANG_TOKEN_RBRACE))
		return true; /* one instance for all events */
	if (!lang_list_begin(p, &list))
		return false;
	do {
		struct lang_syntax_key *key = lang_node(p, sizeof *key);

		parsed = key && lang_take_word(p, &key->name, "the name of a field");
		if (!parsed)
			continue;
		*end = key;
		end = &key->next;
		if (++machine->key_count == LANG_KEYS_MAX + 1)
			lang_error(p->report, &key->name.location, NULL, "a machine has at most %d keys",
				   LANG_KEYS_MAX);
	} while (lang_list_next(p, &list, parsed));
	machine->broken |= list.broken;
	return true;
}

/* Whether a part of which there is one comes for the first time. */
static void note_given(struct lang_parser *p, struct diag_location *given, const char *what)
{
	struct diag_location location = p->token.location;

	if (given->line) {
		lang_error(p->report, &location, NULL, "%s is given twice", what);
		lang_note(p->report, given, "first given here");
	} else {
		*given = location;
	}
	lang_advance(p);
}

static bool parse_machine_pool(struct lang_parser *p, struct lang_syntax_machine *machine)
{
	note_given(p, &machine->pool_location, "POOL");
	if (!lang_parse_pool_size(p, "instances", "POOL", &machine->pool))
		return false;
	if (lang_token_is(&p->token, "PER")) {
		note_given(p, &machine->per_process_location, "PER PROCESS");
		if (!lang_accept_word(p, "PROCESS"))
			return lang_unexpected(
				p, "PROCESS",
				"a machine has one instance of a key; PER PROCESS bounds those of a process");
		if (!lang_parse_pool_size(p, "instances", "PER PROCESS", &machine->per_process))
			return false;
	}
	machine->full = lang_parse_full(p);
	return true;
}

static bool parse_trail(struct lang_parser *p, struct lang_syntax_machine *machine)
{
	struct lang_token token;

	note_given(p, &machine->trail_location, "TRAIL");
	if (!lang_take_integer(p, &token, "a number of transitions", NULL))
		return false;
	machine->trail = (uint32_t)token.integer;
	if (token.unit != LANG_PLAIN || token.integer > LANG_TRAIL_MAX)
		lang_error(p->report, &token.location, NULL, "TRAIL must be between 0 and %d", LANG_TRAIL_MAX);
	return true;
}

static bool parse_loss(struct lang_parser *p, struct lang_syntax_machine *machine)
{
	note_given(p, &machine->loss_location, "ON LOSS");
	lang_advance(p);
	return lang_parse_loss(p, &machine->loss);
}

/* The capacity behind `string`. */
static bool parse_capacity(struct lang_parser *p, struct lang_syntax_variable *variable)
{
	struct lang_token token;

	lang_advance(p);
	if (!lang_take_integer(p, &token, "a number of bytes", NULL) ||
	    !lang_expect(p, LANG_TOKEN_RBRACKET, "']'", "a string is written 'name: string[32]'"))
		return false;
	if (variable->type != EVENT_STRING)
		lang_error(p->report, &token.location, NULL, "only a string has a length");
	else if (token.unit == LANG_TIME || token.integer < 2 || token.integer > LANG_STRING_VARIABLE_MAX)
		lang_error(p->report, &token.location, NULL, "a string has between 2 and %d bytes, its NUL counted",
			   LANG_STRING_VARIABLE_MAX);
	else
		variable->bytes = (uint32_t)((token.integer + 7) / 8 * 8);
	return true;
}

static bool parse_variable(struct lang_parser *p, struct lang_syntax_machine *machine)
{
	struct lang_syntax_variable *variable = lang_node(p, sizeof *variable), **end = &machine->variables;

	lang_accept_word(p, "VAR");
	if (!variable || !lang_take_word(p, &variable->name, "a name for the variable") ||
	    !lang_expect(p, LANG_TOKEN_COLON, "':'", "a variable is written 'VAR name: type = constant'") ||
	    !lang_parse_value_type(p, &variable->type))
		return false;
	variable->bytes = variable->type == EVENT_STRING ? LANG_STRING_VARIABLE_BYTES : 0;
	if (p->token.kind == LANG_TOKEN_LBRACKET && !parse_capacity(p, variable))
		return false;
	if (!lang_parse_meaning(p, variable->type, &variable->meaning))
		return false;
	if (lang_accept(p, LANG_TOKEN_ASSIGN) && !(variable->initial = lang_parse_constant_value(p)))
		return false;
	if (machine->state_count > 0)
		lang_error(p->report, &variable->name.location, NULL, "variables are declared before the states");
	while (*end)
		end = &(*end)->next;
	*end = variable;
	if (++machine->variable_count == LANG_VARIABLES_MAX + 1)
		lang_error(p->report, &variable->name.location, NULL, "a machine has at most %d variables",
			   LANG_VARIABLES_MAX);
	return true;
}

/* ENTRY or EXIT; the keyword is next. */
static bool parse_frame_block(struct lang_parser *p, struct lang_syntax_state *state)
{
	bool is_entry = lang_token_is(&p->token, "ENTRY");
	struct lang_syntax_block *block = is_entry ? &state->entry : &state->exit;

	if (block->location.line) {
		lang_error(p->report, &p->token.location, NULL, "%s is given twice", is_entry ? "ENTRY" : "EXIT");
		*block = (struct lang_syntax_block){ 0 };
	}
	lang_advance(p);
	return lang_parse_block(p, block);
}

static bool parse_state_part(struct lang_parser *p, struct lang_syntax_machine *machine,
			     struct lang_syntax_state *state)
{
	static const char *const words[] = { "ON", "AFTER", "ENTRY", "EXIT" };

	if (lang_token_is(&p->token, "ENTRY") || lang_token_is(&p->token, "EXIT"))
		return parse_frame_block(p, state);
	if (lang_token_is(&p->token, "ON") || lang_token_is(&p->token, "AFTER"))
		return lang_parse_transition(p, machine, machine->state_count - 1);
	const char *hint = lang_hint_behind_number(p);

	return lang_unexpected(p, "ON, AFTER, ENTRY, EXIT or '}'", hint ? hint : lang_nearest_word(p, words, 4));
}

/*
 * Skips to where the next part of the machine begins, or to the brace that closes the state. At failed a part seemed to
 * begin, but was none.
 */
static void skip_to_part(struct lang_parser *p, uint32_t level, uint64_t failed)
{
	if (p->token.location.offset == failed && !lang_at_statement(p))
		lang_advance(p);
	while (!lang_at_statement(p) && !lang_at_modifier(p) &&
	       !(level && p->token.kind == LANG_TOKEN_RBRACE && p->braces <= level))
		lang_advance(p);
	p->braces = level;
}

static bool parse_state(struct lang_parser *p, struct lang_syntax_machine *machine)
{
	struct lang_syntax_state *state = lang_node(p, sizeof *state), **end = &machine->states;

	lang_advance(p);
	if (!state || !lang_take_word(p, &state->name, "a name for the state"))
		return false;
	while (*end)
		end = &(*end)->next;
	*end = state;
	if (++machine->state_count == LANG_STATES_MAX + 1)
		lang_error(p->report, &state->name.location, NULL, "a machine has at most %d states", LANG_STATES_MAX);
	if (!lang_expect(p, LANG_TOKEN_LBRACE, "'{'", "a state is written 'STATE name { ON event -> other }'"))
		return false;
	while (p->token.kind != LANG_TOKEN_RBRACE) {
		uint64_t start = p->token.location.offset;

		if (lang_at_statement(p) || lang_at_frame(p))
			return lang_unexpected(p, "'}'", "the state before is not closed");
		if (!parse_state_part(p, machine, state)) {
			machine->broken = true;
			skip_to_part(p, 1, start);
			continue;
		}
		lang_accept_end(p);
	}
	lang_advance(p);
	p->braces = 0;
	return true;
}

static bool parse_part(struct lang_parser *p, struct lang_syntax_machine *machine)
{
	static const char *const words[] = { "STATE", "ON",  "AFTER",    "VAR",  "POOL",
					     "TRAIL", "KEY", "SEVERITY", "TAGS", "DESCRIPTION" };
	const struct lang_token *token = &p->token;

	if (lang_at_property(p))
		return lang_parse_property(p, &machine->properties);
	if (lang_token_is(token, "STATE") && p->ahead.kind == LANG_TOKEN_WORD)
		return parse_state(p, machine);
	if (lang_token_is(token, "ON") && lang_token_is(&p->ahead, "LOSS"))
		return parse_loss(p, machine);
	if ((lang_token_is(token, "ON") || lang_token_is(token, "AFTER")) && p->ahead.kind != LANG_TOKEN_COLON)
		return lang_parse_transition(p, machine, LANG_OUTSIDE);
	if (p->ahead.kind == LANG_TOKEN_COLON || lang_token_is(token, "VAR"))
		return parse_variable(p, machine);
	if (lang_token_is(token, "POOL"))
		return parse_machine_pool(p, machine);
	if (lang_token_is(token, "TRAIL"))
		return parse_trail(p, machine);
	if (lang_token_is(token, "EXCEPT"))
		return lang_unexpected(p, part_what,
				       "only rules have exceptions: give the transition that reports a WHERE");
	return lang_unexpected(p, part_what, lang_nearest_word(p, words, sizeof words / sizeof *words));
}

struct lang_syntax_machine *lang_parse_machine(struct lang_parser *p)
{
	struct lang_syntax_machine *machine = lang_node(p, sizeof *machine);

	lang_advance(p);
	if (!machine || !lang_take_word(p, &machine->name, "a name for the machine"))
		return NULL;
	machine->pool = LANG_POOL_DEFAULT;
	machine->trail = LANG_TRAIL_DEFAULT;
	machine->transitions_end = &machine->transitions;
	p->machine = machine;
	if (!parse_keys(p, machine)) {
		machine->broken = true;
		skip_to_part(p, 0, UINT64_MAX);
	}
	lang_accept_end(p);
	while (p->token.kind != LANG_TOKEN_END && !lang_is_statement_word(&p->token)) {
		uint64_t start = p->token.location.offset;

		if (!parse_part(p, machine)) {
			machine->broken = true;
			skip_to_part(p, 0, start);
		}
		lang_accept_end(p);
	}
	machine->broken |= p->stopped;
	p->machine = NULL;
	return machine;
}
