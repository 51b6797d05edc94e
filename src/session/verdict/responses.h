/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_VERDICT_RESPONSES_H
#define SESSION_VERDICT_RESPONSES_H

/*
 * What a live session needs to respond to matches: reactions, and questions where a rule stops processes. They
 * are there before the first match and until the last.
 */

#include "session/verdict/verdicts.h"
#include "session/verdict/reactions.h"

struct responses {
	struct reactions *reactions; /* NULL: not open */
	struct verdicts *verdicts;   /* NULL: likewise, or no rule stops anybody */
};

/* Returns 0, or as policy_check, reactions_new and verdicts_new; then responses_close is still needed. */
int responses_open(struct responses *responses, const struct responses_options *options, struct asterism_diag *diag);

/* No program may run that stops anybody. */
void responses_close(struct responses *responses);

/* As verdicts_poll, for both. */
int responses_poll(const struct responses *responses, uint64_t now_ns, uint64_t *wait_ns);

#endif
