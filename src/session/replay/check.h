/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_REPLAY_CHECK_H
#define SESSION_REPLAY_CHECK_H

/* Whether an input can hold what rules look for: what was not recorded is not there, and its absence says nothing. */

#include "base/diag.h"
#include "event/catalog.h"
#include "session/replay/want.h"

struct replay_check {
	const struct program *program;
	struct event_catalog *catalog;
	struct event_source *source;
	struct replay_want *want;
	const char *remedy; /* how to record what is missing, for people; NULL: unknown */
	bool skips;         /* a rule that cannot match gets a warning, too, unless none of them can */
	/* See struct session_replay_options. NULL: of these, nothing is said. */
	void (*on_no_end)(void *context, uint32_t rule, const char *missing);
	void *context;
};

/*
 * Before the source is told what is wanted. A rule that cannot match without what the source does not hold is an error;
 * one that has other ways, or only forbids it, gets a warning. Sets absent for the types of the program whose events,
 * or fields that some rule looks at, the source does not hold: they are not to reach the rules. Returns 0, -EINVAL,
 * -ENOMEM.
 */
int replay_check(const struct replay_check *check, struct asterism_diag *diag, bool *absent);

#endif
