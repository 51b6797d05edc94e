/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

/*
 * A program is a const descriptor with a table of options and, where it has any, commands. A command is a const
 * descriptor as well; a program without commands has one of its own. Help, manual pages and completion are made from
 * these descriptors.
 */

#include "cli/option.h"

enum { CLI_COMMAND_OPTIONS_MAX = 40, CLI_OPTIONS_MAX = 160, CLI_ALWAYS_MAX = 4, CLI_TEXTS_MAX = 3 };

struct cli_arguments;

struct cli_example {
	const char *line; /* as typed at a shell */
	const char *says; /* what it does, one sentence */
};

/* A term and what is said of it. */
struct cli_entry {
	const char *term;
	const char *texts[CLI_TEXTS_MAX];
};

/* A list of terms in a manual page and, where it has a heading, in the help. */
struct cli_section {
	const char *title;                 /* of the manual page: in capitals */
	const char *heading;               /* of the help; NULL: there it is left out */
	const char *labels[CLI_TEXTS_MAX]; /* of the texts of each term; none: there is one text */
	const struct cli_entry *entries;   /* ended by one without a term */
};

struct cli_command {
	const char *name;                          /* NULL: the program itself */
	const char *summary;                       /* one clause, lower case, no full stop */
	const char *operands;                      /* as the usage line shows them */
	const char *description;                   /* a blank line parts paragraphs */
	unsigned options[CLI_COMMAND_OPTIONS_MAX]; /* besides those that all commands take, ended by 0 */
	const struct cli_section *words;           /* what the first operand can be: the first word of each term */
	const struct cli_section *const *sections; /* ended by NULL; or NULL */
	const struct cli_example *examples;        /* ended by one without a line; or NULL */
	const char *const *see_also;               /* pages such as "asterism(1)", ended by NULL; NULL: the program's */
	size_t operands_min, operands_max;         /* max 0: as many as there are */
	unsigned instead; /* the option of which each value may stand for an operand; 0: none */
	bool launches;    /* what follows `--` is a command to launch, not operands */
	int (*run)(const struct cli_arguments *arguments);
};

struct cli_program {
	const char *name;
	char manual;                      /* the section of its manual pages: '1', '8' */
	const struct cli_option *options; /* by number; 0 is none */
	unsigned option_count;            /* 0 included */
	unsigned always[CLI_ALWAYS_MAX];  /* options that all its commands take, ended by 0 */
	const struct cli_command *itself;
	const struct cli_command *const *commands; /* ended by NULL; NULL: it has none */
	const struct cli_section *statuses;        /* in the manual page of every command; or NULL */
	const char *const *see_also;
	const char *shell;    /* bash functions that complete calls; or NULL */
	const char *complete; /* bash that completes an operand; NULL: files */
};

#endif
