/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_REPLAY_WANT_H
#define SESSION_REPLAY_WANT_H

/* What the rules of a program look at: of the rest of an input nothing needs to be decoded. */

#include "event/source.h"
#include "program/load.h"

struct session_tap;

struct replay_want {
	const struct program *program; /* borrowed */
	bool sees_all;                 /* types that the program does not know are part of some OVER { * } */
	bool *fields;                  /* per field of the program */
	const struct session_tap *tap; /* borrowed, or NULL: it wants more */
};

/* Free with replay_want_fini. Returns 0, -ENOMEM. */
int replay_want_init(struct replay_want *want, const struct program *program, const struct session_tap *tap);
void replay_want_fini(struct replay_want *want);

/* Borrows want. */
struct event_want replay_want_of(struct replay_want *want);

#endif
