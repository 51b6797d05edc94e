// SPDX-License-Identifier: BSD-2-Clause
/* asterismd: holds rules, and hands out what they find. This file begins and ends it. */

#include "daemon/main.h"

#include "daemon/log.h"
#include "daemon/loop.h"
#include "base/notify.h"

#include <fcntl.h>
#include <unistd.h>

/* A standard descriptor that is closed would become the number of the next file opened, and get what is not for it. */
static void hold_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_WRONLY);
	}
}

int daemon_main(int argc, char **argv)
{
	static struct daemon daemon;
	struct options options;
	int status = options_read(argc, argv, &options);

	if (status)
		return status - 1;
	hold_standard_descriptors();
	log_open();
	status = daemon_loop_open(&daemon, &options);
	if (status == DAEMON_FINE) {
		size_t active = units_active(&daemon.units);

		log_line(LOG_LEVEL_INFO, "observing with %zu active unit%s", active, active == 1 ? "" : "s");
		notify_ready();
		status = daemon_loop_run(&daemon) ? DAEMON_FAILED : DAEMON_FINE;
	}
	daemon_loop_close(&daemon);
	if (status == DAEMON_FINE)
		log_line(LOG_LEVEL_INFO, "ended");
	else
		log_line(LOG_LEVEL_ERROR, "ended, with status %d", status);
	return status;
}
