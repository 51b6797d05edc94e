/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DAEMON_LOOP_H
#define DAEMON_LOOP_H

#include "daemon/daemon.h"
#include "daemon/trial.h"

/* Opens everything, loads the directory. Returns DAEMON_FINE or the status to end with after a line in the log. */
enum daemon_status daemon_loop_open(struct daemon *daemon, const struct options *options);
void daemon_loop_close(struct daemon *daemon);

/* Until a signal ends it. Returns 0 or -errno. */
int daemon_loop_run(struct daemon *daemon);

#endif
