// SPDX-License-Identifier: BSD-2-Clause
/* Listens for streams: one peer, for whom everything else is closed. */

#include "trace/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

static bool read_listen_address(const char *text, struct sockaddr_in *address)
{
	const char *colon = strrchr(text, ':'), *digits = colon ? colon + 1 : text;
	char host[64] = "127.0.0.1", *end;
	unsigned long port = strtoul(digits, &end, 10);

	if (*end || *digits < '0' || *digits > '9' || port > 65535 || (colon && (size_t)(colon - text) >= sizeof host))
		return false;
	if (colon)
		snprintf(host, sizeof host, "%.*s", (int)(colon - text), text);
	*address = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	return inet_pton(AF_INET, host, &address->sin_addr) == 1;
}

int trace_listen(const char *text, struct asterism_diag *diag)
{
	struct sockaddr_in address;
	const int yes = 1;
	int fd, peer = -1, result;

	if (!read_listen_address(text, &address))
		return diag_error(diag, NULL, -EINVAL,
				  "invalid address to listen at: '%s' (use one like 9000 or 0.0.0.0:9000)", text);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
	    bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 1) == 0)
		peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	result = peer < 0 ? -errno : peer;
	if (fd >= 0)
		close(fd);
	return result < 0 ? diag_error(diag, NULL, result, "cannot listen at %s: %s", text, strerror(-result)) : result;
}

int trace_serial(const char *path, struct asterism_diag *diag)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct termios settings;

	if (fd < 0)
		return diag_error(diag, NULL, -EINVAL, "cannot read %s: %s", path, strerror(errno));
	if (tcgetattr(fd, &settings) == 0) {
		cfmakeraw(&settings);
		tcsetattr(fd, TCSANOW, &settings);
	}
	return fd;
}
