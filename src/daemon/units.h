/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DAEMON_UNITS_H
#define DAEMON_UNITS_H

/*
 * The units of rules that the daemon holds: files of its directory, and what clients have loaded. A file that was never
 * right is a unit without rules, so that it can be asked about.
 */

#include "base/text.h"
#include "daemon/request.h"

#include "asterism/asterism.h"

enum { UNIT_ERROR_BYTES = 512 };

/* Matches of one rule: so many are handed out in a second, the others are counted. */
struct unit_rule {
	uint32_t handed_now, refused_now;         /* in this second */
	uint64_t handed, refused, below_severity; /* the last: of a rule that matters too little to be told */
	bool crowded;                             /* that places were missing is told */
	bool bypassed;                            /* that calls were no events is told */
	bool unread;                              /* that events were not seen completely is told */
	uint32_t severity;                        /* of the rule, as asterism_rule_info has it */
};

struct unit {
	struct unit *next;
	char name[REQUEST_UNIT_BYTES];
	struct asterism_rules *rules; /* NULL: there are none */
	struct unit_rule *counts;     /* per rule */
	uid_t owner;
	bool is_file; /* of the directory */
	bool is_seen; /* in the reload that is under way */
	/* Matches before are told by what it replaces, from the other on by what replaces it; 0: there is no such time.
	 */
	uint64_t from_ns, until_ns;
	uint64_t hash;                /* of the content that it was made from; who may write there needs no collision */
	size_t length;                /* likewise */
	uint64_t events;              /* counted at the last tick */
	char error[UNIT_ERROR_BYTES]; /* why the file's content of today is not at work; "" */
};

struct units {
	struct unit *first;
	size_t count;
};

/* What a unit is made from. */
struct unit_source {
	const char *name;
	const void *bytes;
	size_t length;
	uid_t owner;
	bool is_file;
};

/* A unit that is in no list and not active. Returns 0, -EINVAL, -ENOMEM; asterism_session_error tells. */
int unit_new(struct asterism_session *session, const struct unit_source *source, struct unit **made);

/* Unloads and frees it. NULL is fine. */
void unit_free(struct unit *unit);

struct unit *units_find(const struct units *units, const char *name);

/* One whose name differs only by the ending of its file, .rule or .astc, which units of clients do not have. */
struct unit *units_find_similar(const struct units *units, const char *name);

void units_add(struct units *units, struct unit *unit);

/* Takes it out of the list and frees it. */
void units_remove(struct units *units, struct unit *unit);

/* unit takes the place of old, which is freed. */
void units_replace(struct units *units, struct unit *old, struct unit *unit);

/*
 * What the last call with the session had to say beside errors, such as that actions are only reported: a line of the
 * log each, and sentences for a list in JSON.
 */
void unit_log_notes(const struct asterism_session *session, const char *name);
void unit_append_notes(const struct asterism_session *session, struct text_buffer *list);

bool unit_is_active(const struct unit *unit);

/* How many of them are. */
size_t units_active(const struct units *units);

/* The kernel's memory for the runs of its rules, while it is active. */
uint64_t unit_kernel_bytes(const struct unit *unit);

/* Whether some rule of it runs in user space. */
bool unit_is_in_user_space(const struct unit *unit);

#endif
