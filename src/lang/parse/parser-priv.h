/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LANG_PARSE_PARSER_PRIV_H
#define LANG_PARSE_PARSER_PRIV_H

/*
 * Recursive descent over a window of two tokens. A parsing function that fails has reported why (or met a bad token,
 * reported by the lexer) and returns false or NULL; the function that owns a list in braces, a modifier or a statement
 * of the file resynchronises, so one mistake gives one message.
 */

#include "lang/syntax/lex.h"
#include "lang/syntax/syntax-priv.h"

struct lang_param;
struct lang_parser {
	struct lang_report *report;
	struct arena *scratch; /* for nodes */
	struct arena *arena;   /* for words and strings */
	struct lang_lexer lexer;
	struct lang_token token, ahead;
	uint64_t end;                              /* offset behind the token consumed last */
	uint32_t braces;                           /* open ones before token */
	uint32_t depth;                            /* of nested structures or expressions */
	uint32_t nodes;                            /* made so far */
	bool stopped;                              /* at LANG_NODES_MAX; what is missing from here on is no error */
	bool is_piece;                             /* the input is a piece of a file */
	const struct lang_params *params;          /* NULL: none */
	const char *bare_rule;                     /* as in lang_input */
	const struct lang_syntax_machine *machine; /* that is being parsed, or NULL: names may stand alone in it */
};

/* The parser of one source, at its first token. */
void lang_parser_init(struct lang_parser *p, const struct diag_source *source, struct arena *scratch,
		      struct arena *arena, struct lang_report *report);

/* A parser of the piece of a source that place is, within one line, with the memory and parameters of another. */
void lang_parser_init_at(struct lang_parser *p, const struct lang_parser *like, const struct diag_location *location);

void lang_advance(struct lang_parser *p);

/* Consumes the token when it is of this kind, or spells this keyword. */
bool lang_accept(struct lang_parser *p, enum lang_token_kind kind);
bool lang_accept_word(struct lang_parser *p, const char *keyword);

/* The same, and an error "expected <what> but found ..." otherwise. */
bool lang_expect(struct lang_parser *p, enum lang_token_kind kind, const char *what, const char *hint);

/* Reports that the token is not what was expected; silent after a bad token. Returns false. */
bool lang_unexpected(struct lang_parser *p, const char *what, const char *hint);

/* What the token, which cannot stand there, was likely meant as behind a number, a value or a structure; or NULL. */
const char *lang_hint_behind_number(const struct lang_parser *p);
const char *lang_hint_behind_value(const struct lang_parser *p);
const char *lang_hint_behind_structure(const struct lang_parser *p);

/* The word among words that the token's word is near to, as a hint, or NULL. */
const char *lang_nearest_word(struct lang_parser *p, const char *const *words, size_t count);

/* Consumes a word into *word; what names it in the error. */
bool lang_take_word(struct lang_parser *p, struct lang_word *word, const char *what);

/* Consumes one ';' or ',' where a statement may end with it. */
void lang_accept_end(struct lang_parser *p);

/* A zeroed node of size bytes, or NULL; then the report knows, and after too many nodes the input is at its end. */
void *lang_node(struct lang_parser *p, size_t size);

/* The place from first to the end of the token consumed last, cut at the end of the first line. */
struct diag_location lang_location_to_end(const struct lang_parser *p, const struct diag_location *first);

/* True at the end of the input or where a statement of the file, or a modifier of a rule, begins. */
bool lang_at_statement(const struct lang_parser *p);
bool lang_at_modifier(const struct lang_parser *p);

/* Skips to the next statement, or to the next modifier or statement, whatever is open. */
void lang_skip_to_statement(struct lang_parser *p);
void lang_skip_to_modifier(struct lang_parser *p);

/* Skips behind the brace that closes those open beyond level, or to a modifier or statement. */
void lang_skip_braces(struct lang_parser *p, uint32_t level);

/* A list of items: begin, parse an item, ask for the next until there is none. */
struct lang_list {
	enum lang_token_kind separator; /* COMMA or SEMICOLON; the other one may stand at the end */
	enum lang_token_kind closer;
	const char *item;   /* "a condition" */
	const char *expect; /* "',' or '}'" */
	bool recovers;      /* closer is a brace: an item that failed is skipped */
	bool broken;        /* something was skipped, or the end was not found */
	uint32_t level;     /* braces inside */
};

/* Behind the opener. False: the list is empty, which is an error. */
bool lang_list_begin(struct lang_parser *p, struct lang_list *list);

/* Whether a separator or the closer comes next, and an error otherwise: an item that goes on is not worth judging. */
bool lang_list_item_ends(struct lang_parser *p, const struct lang_list *list);

/* Behind an item; parsed tells whether it was one. True when another one follows. */
bool lang_list_next(struct lang_parser *p, struct lang_list *list, bool parsed);

/* PATTERN or a word for semantics: what follows the name of a rule. */
bool lang_is_rule_keyword(const struct lang_token *token);
bool lang_is_semantics(const struct lang_token *token, enum lang_semantics *semantics);
enum { LANG_SEMANTICS_COUNT = 4 };

/* Where a constant may stand: a word that names a parameter, and nothing further, becomes the parameter's value. */
void lang_substitute(struct lang_parser *p);

/* The parameter that the token names, which no key or variable hides; NULL: none. */
const struct lang_param *lang_params_find_token(const struct lang_parser *p, const struct lang_token *token);
bool lang_is_param(const struct lang_parser *p, const struct lang_token *token);

/* The parameter that the token's word is near to, as a hint, or NULL. */
const char *lang_params_nearest(struct lang_parser *p);

/* Consumes an integer that is not negative, also by the name of a parameter; what names it in the error. */
bool lang_take_integer(struct lang_parser *p, struct lang_token *token, const char *what, const char *hint);

/* Inside a machine: whether the name is that of a key or variable; whether a part of the machine begins. */
bool lang_is_local(const struct lang_parser *p, const char *bytes, size_t length);
bool lang_at_machine_part(const struct lang_parser *p);

bool lang_is_statement_word(const struct lang_token *token);
bool lang_is_operator_word(const struct lang_token *token); /* AND, IN, ... */

/* Constructs, each with its own file. NULL or false: reported. */
struct lang_syntax_item *lang_parse_file(struct lang_parser *p, size_t input);
struct lang_syntax_rule *lang_parse_rule(struct lang_parser *p);
struct lang_syntax_rule *lang_parse_bare_rule(struct lang_parser *p);
struct lang_syntax_machine *lang_parse_machine(struct lang_parser *p); /* MACHINE is next */
bool lang_parse_param(struct lang_parser *p);                          /* PARAM is next */
void lang_parse_modifiers(struct lang_parser *p, struct lang_syntax_rule *rule);
struct lang_syntax_structure *lang_parse_structure(struct lang_parser *p, struct lang_syntax_rule *rule);
bool lang_parse_length(struct lang_parser *p, struct lang_syntax_structure *spec);
bool lang_parse_repeat(struct lang_parser *p, struct lang_syntax_structure *group);
struct lang_syntax_expr *lang_parse_condition(struct lang_parser *p); /* with AND, OR, NOT, comparisons */
struct lang_syntax_expr *lang_parse_value(struct lang_parser *p);
struct lang_syntax_expr *lang_parse_item_value(struct lang_parser *p, const char *expect); /* no condition */
struct lang_syntax_expr *lang_parse_constant_value(struct lang_parser *p);
struct lang_syntax_expr *lang_parse_guard(struct lang_parser *p);          /* a condition, or several in braces */
struct lang_syntax_statement *lang_parse_statement(struct lang_parser *p); /* EMIT or CALL */
bool lang_parse_value_type(struct lang_parser *p, enum event_value *type); /* 0 after an error that does not stop */
/* What may stand behind it: what the values mean; else what the type says by itself. False as those above. */
bool lang_parse_meaning(struct lang_parser *p, enum event_value value, const struct meaning **meaning);
bool lang_parse_loss(struct lang_parser *p, enum lang_loss *loss); /* behind ON LOSS */
/* A number of runs or instances (sort) behind POOL, PER KEY, PER PROCESS (what). */
bool lang_parse_pool_size(struct lang_parser *p, const char *sort, const char *what, uint64_t *size);
enum lang_full lang_parse_full(struct lang_parser *p); /* behind POOL n */
bool lang_parse_except(struct lang_parser *p, struct lang_syntax_rule *rule);
bool lang_parse_severity(struct lang_parser *p, struct lang_syntax_properties *properties);
bool lang_parse_tags(struct lang_parser *p, struct lang_syntax_properties *properties);
bool lang_parse_description(struct lang_parser *p, struct lang_syntax_properties *properties);
/* Which of these begins here, as its keyword and what is behind it say. */
enum lang_property lang_at_property(const struct lang_parser *p);
bool lang_parse_property(struct lang_parser *p, struct lang_syntax_properties *properties); /* of a machine, once */
bool lang_parse_where(struct lang_parser *p, struct lang_syntax_rule *rule);
bool lang_parse_return(struct lang_parser *p, struct lang_syntax_rule *rule);
bool lang_parse_do(struct lang_parser *p, struct lang_syntax_rule *rule);
bool lang_parse_aggregate(struct lang_parser *p, struct lang_syntax_rule *rule);

/* A time that is longer than 0, of modifier; *broken: it is none. False: reported, and there is nothing to go on with.
 */
bool lang_parse_time(struct lang_parser *p, const char *modifier, uint64_t *ns, bool *broken);

/* Behind a value that begins at first: AS name, or the value's text as its name. */
bool lang_parse_name(struct lang_parser *p, const struct diag_location *first, struct lang_word *name);

#endif
