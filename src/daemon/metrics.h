/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DAEMON_METRICS_H
#define DAEMON_METRICS_H

/* The daemon's metrics for Prometheus. */

#include "daemon/daemon.h"
#include "expose/server.h"

/* Serves at address, as expose_server_open has it. Returns 0 or -errno after a line in the log. */
int metrics_open(struct daemon *daemon, const char *address, struct expose_server **made);

#endif
