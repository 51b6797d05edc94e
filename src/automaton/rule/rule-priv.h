/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef AUTOMATON_RULE_RULE_PRIV_H
#define AUTOMATON_RULE_RULE_PRIV_H

/* What the passes over one rule share, from its position automaton to the tables of the image. */

#include "automaton/rule/pattern-priv.h"
#include "base/diag.h"
#include "event/catalog.h"
#include "lang/syntax/ast-machine.h"
#include "program/build.h"

/* The types of the image, in its order. */
struct type_row {
	const struct event_type *type;
	uint32_t first_field;
};

struct unit_build {
	const struct lang_unit *unit;
	const struct event_catalog *catalog;
	struct asterism_diag *diag;
	struct program_build *out;
	struct type_row *types;
	size_t type_count, type_capacity;
};

enum slot_purpose {
	SLOT_FIELD, /* a field of an event, kept for later */
	SLOT_COUNT, /* rounds of a repeat, events of an array */
	SLOT_MIN,
	SLOT_MAX,
	SLOT_SUM,
	SLOT_FIRST,
	SLOT_LAST,
	SLOT_JOIN,     /* the value of a join field */
	SLOT_BOUND,    /* which of the events that may be missing are there, a bit each */
	SLOT_PROGRESS, /* how far a negated sequence has come, a bit per position */
	SLOT_OPENER,   /* PER PROCESS: the process that opened the run */
	SLOT_CONTEXT,  /* cpu, pid, tid, comm, and who it is about, of the last positive event */
};

struct slot {
	enum slot_purpose purpose;
	uint32_t number;  /* element, counter, join, negation or context part, by purpose */
	const void *what; /* the field, where there is one */
	enum program_kind kind;
	uint32_t bytes;
	const char *name;
};

/* `field of the event == slot`, kept apart because it may become a key. */
struct equality {
	uint32_t slot;
	uint32_t field; /* of the image */
	bool differs;   /* in kind: it is in `fit`, and tells runs of one key, but finds none */
};

enum { EQUALITIES_MAX = 64, SET_MAX = 16 };

/* A transition before its state's key is chosen. */
struct pending_transition {
	const struct event_type *type;
	struct equality equalities[EQUALITIES_MAX];
	uint32_t equality_count;
	uint32_t fit, hold; /* nodes, or NONE */
	uint32_t first_action, action_count;
	uint32_t target, element, flags;
	const char *note;
};

/* A state of the rule: the positions that were just passed (none: the start), and what else tells states apart. */
struct state {
	const struct position *positions[SET_MAX];
	uint32_t position_count;
	bool open;     /* an array that still collects; otherwise it is closed */
	bool deadline; /* complete when the time is up */
	struct pending_transition *pending;
	size_t pending_count, pending_capacity;
	uint32_t class;
	uint32_t more[PROGRAM_KEY_SLOTS_MAX]; /* of the key beside the slots of the class */
	uint32_t more_count;
};

struct key_row {
	uint32_t type; /* of the image, or NONE for the others */
	uint32_t fields[PROGRAM_KEY_SLOTS_MAX];
};

struct class_row {
	uint32_t slots[PROGRAM_KEY_SLOTS_MAX];
	uint32_t slot_count;
	struct key_row *keys;
	size_t key_count, key_capacity;
};

struct rule_build {
	struct unit_build *unit;
	const char *sort; /* "rule", "machine": for messages */
	const struct lang_rule *rule;
	struct arena *arena;
	struct pattern pattern;
	struct slot *slots;
	size_t slot_count, slot_capacity;
	struct state *states;
	size_t state_count, state_capacity;
	struct class_row *classes;
	size_t class_count, class_capacity;
	uint32_t *flags; /* per element: bit in the SLOT_BOUND word, or NONE */
	uint32_t flag_count;
	const struct event_type *ends;     /* of the stream besides: with it some runs end; NULL: none do */
	const struct event_type *renames;  /* likewise: with it threads have other numbers */
	bool drops_all;                    /* AFTER MATCH DROP, and there is no key that all classes have */
	bool wants_context;                /* a statement speaks of the completing event's thread or process */
	uint32_t first_element;            /* in the image */
	struct pending_transition nowhere; /* takes what is written after memory ran out */
	int error;                         /* the first failure sticks */
};

enum { STATES_MAX = 1 << 15 };

/* unit.c */
uint32_t unit_type(struct unit_build *unit, const struct event_type *type);
uint32_t unit_field(struct unit_build *unit, const struct event_type *type, const struct event_field *field);
enum program_kind unit_kind(enum event_value value);
/* What an image has for it. */
uint32_t unit_meaning(struct unit_build *unit, const struct meaning *meaning);

/* slots.c: slot of a purpose, made when it is new. */
uint32_t slots_get(struct rule_build *build, const struct slot *wanted);
uint32_t slots_find(const struct rule_build *build, enum slot_purpose purpose, uint32_t number, const void *what);
uint32_t slots_counter(struct rule_build *build, const struct pattern_node *node);
/* Which part of the context a field is, and where events of type have the part of that slot. */
uint32_t slots_context_part(const struct event_field *field);
const struct event_field *slots_context_field(const struct event_type *type, const struct slot *slot);
uint32_t slots_join(struct rule_build *build, uint32_t join);
/* Makes the slots that conditions, values and statements read. */
void slots_collect(struct rule_build *build);
/* Whether a match may be without the element: it stands below an alternative. */
bool slots_may_lack(const struct rule_build *build, uint32_t element);

/* cycles.c: that no EMIT feeds itself. */
int rule_check_cycles(struct unit_build *unit);

/* node.c: expression nodes; an operand PROGRAM_NONE of node_and is left out. */
uint32_t node_const(struct rule_build *build, enum program_kind kind, uint64_t bits);
uint32_t node_slot(struct rule_build *build, uint32_t slot);
uint32_t node_field(struct rule_build *build, const struct event_type *type, const struct event_field *field);
uint32_t node_op(struct rule_build *build, enum program_op op, enum program_kind kind, uint32_t a, uint32_t b);
uint32_t node_and(struct rule_build *build, uint32_t a, uint32_t b);
uint32_t node_or(struct rule_build *build, uint32_t a, uint32_t b);
uint32_t node_constant(struct rule_build *build, const struct lang_expr *expr);
enum program_op node_operation(enum lang_op op);
/* expr with the fields of element current (NONE: of none) read from the event, everything else from slots. */
uint32_t node_expr(struct rule_build *build, const struct lang_expr *expr, uint32_t current);

/* conditions.c */
struct pattern_point {
	const uint64_t *may, *must; /* what the run has bound; NULL: nothing yet */
	uint32_t current;           /* the element that the event becomes */
};

/* Adds to the pending transition what the event must fulfil to be current: guards, joins, correlations, negated
 * conditions.
 */
void conditions_fit(struct rule_build *build, struct pending_transition *pending, const struct pattern_point *point,
		    bool opens);
/* The relations that are known once element has come (or, an array, has closed), ANDed; PROGRAM_NONE: there are none.
 */
/* Whether a match has all that a value of it names, over slots; NONE: it always has. */
uint32_t conditions_there(struct rule_build *build, const struct lang_expr *expr);
uint32_t conditions_relations(struct rule_build *build, const struct pattern_point *point, uint32_t element);
uint32_t conditions_tests(struct rule_build *build, const struct count_test *tests);

/* actions.c */
/* PER PROCESS: whose run it is that the transition opens. */
void actions_opener(struct rule_build *build, struct pending_transition *pending);
void actions_take(struct rule_build *build, struct pending_transition *pending, const struct edge *edge, bool context);

/* states.c: all states and their pending transitions, from the start. */
int states_build(struct rule_build *build);
uint32_t states_find(struct rule_build *build, const struct state *wanted);
struct pending_transition *states_pending(struct rule_build *build, uint32_t state, const struct event_type *type);
void states_bound(const struct rule_build *build, const struct state *state, struct pattern_point *point);

/* edges.c: edges of state, with those that share an event type merged or diagnosed. */
struct merged_edge {
	struct edge edge;
	const struct position *targets[SET_MAX];
	const struct position *origins[SET_MAX]; /* of each target; NULL: the start */
	uint32_t target_count;
};
int edges_merge(struct rule_build *build, const struct state *state, struct merged_edge **merged, size_t *count);

/* forbid.c: what negations in force in state forbid; before the other pending transitions, and what they do in place,
 * after. */
void forbid_before(struct rule_build *build, uint32_t state);
void forbid_after(struct rule_build *build, uint32_t state);
/*
 * In a state of several positions: adds to the pending transition that the event is not forbidden to the edge's origin.
 * False if it always is, so that the edge is never taken.
 */
bool forbid_edge(struct rule_build *build, const struct state *state, const struct merged_edge *merged,
		 struct pending_transition *pending);
/* Adds to the pending transition, along merged from one state to target, that negations which only now come into force
 * have not begun.
 */
void forbid_begin(struct rule_build *build, const struct state *from, const struct merged_edge *merged,
		  const struct state *target, struct pending_transition *pending);

/* keys.c: the class of every state; whether the transitions of one agree on a key. */
bool keys_has(const struct rule_build *build, const struct state *state);
void keys_choose(struct rule_build *build);
void keys_add(struct rule_build *build, struct class_row *class, const struct key_row *key);

/* shapes.c: warns of rules that go blind, or count double. */
void shapes_warn(const struct rule_build *build);

/* ends.c: transitions of runs that end with a process or thread, once the classes are chosen. */
void ends_add(struct rule_build *build);

/* machine.c: a machine's tables. */
int machine_compile(struct unit_build *unit, const struct lang_machine *machine);

/* emit.c: the rule's tables. */
uint32_t rule_text(struct rule_build *build, const char *string);
void rule_emit_slots(struct rule_build *build, struct program_rule *out);
/* What an image takes for people: bytes of text that are not printable become `?`. */
char *rule_printable(struct rule_build *build, const char *text);
const char *rule_location(struct rule_build *build);
/* except.c: whether a match is excepted, over slots; NONE: never. */
uint32_t except_node(struct rule_build *build);
/* properties.c */
void rule_emit_properties(struct rule_build *build, const struct lang_properties *properties, struct program_rule *out);
uint32_t rule_naming(const struct lang_arg *arg);
void rule_emit(struct rule_build *build);

static inline void rule_fail(struct rule_build *build, int error)
{
	if (!build->error)
		build->error = error;
}

#endif
