/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFILE_CALLGRIND_PRIV_H
#define PROFILE_CALLGRIND_PRIV_H

/* What reading callgrind's format goes by, and names in it. */

#include "profile/read-priv.h"

#include <string.h>

enum { INFOS_MAX = 1 << 13, POSITIONS_MAX = 2 };

enum { KIND_OBJECT, KIND_FILE, KIND_FUNCTION, KINDS };

/* What a number in brackets stands for: a text, and of a function where it was defined. */
struct named {
	uint32_t text, function, context;
	bool is_known;
};

struct place {
	uint32_t object, file;
};

enum awaited { AWAIT_COST, AWAIT_CALL, AWAIT_JUMP };

struct callgrind {
	struct reading *reading;
	struct profile *profile;
	struct named *names[KINDS];
	size_t name_capacity[KINDS];
	bool is_own, has_sums;
	unsigned position_count;
	int line_position; /* which of them is the line, or -1 */
	int address_position;
	uint64_t last[POSITIONS_MAX];
	struct place here, called, spot_place; /* spot_place: of the project's own lines */
	double calls;                          /* of the last line 'calls=' */
	bool has_called_object, has_called_file, has_callee, is_inlined;
	struct named function, callee;
	uint32_t edge;
	enum awaited awaited;
	double head_sums[PROFILE_EVENTS_MAX], sums[PROFILE_EVENTS_MAX], said[PROFILE_EVENTS_MAX];
};

static inline int callgrind_wrong(const struct callgrind *callgrind, const char *text)
{
	return read_wrong(callgrind->reading, NULL, "%s", text);
}

static inline bool is_word(const struct reading *reading, size_t length, const char *word)
{
	return strlen(word) == length && memcmp(reading->line, word, length) == 0;
}

/* The costs that follow are added to row and to sums; both may be NULL. */
int callgrind_read_costs(struct callgrind *callgrind, double *row, double *sums);

/* A line of the project's own format, behind its word of that length and a '='; a thread, in its head. */
int callgrind_read_own(struct callgrind *callgrind, size_t length);
int callgrind_read_thread(struct callgrind *callgrind);

/* "(3) name" defines a number, "(3)" is what it stands for, "name" has none. place: of a function that is new. */
int callgrind_read_name(struct callgrind *callgrind, int kind, const struct place *place, struct named *named);

#endif
