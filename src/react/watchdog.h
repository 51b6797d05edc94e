/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REACT_WATCHDOG_H
#define REACT_WATCHDOG_H

/*
 * A process that waits for the death of this one, and then makes good what it leaves behind: each process noted in the
 * table of stops goes on, once the programs that may stop anybody are gone, and what is in the journal is undone. It
 * holds no descriptor but the one it waits on, has a session of its own and takes no signal but SIGKILL and SIGSTOP. It
 * ends when react_watchdog_end says so; then nothing is made good.
 */

#include "base/diag.h"
#include "react/stops.h"
#include "react/undo.h"

struct react_watchdog;

struct react_watchdog_options {
	struct react_stop_table *stops;
	struct undo *undo; /* NULL: nothing */
};

/* Returns when the watchdog waits. -EAGAIN (no process), -EOPNOTSUPP (no pidfd) with a message. */
int react_watchdog_start(const struct react_watchdog_options *options, struct asterism_diag *diag,
			 struct react_watchdog **made);

/* Readable when the watchdog is no more. */
int react_watchdog_fd(const struct react_watchdog *watchdog);
bool react_watchdog_lives(const struct react_watchdog *watchdog);

/* Ends it. NULL is fine. */
void react_watchdog_end(struct react_watchdog *watchdog);

#endif
