/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_OPTIONS_COMMAND_H
#define CMD_OPTIONS_COMMAND_H

/*
 * A command is one file with one const descriptor, plus one row in table.c. Help, manual pages and completion are
 * made from the descriptors.
 */

#include "cmd/options/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { COMMAND_OPTIONS_MAX = 24 };

struct arguments;
struct lang_setting;

struct command_example {
	const char *line; /* as typed at a shell */
	const char *says; /* what it does, one sentence */
};

struct command {
	const char *name;
	const char *summary;                         /* one clause, lower case, no full stop */
	const char *operands;                        /* as the usage line shows them */
	const char *description;                     /* for the manual page; a blank line parts paragraphs */
	enum option_id options[COMMAND_OPTIONS_MAX]; /* besides --color and --help, which all take */
	const struct command_example *examples;      /* ended by one without a line */
	size_t operands_min, operands_max;           /* max 0: as many as there are */
	bool launches;                               /* what follows `--` is a command to launch, not operands */
	int (*run)(const struct arguments *arguments);
};

/* All commands in the order of the help, ended by NULL. */
extern const struct command *const commands[];

/* The command called name, or NULL. */
const struct command *command_find(const char *name);

/* The command name nearest to wanted, or NULL. */
const char *command_nearest(const char *wanted);

struct option_value {
	const char *text; /* NULL: not given; of several the last, of lists all */
	uint64_t number;  /* FLAG: how often; TIME, MOMENT: ns; SIZE: bytes; CHOICE: index in choices; BITS */
};

/* A parsed command line. Strings belong to argv. */
struct arguments {
	const struct command *command;
	struct option_value options[OPTION_COUNT];
	uint64_t *numbers; /* the values of OPTION_NUMBER options, in order */
	size_t number_count;
	const char **files; /* the values of OPTION_FILES options, in order */
	size_t file_count;
	struct lang_setting *settings; /* of --set, in order */
	size_t setting_count;
	char **joined; /* lists given in several pieces, put together; the names of settings */
	size_t joined_count, joined_capacity;
	const char **operands;
	size_t operand_count;
	char **launched; /* run: the command after `--` with its arguments, NULL-terminated; NULL where none */
};

/*
 * Parses argv[0..], which starts after the command's name. Returns 0, or a negative status whose explanation has
 * been printed to standard error. Free with arguments_fini either way.
 */
int arguments_parse(const struct command *command, int argc, char **argv, struct arguments *arguments);
void arguments_fini(struct arguments *arguments);

static inline bool arguments_has(const struct arguments *arguments, enum option_id id)
{
	return arguments->options[id].text != NULL;
}

#endif
