/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_READS_H
#define PROGRAM_READS_H

/*
 * Which fields of events a rule looks at, for those who fetch, decode or judge only these: the kernel side, the
 * readers of recordings, the engine (which strings must have been read) and the judge of system calls.
 *
 * What counts: a field in a condition, on the right of an action, or in a key; and all fields of an event that becomes
 * part of RETURN SEQUENCE. Returned values, arguments and warnings do not count: they are over slots, which actions
 * filled. What a notice or a match tells of its event (its time, its thread) does not count either: that is the
 * executor's own need.
 *
 * Shapes: fields are rows of the image: 0 to EVENT_HEADER_FIELDS - 1 are the header's, the others belong to one type
 * each. A field is told as often as it stands there.
 *
 * Errors: none. It may touch: the image alone; threads may ask at once. The time is linear in the rule's transitions
 * and the nodes of their expressions, which the loader bounds (PROGRAM_DEPTH_MAX, PROGRAM_EXPANSION_MAX).
 */

#include "program/load.h"

#include <stdbool.h>

/* What for. */
enum program_read {
	PROGRAM_READ_TO_FIND, /* to find out whether the event concerns the rule: keys, conditions of the start state */
	PROGRAM_READ_TO_STEP, /* for what it does to a run: other conditions, and actions */
	PROGRAM_READ_TO_KEEP, /* the event is kept as it is; of all its fields */
	PROGRAM_READ_TO_END,  /* program_each_end: how the string ends */
};

typedef void program_read_fn(void *context, uint32_t field, enum program_read what_for);

/*
 * Calls see for all that rule (a row of the image) looks at in events of type, a row too; PROGRAM_NONE: in events of
 * any type.
 */
void program_each_read(const struct program *program, uint32_t rule, uint32_t type, program_read_fn *see,
		       void *context);

/*
 * Calls see for those of these fields that a LIKE asks for more than how they begin, with what one is stored in as
 * well: the answer is open where the string was cut to its field.
 */
void program_each_end(const struct program *program, uint32_t rule, uint32_t type, program_read_fn *see, void *context);

/* Sets reads[i] for every body field i of type that rule looks at, and leaves the others, as many as type has, alone.
 */
void program_rule_reads(const struct program *program, uint32_t rule, uint32_t type, bool *reads);

/* The same of program_each_end. */
void program_rule_ends(const struct program *program, uint32_t rule, uint32_t type, bool *ends);

#endif
