/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_MEASURING_H
#define CMD_MEASURING_H

/* The measures and heartbeats of a command: what was asked for, and when it is told what they have come to. */

#include "cmd/text/sink.h"
#include "session/measure/measures.h"
#include "session/replay/replay.h"

struct measuring {
	struct measures *measures; /* NULL: none were asked for */
	struct asterism_diag *diag;
	struct sink *sink; /* borrowed: results go there */
	uint64_t every_ns; /* 0: at the end */
	uint64_t next_ns;
	bool is_wrong;   /* at the end: something was asked for that there is not */
	bool draws;      /* the table takes the place of the one before: on a terminal */
	int drawn_lines; /* of that */
};

/* Reads the options. Returns STATUS_FINE, or the status to end with after saying why. measuring_close either way. */
int measuring_open(struct measuring *measuring, const struct cli_arguments *arguments, struct sink *sink);
void measuring_close(struct measuring *measuring);

/* Whether the command line asks for some. */
bool measuring_is_asked(const struct cli_arguments *arguments);

/* An event of a replay. Returns 0, or -errno after which there is to be no more. */
int measuring_take(struct measuring *measuring, const struct event_source *source, const struct event *event);

/* Time has passed up to now_ns: tells what is due. Returns as measuring_take. */
int measuring_tell(struct measuring *measuring, uint64_t now_ns);

/* The end, and the last table. lost: events, of the whole input. */
int measuring_end(struct measuring *measuring, uint64_t lost);

/* What is left to tell, and the last table: measuring_end of a session that is live. */
int measuring_finish(struct measuring *measuring);

/* For a replay with rules. */
struct session_tap measuring_tap(struct measuring *measuring);

/* Measures the traces, without rules. Returns the status to end with. */
int measuring_replay(const struct cli_arguments *arguments);

#endif
