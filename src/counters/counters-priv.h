/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COUNTERS_COUNTERS_PRIV_H
#define COUNTERS_COUNTERS_PRIV_H

/* What the reader's parts share: where they are in a line, and what is wrong there. */

#include "base/alloc.h"
#include "counters/counters.h"

struct counter_reading {
	struct counters *counters;
	struct asterism_diag *diag;
	const struct diag_source *source;
	uint32_t source_index, number; /* of the source, of the line */
	const char *line, *at, *end;
	uint32_t class;           /* that types belong to; HASH_NONE: none yet */
	uint32_t type;            /* that further lines are about */
	uint32_t lines, formulas; /* about it */
};

/* Says what is wrong at the place reached; returns -EINVAL. */
int counters_wrong(const struct counter_reading *reading, const char *hint, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same at a place of a registry's source. */
int counters_wrong_at(const struct counters *counters, struct asterism_diag *diag, const struct counter_place *place,
		      const char *format, ...) __attribute__((format(printf, 4, 5)));

void counters_skip_blanks(struct counter_reading *reading);
struct counter_place counters_place_of(const struct counter_reading *reading, const char *at, size_t length);

/* Whether the next word is this one, which is then passed. */
bool counters_pass(struct counter_reading *reading, const char *word);

/* The next word, up to a blank or a comma, which has something. */
int counters_word(struct counter_reading *reading, const char *what, const char **word);

/* A name of letters, digits and _, which may have a class before it. */
int counters_name(struct counter_reading *reading, const char *what, bool may_have_class, const char **name);

/* A text in quotes. */
int counters_quoted(struct counter_reading *reading, const char *what, const char **text);
int counters_number(struct counter_reading *reading, double *number);

/* The word's index in names, which NULL ends. */
int counters_choice(struct counter_reading *reading, const char *what, const char *const *names, unsigned *choice);

/* After "ON linux:" and "=". */
int counters_read_source(struct counter_reading *reading, struct counter_source **source);
int counters_read_formula(struct counter_reading *reading, struct counter_formula **formula);

/* What a name in a formula of this class means: a type of the class, else any; HASH_NONE: there is none. */
uint32_t counters_find_in(const struct counters *counters, uint32_t class, const char *name);
int counters_add_name(struct counters *counters, uint32_t type);

#endif
