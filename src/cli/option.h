/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CLI_OPTION_H
#define CLI_OPTION_H

/*
 * An option is a row of its program's table: parser, --help, manual pages and shell completion all read it. Programs
 * number their options from 1 and name them by these numbers.
 */

#include "asterism/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cli_kind {
	CLI_FLAG,   /* takes no value; may be repeated where that means more of it */
	CLI_ANSWER, /* a flag that is answered at once, such as --help: what follows it is not looked at */
	CLI_TEXT,   /* any value */
	CLI_LIST,   /* items with commas between them; given again, it goes on */
	CLI_CHOICE, /* one of choices */
	CLI_TIME,   /* a number with a unit of the language: 500ms, 10s, 2min, 1h; without one: seconds */
	CLI_MOMENT, /* the same, 0 allowed, since the start of the inputs; after an @: on their own clock */
	CLI_BITS,   /* of a file's mode, octal: 640 */
	CLI_SIZE,   /* bytes: a number with K, M, G or T, or without */
	CLI_NUMBER, /* a positive decimal number */
};

/* The value of an option on a parsed command line. */
struct cli_value {
	const char *text; /* NULL: not given; of several the last, of lists all */
	uint64_t number;  /* flags: how often; TIME, MOMENT: ns; SIZE: bytes; CHOICE: index in choices; BITS; NUMBER */
	const char **texts; /* of an option that repeats: all of its values, in order */
	uint64_t *numbers;
	size_t count, text_capacity, number_capacity;
};

struct cli_option {
	const char *name; /* without the dashes */
	char letter;      /* or 0 */
	enum cli_kind kind;
	const char *value; /* what --help calls the value; NULL for flags */
	const char *const *choices;
	const char *help; /* one clause, no full stop */
	const char *more; /* further sentences, for the manual page alone; or NULL */
	bool repeats;     /* all of its values count, not the last */
	uint64_t most;    /* SIZE, NUMBER: the greatest value; 0: what the kind can hold */

	/* What the kind does not know is wrong with a value; before: those given until now. 0, or -errno and a message.
	 */
	int (*check)(const struct cli_value *before, const char *text, struct asterism_diag *diag);
	const char *complete; /* bash that completes $word where it is a value; NULL: choices, or nothing */
};

/* For complete. */
#define CLI_COMPLETE_FILE    "COMPREPLY=($(compgen -f -- \"$word\"))"
#define CLI_COMPLETE_FOLDER  "COMPREPLY=($(compgen -d -- \"$word\"))"
#define CLI_COMPLETE_PROCESS "COMPREPLY=($(compgen -W \"$(cd /proc && echo [0-9]*)\" -- \"$word\"))"

static inline bool cli_takes_value(const struct cli_option *option)
{
	return option->kind != CLI_FLAG && option->kind != CLI_ANSWER;
}

#endif
