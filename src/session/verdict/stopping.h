/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_VERDICT_STOPPING_H
#define SESSION_VERDICT_STOPPING_H

/*
 * What a session needs so that its rules may stop processes: the table in which the kernel's programs note whom they
 * stop, and the watchdog that lets everybody go on when this process is killed. It exists before the first program does
 * and goes after the last.
 */

#include "ebpf/matcher/stops.h"
#include "program/load.h"
#include "react/watchdog.h"

struct stopping {
	struct ebpf_stops stops;
	struct react_watchdog *watchdog;
	struct undo *undo;
	uint32_t restarts;
};

/* Whether a rule of the program may do what is to be undone, given what is allowed per statement. */
bool stopping_is_needed(const struct program *program, const bool *allowed);

/* Returns 0, -EPERM, -ENOMEM, -EAGAIN with a message. undo: what the watchdog undoes, too. */
int stopping_open(struct stopping *stopping, struct undo *undo, struct asterism_diag *diag);

/* Readable when the watchdog is no more: poll then. */
int stopping_fd(const struct stopping *stopping);

/*
 * Replaces a watchdog that somebody has killed. Returns 0; 1 when fd is another now; -EAGAIN: there is none any more,
 * so no process is stopped from now on, and those that are have to be let go on.
 */
int stopping_poll(struct stopping *stopping, struct asterism_diag *diag);

/* No process is stopped after this returns; those that are stay so. */
void stopping_refuse(struct stopping *stopping);

/* Lets everybody go on, and gives everything back. */
void stopping_close(struct stopping *stopping);

#endif
