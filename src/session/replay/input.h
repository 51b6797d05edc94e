/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_REPLAY_INPUT_H
#define SESSION_REPLAY_INPUT_H

/* The inputs of a replay, opened and merged into one source. */

#include "base/diag.h"
#include "event/catalog.h"
#include "event/source.h"
#include "session/replay/replay.h"

struct replay_input {
	struct event_source *source;
	uint64_t bytes_total; /* 0: unknown */
};

/* Opens the files of options; what each is, it says itself. Free with replay_input_close either way. Returns 0,
 * -EINVAL, -ENOMEM.
 */
int replay_input_open(const struct session_replay_options *options, struct event_catalog *catalog,
		      struct asterism_diag *diag, struct replay_input *input);
/* Before the first event: one input of JSON lines may be written as tests are. */
void replay_input_relax(struct replay_input *input);
void replay_input_close(struct replay_input *input);

#endif
