// SPDX-License-Identifier: BSD-2-Clause
/* Reports the state of the program to systemd, which has started it. */

#include "base/notify.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void notify_manager(const char *text)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t length = path ? strlen(path) : 0;
	int fd;

	if (length < 2 || length >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@'))
		return;
	memcpy(address.sun_path, path, length);
	if (path[0] == '@')
		address.sun_path[0] = 0;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	sendto(fd, text, strlen(text), MSG_NOSIGNAL, (const struct sockaddr *)&address,
	       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
	close(fd);
}

void notify_ready(void)
{
	notify_manager("READY=1");
}

void notify_reloading(void)
{
	char text[64];

	snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, clock_now_ns() / 1000);
	notify_manager(text);
}

void notify_stopping(void)
{
	notify_manager("STOPPING=1");
}

void notify_alive(void)
{
	if (getenv("WATCHDOG_USEC"))
		notify_manager("WATCHDOG=1");
}
