/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LANG_CHECK_CHECK_PRIV_H
#define LANG_CHECK_CHECK_PRIV_H

/*
 * From syntax to struct lang_rule. What cannot be judged because of an error told before is passed over in silence:
 * an element of an unknown type has type NULL, an expression with an error is NULL.
 */

#include "event/catalog.h"
#include "lang/check/names-priv.h"
#include "lang/syntax/lex.h"
#include "lang/syntax/report.h"
#include "lang/syntax/syntax-priv.h"

/* Where an expression stands; decides what it may name. */
enum lang_context { LANG_IN_CONDITION, LANG_IN_VALUE, LANG_IN_EXCEPTION };

struct lang_check {
	struct lang_report *report;
	struct arena *arena;   /* of the program */
	struct arena *scratch; /* ends with the reading */
	struct event_catalog *catalog;
	const struct lang_unit *unit; /* what is known so far */
	struct lang_scope *scope;     /* of a machine, or NULL: then of the rule that follows */
	const struct lang_syntax_rule *syntax;
	struct lang_rule *rule;
	struct lang_names *names; /* of the rule's elements */
	enum lang_context context;
	struct lang_names *reported;     /* names found missing in this rule: each is worth one message */
	bool lost_condition;             /* a condition of this rule has an error */
	struct lang_names *broken_types; /* event types whose declaration has an error: not unknown, but of no use */
	struct lang_syntax_exception *exceptions; /* given apart from the rules */
	const char *host_name;                    /* as lang_unit's */
	bool wants_events;                        /* as lang_sources' */
	bool catalog_failed;                      /* a catalog is missing: an unknown event type may have been in it */
};

/* Zeroed memory of the program, or NULL; then the report knows. */
void *lang_keep(struct lang_check *c, size_t count, size_t size);

/* The catalog's type called by word, or NULL after an error. label: the name that the event gets, or NULL. */
const struct event_type *lang_find_type(struct lang_check *c, const struct lang_word *word, const char *label);

/* The field of type called by word, or NULL after an error. */
const struct event_field *lang_find_field(struct lang_check *c, const struct event_type *type,
					  const struct lang_word *word);

/* The field of type called name, also one that events have only where it is asked for; NULL: there is none. */
const struct event_field *lang_event_field(struct lang_check *c, const struct event_type *type, const char *name);
/* What 'name.fd.path' means of an event of type, or NULL after an error. */
const struct event_field *lang_find_path(struct lang_check *c, const struct event_type *type,
					 const struct lang_syntax_reference *reference);
/* The index of the element called by word, or LANG_NO_NAME after an error. */
uint32_t lang_find_element(struct lang_check *c, const struct lang_word *word);

/* Whether a value may name the element: it is part of every match, and once. False: reported. */
bool lang_is_part_of_match(struct lang_check *c, const struct lang_word *word, const struct lang_element *element);

/* The header field called by word of the event that completes the match, or NULL after an error. */
struct lang_expr *lang_check_header(struct lang_check *c, const struct lang_word *word,
				    const struct diag_location *location);

/* Steps, in this order. */
bool lang_check_pattern(struct lang_check *c);   /* root, elements, names; false: there is no pattern to speak of */
void lang_check_shape(struct lang_check *c);     /* what the language forbids of a pattern whatever the conditions */
void lang_check_where(struct lang_check *c);     /* conditions and joins */
void lang_check_negated(struct lang_check *c);   /* negations in the light of the conditions; warnings */
void lang_check_actions(struct lang_check *c);   /* RETURN and DO */
void lang_check_aggregate(struct lang_check *c); /* AGGREGATE and BY */
void lang_check_over(struct lang_check *c);
void lang_check_properties(struct lang_check *c, const struct lang_syntax_properties *syntax,
			   struct lang_properties *properties);
void lang_check_except(struct lang_check *c);
void lang_check_veto(struct lang_check *c); /* what a rule that refuses system calls must be like */

/* A whole rule into *rule. */
void lang_check_rule(struct lang_check *c, const struct lang_syntax_rule *syntax, struct lang_rule *rule);

/* After all rules: every exception given apart is one's. */
void lang_check_exceptions_taken(struct lang_check *c);

/* A whole machine into *machine. */
struct lang_syntax_machine;
void lang_check_machine(struct lang_check *c, const struct lang_syntax_machine *syntax, struct lang_machine *machine);

/* In a machine: a name or event.field; the variable called by word, or LANG_NO_NAME; whether it is the event's. */
struct lang_expr *lang_check_machine_name(struct lang_check *c, const struct lang_syntax_expr *syntax);
uint32_t lang_find_variable(struct lang_check *c, const struct lang_word *word);
bool lang_is_event_name(struct lang_check *c, const struct lang_word *word);

/* EMIT or CALL into *statement. */
void lang_check_statement(struct lang_check *c, const struct lang_syntax_statement *syntax,
			  struct lang_statement *statement);

/* EVENTS and EVENT items: to the catalog and to *type (EVENT only). False: reported. */
bool lang_declare(struct lang_check *c, const struct lang_syntax_item *item, const char *folder,
		  const struct event_type **type);

/* An expression with all names resolved and kinds settled, or NULL after an error. */
struct lang_expr *lang_check_expr(struct lang_check *c, const struct lang_syntax_expr *syntax);

/* The same, for a whole condition or value: bounded in depth; a condition is BOOL. */
struct lang_expr *lang_check_condition(struct lang_check *c, const struct lang_syntax_expr *syntax);
struct lang_expr *lang_check_value(struct lang_check *c, const struct lang_syntax_expr *syntax);

/* name.field and the array functions. */
struct lang_expr *lang_check_reference(struct lang_check *c, const struct lang_syntax_expr *syntax);

/* Sorts a checked condition into its kind and adds it to the rule, unless it breaks a rule of its own. */
void lang_classify(struct lang_check *c, struct lang_expr *expr);

void lang_check_join(struct lang_check *c, const struct lang_word *word);

/* Types (types.c). */
struct lang_expr *lang_new_expr(struct lang_check *c, enum lang_op op, enum lang_kind kind,
				const struct diag_location *location);
enum lang_kind lang_kind_of(enum event_value value);
const char *lang_kind_name(enum lang_kind kind); /* "an integer", "a string", ... */

/* The operator applied to operands of whatever kinds; op_location is the operator's. NULL after an error. */
struct lang_expr *lang_type_binary(struct lang_check *c, const struct lang_syntax_expr *syntax, struct lang_expr *left,
				   struct lang_expr *right);
struct lang_expr *lang_type_equal(struct lang_check *c, enum lang_op op, struct lang_expr *left,
				  struct lang_expr *right, const struct diag_location *op_location);
struct lang_expr *lang_type_minus(struct lang_check *c, struct lang_expr *operand,
				  const struct diag_location *location);

/* expr as an event field of this value type holds it; NULL after an error. */
struct lang_expr *lang_type_assign(struct lang_check *c, struct lang_expr *expr, const struct event_field *field);

/* Structure (structure.c). */

/* True where structure lies in group or is it. */
bool lang_is_within(const struct lang_structure *structure, const struct lang_structure *group);

/* True where structure may take no event at all; a negation takes none. */
bool lang_is_nullable(const struct lang_structure *structure);

bool lang_is_repeated(const struct lang_structure *structure);

/* The first negation that may end, or begin, structure; NULL: none does. */
const struct lang_structure *lang_last_negation(const struct lang_structure *structure);
const struct lang_structure *lang_first_negation(const struct lang_structure *structure);

bool lang_is_strict(const struct lang_rule *rule);
const char *lang_semantics_name(enum lang_semantics semantics);

#endif
