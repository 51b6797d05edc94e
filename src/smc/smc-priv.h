/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SMC_SMC_PRIV_H
#define SMC_SMC_PRIV_H

/* What a .sm file and a binding say, as trees in one arena. */

#include "base/text.h"
#include "lang/syntax/lex.h"
#include "lang/syntax/limits.h"
#include "smc/smc.h"

enum {
	SMC_ARGS_MAX = 16,
	SMC_KEYS_MAX = 8,
	SMC_STATES_MAX = 256,
	SMC_TRANSITIONS_MAX = 4096,
	SMC_NAMES_MAX = 128,
	SMC_PARTS_MAX = 64 /* of a guard, or of a list of actions */,
	SMC_TEXT_BYTES_MAX = 1 << 14 /* of a bound text */,
	SMC_MADE_BYTES_MAX = 1 << 24 /* of all texts on the way */
};

struct smc_word {
	const char *text;
	struct diag_location at;
};

struct smc_words {
	struct smc_word items[SMC_ARGS_MAX];
	unsigned count;
};

enum smc_expr_kind { SMC_NAME, SMC_LITERAL, SMC_STRING, SMC_CALL, SMC_COMPARE, SMC_AND, SMC_OR, SMC_NOT };

/* A guard, a part of one, or an action, which is a call. */
struct smc_expr {
	enum smc_expr_kind kind;
	struct smc_word word; /* a name; a literal or an operator as it is written */
	struct smc_expr *left, *right;
	struct smc_expr *args, *next; /* without ctxt */
};

struct smc_transition {
	struct smc_word name;
	struct smc_words params;
	struct smc_expr *guard, *actions;
	bool is_nil, is_broken;      /* broken: told already */
	struct smc_word map, target; /* map without text: that of the state */
	struct smc_transition *next;
};

struct smc_state {
	struct smc_word map, name;
	const char *written; /* how the machine calls it */
	struct smc_expr *entry, *exit;
	struct smc_transition *transitions;
	struct smc_state *next;
	/* What becomes of it. */
	struct smc_leg *legs;
	const char *entry_text, *exit_text;
	const char *timer; /* how long after entering AFTER fires; NULL: nothing starts it */
	bool is_reached, entry_starts_timer, exit_stops_timer;
};

struct smc_file {
	struct smc_word class, start_map, start;
	struct smc_state *states, *first;
	unsigned maps, state_count, transition_count;
};

enum smc_meaning { SMC_TEXT, SMC_KEY, SMC_END, SMC_NEW, SMC_TIMER, SMC_STOP, SMC_AFTER, SMC_EVENT };

/* What a transition, a guard's or an action's call is here. */
struct smc_bound {
	char sort; /* E G A */
	enum smc_meaning meaning;
	struct smc_word name;
	struct smc_words params;
	struct smc_words values;        /* EVENT: what its arguments are; KEY: names of params, or * */
	struct diag_location text;      /* TEXT, TIMER; EVENT: type and alias */
	struct diag_location by, where; /* EVENT; length 0: none */
	const char *key;                /* EVENT: how it finds its instance; NULL: not said */
	struct smc_bound *next;
};

struct smc_binding {
	struct smc_words keys;
	bool has_keys;
	struct diag_location before, head;
	struct smc_bound *bounds;
};

struct smc_reading {
	struct lang_report *report;
	struct lang_lexer lexer;
	struct lang_token token;
	struct arena *arena;
	unsigned depth, parts;
};

/* Tokens (reading.c). */
void smc_begin(struct smc_reading *reading, const struct diag_source *source);
void smc_advance(struct smc_reading *reading);
bool smc_at_word(const struct smc_reading *reading, const char *word); /* exactly so */
bool smc_accept(struct smc_reading *reading, enum lang_token_kind kind);
bool smc_take(struct smc_reading *reading, enum lang_token_kind kind, const char *what);
bool smc_take_word(struct smc_reading *reading, const char *what, struct smc_word *word);
bool smc_refuse(struct smc_reading *reading, const char *hint, const char *what);
/* Passes bytes that are no tokens, up to and with end; the token after them is current. False: they do not end. */
bool smc_skip_raw(struct smc_reading *reading, const char *end);
/* The bytes between braces, whose first is current. */
bool smc_take_braces(struct smc_reading *reading, struct diag_location *text);
struct smc_word smc_word_of(struct smc_reading *reading);

bool smc_parse(struct smc_reading *reading, struct smc_file *file);
bool smc_parse_guard(struct smc_reading *reading, struct smc_expr **guard);
bool smc_parse_call(struct smc_reading *reading, struct smc_expr **call);
bool smc_parse_binding(struct smc_reading *reading, struct smc_binding *binding);

/* One way a state answers an event. */
struct smc_leg {
	const struct smc_transition *transition;
	struct smc_bound *event;
	struct smc_state *target;       /* NULL: stays */
	const char *by, *where, *block; /* NULL: none */
	bool ends, is_partial, has_timer, stops_timer, is_idle, assigns;
	bool is_inherited; /* of Default: for whatever may come */
	struct smc_leg *next;
};

struct smc_work {
	struct lang_report *report;
	struct arena *arena;
	struct smc_file *file;
	struct smc_binding *binding;
	size_t made_bytes;
};

/* What the words of a bound text stand for. */
struct smc_arguments {
	const struct smc_words *params;
	const char *texts[SMC_ARGS_MAX];
	bool are_strings[SMC_ARGS_MAX];
};

struct smc_bound *smc_find(const struct smc_work *work, char sort, const char *name);

/* The text, counted; NULL after an error: there is none, or all together are too long. */
const char *smc_made(struct smc_work *work, const char *text);

/* The text with the arguments put in, also between the braces of strings; NULL after an error. */
const char *smc_expand(struct smc_work *work, const struct diag_location *text, const struct smc_arguments *arguments);

/* What a guard or the actions of a state come to, where a transition is on its way (NULL: of ENTRY and EXIT). */
struct smc_place {
	const struct smc_transition *transition;
	const struct smc_bound *event;
	struct smc_state *state, *target;
	bool is_entry, is_exit;
};

/* Whether the text of the arguments of a call could be told. */
bool smc_arguments_of(struct smc_work *work, const struct smc_place *place, const struct smc_expr *call,
		      const struct smc_bound *bound, struct smc_arguments *arguments);
/* The condition, the keys in it taken out into leg->by; false after an error. */
bool smc_guard(struct smc_work *work, const struct smc_place *place, const struct smc_expr *guard, struct smc_leg *leg);
bool smc_actions(struct smc_work *work, const struct smc_place *place, const struct smc_expr *actions,
		 struct smc_leg *leg);
/* All that the state does, in order. */
void smc_state_legs(struct smc_work *work, struct smc_state *state);
struct smc_state *smc_find_state(const struct smc_file *file, const char *map, const char *name);
void smc_write(struct smc_work *work, struct text_buffer *text);

#endif
