/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DAEMON_METRICS_H
#define DAEMON_METRICS_H

/* Metrics for Prometheus: the text, and the HTTP server that hands it out in the daemon's own loop. */

#include "daemon/daemon.h"

/* All metrics in the text exposition format 0.0.4. */
void metrics_write(struct daemon *daemon, struct text_buffer *text);

/* Serves at address ("127.0.0.1:9100", "[::1]:9100", ":9100"). Returns 0 or -errno after a line in the log. */
int metrics_open(struct daemon *daemon, const char *address, struct metrics **made);
void metrics_close(struct metrics *metrics);

/* Polls readable when metrics_step has something to do; that is to be called every second besides. */
int metrics_fd(const struct metrics *metrics);
void metrics_step(struct metrics *metrics);

#endif
