// SPDX-License-Identifier: BSD-2-Clause
/* Stands in for the HTTP server where the daemon was built without libmicrohttpd. */

#include "daemon/metrics.h"

#include "daemon/log.h"

#include <errno.h>

int metrics_open(struct daemon *daemon, const char *address, struct metrics **made)
{
	(void)daemon;
	(void)made;
	log_line(LOG_LEVEL_ERROR, "metrics at %s: this asterismd was built without libmicrohttpd", address);
	return -EOPNOTSUPP;
}

void metrics_close(struct metrics *metrics)
{
	(void)metrics;
}

int metrics_fd(const struct metrics *metrics)
{
	(void)metrics;
	return -1;
}

void metrics_step(struct metrics *metrics)
{
	(void)metrics;
}
