/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_OUTPUT_WHEN_H
#define SESSION_OUTPUT_WHEN_H

/*
 * When and where a match was, as its reader wants it: the clock and the machine that its events come from, the form of
 * its times, and the container of its process.
 */

#include "base/container.h"
#include "event/source.h"

#include <stdbool.h>
#include <stdio.h>

enum when_form {
	WHEN_MONO,  /* seconds of the clock that events carry */
	WHEN_WALL,  /* the date and the host; where the machine does not say them, as above */
	WHEN_DELTA, /* seconds since the match before */
};

struct when {
	enum when_form form;
	bool in_json; /* date and host stand in JSON as well */
	const struct event_machine *machine;
	uint64_t last_ns;              /* the match before; 0: none */
	const struct container *place; /* of the match's process (place.h); NULL: unknown, or none */
};

/* This machine's, now. Called again, it follows the clock where that was set, or where the machine has slept. */
void when_take_machine(struct event_machine *machine);

/* The time of a match, with its host, in text; and that of one of its events, or of its steps. */
void when_put(FILE *stream, struct when *when, uint64_t ts);
void when_put_event(FILE *stream, const struct when *when, uint64_t ts);

/* ,"time":"...","host":"..." as far as they are wanted and known; a time that is wanted and unknown is null. */
void when_put_json(FILE *stream, const struct when *when, uint64_t ts);

#endif
