// SPDX-License-Identifier: BSD-2-Clause
/* asterismd: holds rules, and hands out what they find. Decides how it begins and ends. */

#include "daemon/log.h"
#include "daemon/loop.h"
#include "daemon/notify.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* A standard descriptor that is closed would become the number of the next file opened, and get what is not for it. */
static void hold_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_WRONLY);
	}
}

int main(int argc, char **argv)
{
	static struct daemon daemon;
	struct options options;
	int status = options_read(argc, argv, &options), result;

	if (status)
		return status - 1;
	hold_standard_descriptors();
	log_open();
	result = loop_open(&daemon, &options);
	if (!result) {
		log_line(LOG_LEVEL_INFO, "observing, with %zu units of rules", daemon.units.count);
		notify_ready();
		result = loop_run(&daemon);
	}
	loop_close(&daemon);
	if (!result)
		log_line(LOG_LEVEL_INFO, "ended");
	return result ? EXIT_FAILURE : EXIT_SUCCESS;
}
