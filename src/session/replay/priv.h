/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_REPLAY_PRIV_H
#define SESSION_REPLAY_PRIV_H

#include "session/replay/replay.h"

/* As session_replay, but that on_match is told every match, whatever its rule calls. */
int replay_events(const struct session_rules *rules, const struct session_replay_options *options,
		  struct asterism_diag *diag, struct session_totals *totals);

#endif
