/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_OPTIONS_OPTIONS_H
#define CMD_OPTIONS_OPTIONS_H

/*
 * Every option of every command, in one table: the parser, --help, the manual pages and the shell completion all read
 * it. A new option is a new id here and a new row in options.c; a command takes it by naming the id.
 */

#include <stdint.h>

enum option_id {
	OPTION_NONE, /* ends a command's list */
	OPTION_ALL,
	OPTION_ALLOW_ACTIONS,
	OPTION_ASK,
	OPTION_CATALOG,
	OPTION_COLOR,
	OPTION_CPUS,
	OPTION_DIRECTORY,
	OPTION_ENGINE,
	OPTION_EVENT,
	OPTION_EVENTS,
	OPTION_FAIL_ON_MATCH,
	OPTION_FLIGHT,
	OPTION_FOR,
	OPTION_FORMAT,
	OPTION_FORMAT_EVENTS,
	OPTION_FROM,
	OPTION_GRAPH_FORMAT,
	OPTION_HEADER,
	OPTION_HELP,
	OPTION_INPUT,
	OPTION_JOBS,
	OPTION_LAST,
	OPTION_LAYOUT,
	OPTION_LIMIT,
	OPTION_LIVE,
	OPTION_MAX_SIZE,
	OPTION_MODE,
	OPTION_NO_CHILDREN,
	OPTION_NO_LIVE,
	OPTION_ORDINALS,
	OPTION_OUTPUT,
	OPTION_PID,
	OPTION_PIDS,
	OPTION_POLICY,
	OPTION_QUIET,
	OPTION_RING,
	OPTION_RULES,
	OPTION_RULE_TEXT,
	OPTION_SET,
	OPTION_SNAPSHOT,
	OPTION_SOCKET,
	OPTION_TESTS,
	OPTION_TEST_FORMAT,
	OPTION_TIDS,
	OPTION_TIMEOUT,
	OPTION_TIMES,
	OPTION_TO,
	OPTION_VERBOSE,
	OPTION_VERSION,
	OPTION_WAIT,
	OPTION_COUNT,
};

enum option_kind {
	OPTION_FLAG,    /* takes no value; may be repeated where that means more of it */
	OPTION_TEXT,    /* any value */
	OPTION_LIST,    /* items with commas between them; may be repeated */
	OPTION_CHOICE,  /* one of choices */
	OPTION_TIME,    /* a number with a unit of the language: 500ms, 10s, 2min, 1h; without one: seconds */
	OPTION_MOMENT,  /* the same, 0 allowed, since the start of the inputs; after an @: on their own clock */
	OPTION_BITS,    /* of a file's mode, octal: 640 */
	OPTION_SIZE,    /* bytes: a number with K, M or G, or without */
	OPTION_NUMBER,  /* a positive decimal number; may be repeated */
	OPTION_FILES,   /* a file; may be repeated */
	OPTION_SETTING, /* name=value; may be repeated */
};

struct option_row {
	const char *name; /* without the dashes */
	char letter;      /* or 0 */
	enum option_kind kind;
	const char *value; /* what --help calls the value; NULL for flags */
	const char *const *choices;
	const char *help; /* one clause, no full stop */
};

extern const struct option_row option_rows[OPTION_COUNT];

#endif
