/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DAEMON_LOOP_H
#define DAEMON_LOOP_H

#include "daemon/daemon.h"

/* Opens everything, loads the directory. Returns 0 or -errno after a line in the log. */
int loop_open(struct daemon *daemon, const struct options *options);
void loop_close(struct daemon *daemon);

/* Until a signal ends it. Returns 0 or -errno. */
int loop_run(struct daemon *daemon);

#endif
