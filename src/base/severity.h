/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_SEVERITY_H
#define BASE_SEVERITY_H

/* How much a match of a rule matters to who reads it. */

enum severity {
	SEVERITY_NONE, /* the rule says nothing of it: where levels are compared, it is below all others */
	SEVERITY_INFO,
	SEVERITY_LOW,
	SEVERITY_MEDIUM,
	SEVERITY_HIGH,
	SEVERITY_CRITICAL,
};

enum { SEVERITY_NAME_COUNT = 5, SEVERITY_NAME_WIDTH = 8 /* the longest */ };

/* From info up, in order, then NULL: the name of a level is severity_names[level - 1]. */
extern const char *const severity_names[SEVERITY_NAME_COUNT + 1];

/* "" where the rule says nothing. */
const char *severity_name(enum severity severity);

#endif
