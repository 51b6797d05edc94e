/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_INPUT_INPUTS_H
#define CMD_INPUT_INPUTS_H

/*
 * The traces that a command shows, merged by time. A trace of ours has event types of its own, those that were
 * recorded; other inputs have those of the Linux catalog and of the one that --catalog names.
 */

#include "cmd/options/options.h"
#include "cmd/text/sink.h"
#include "event/catalog.h"
#include "event/source.h"
#include "trace/jsonl/jsonl.h"

#include <signal.h>

struct inputs {
	struct event_source *source;
	struct event_catalog **catalogs; /* one per input */
	size_t count;
	struct asterism_diag *diag;
	struct sink *sink; /* borrowed, set before: it hears of streams that break off; NULL: none */
	size_t errors;
	int failure;                       /* that ended the reading */
	const volatile sig_atomic_t *stop; /* a signal asked for the end */
};

/* How --lenient and --time-field say that JSON lines are written. sink hears of streams that break off; NULL: none. */
struct trace_jsonl_form inputs_form(const struct cli_arguments *arguments, struct sink *sink);

/* Opens the operands and takes signals. Returns STATUS_FINE, or the status to end with after saying why. inputs_close
 * either way. */
int inputs_open(struct inputs *inputs, const struct cli_arguments *arguments);
void inputs_close(struct inputs *inputs);

/*
 * The next event: 1; 0 at the end or after a signal. What is wrong with an input is printed; what can be read behind it
 * comes all the same.
 */
int inputs_next(struct inputs *inputs, struct event *event);

/* The status of a command that has read its inputs, STATUS_FINE otherwise; says what the inputs lack. */
int inputs_status(const struct inputs *inputs);

#endif
