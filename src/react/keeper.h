/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REACT_KEEPER_H
#define REACT_KEEPER_H

/*
 * A process that waits for the death of this one, and then makes good what it leaves behind: whoever is noted in the
 * table of stops goes on, once the programs that may stop anybody are gone, and what is in the journal is undone. It
 * holds no descriptor but the one it waits on, has a session of its own and takes no signal but SIGKILL and SIGSTOP. It
 * ends when react_keeper_end says so; then nothing is made good.
 */

#include "base/diag.h"
#include "react/stops.h"
#include "react/undo.h"

struct react_keeper;

struct react_keeper_options {
	struct react_stop_table *stops;
	struct undo *undo; /* NULL: nothing */
};

/* Returns when the keeper waits. -EAGAIN (no process), -EOPNOTSUPP (no pidfd) with a message. */
int react_keeper_start(const struct react_keeper_options *options, struct asterism_diag *diag,
		       struct react_keeper **made);

/* Readable when the keeper is no more. */
int react_keeper_fd(const struct react_keeper *keeper);
bool react_keeper_lives(const struct react_keeper *keeper);

/* Ends it. NULL is fine. */
void react_keeper_end(struct react_keeper *keeper);

#endif
