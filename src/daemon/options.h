/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DAEMON_OPTIONS_H
#define DAEMON_OPTIONS_H

/* The command line of asterismd. */

#include "asterism/session.h"
#include "cli/command.h"
#include "cli/container-name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OPTIONS_PIDS_MAX = 64, OPTIONS_NAMES_MAX = 64 };

struct options {
	const char *rules, *socket, *group;
	const char *output;  /* a file, unix:PATH, - */
	mode_t mode;         /* of the output; 0: for its owner alone */
	const char *metrics; /* ADDRESS:PORT; NULL: none */
	bool allow_actions;
	const char *policy;
	enum asterism_scope scope;
	pid_t pids[OPTIONS_PIDS_MAX];
	size_t pid_count;
	const char *cgroups[OPTIONS_NAMES_MAX + 1], *containers[OPTIONS_NAMES_MAX + 1], *units[OPTIONS_NAMES_MAX + 1],
		*comms[OPTIONS_NAMES_MAX + 1], *users[OPTIONS_NAMES_MAX + 1]; /* ended by NULL */
	char ids[OPTIONS_NAMES_MAX][CONTAINER_NAME_ID_BYTES]; /* of containers that runtimes know by name */
	uint64_t memory_max_bytes;                            /* 0: no limit */
	uint32_t cpu_max_percent;                             /* of one CPU; 0: no limit */
	uint32_t rate;                                        /* matches of a rule that are handed out per second */
	uint32_t units_max;
	uint32_t min_severity; /* as asterism_rule_info has it; 0: all are told */
	bool measure, count_transitions;
	const char *recordings; /* the folder of traces; NULL: none */
	uint64_t recordings_max_bytes;
	bool clients_record;          /* members of the group may begin recordings */
	bool sensors;                 /* has a directory of them, */
	uint64_t sensors_quota_bytes; /* in which each user may have so much; 0: usual */
	bool always;                  /* whose gates are open for good */
};

/* asterismd, for its help, manual page and completion. */
extern const struct cli_program daemon_program;

/* Reads argv, the name of the program first. Returns 0, or 1 + the status to end with, after saying why. */
int options_read(int argc, char **argv, struct options *options);

#endif
