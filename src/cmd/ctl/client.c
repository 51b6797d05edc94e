// SPDX-License-Identifier: BSD-2-Clause
/* Speaks to the daemon, and reports that it is not there. */

#include "cmd/ctl/client.h"

#include "base/text.h"
#include "cli/print.h"
#include "cmd/options/status.h"
#include "cmd/text/json.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static int explain_connect_error(const char *path, int error)
{
	switch (error) {
	case ENOENT:
	case ECONNREFUSED:
		cli_error("asterismd is not running: no process listens at %s", path);
		cli_hint("start it (systemctl start asterismd), or name its socket with --socket");
		return STATUS_USAGE;
	case EACCES:
	case EPERM:
		cli_error("no permission to use %s", path);
		cli_hint("only root and members of the group of 'asterismd --group' may use it");
		return STATUS_KERNEL;
	case EAGAIN:
		cli_error("asterismd at %s did not answer in time", path);
		cli_hint("it may be stopped, or busy loading rules; --timeout sets how long to wait");
		return STATUS_USAGE;
	default:
		cli_error("cannot use %s: %s", path, strerror(error));
		return STATUS_USAGE;
	}
}

static int connect_to_daemon(const char *path, uint64_t patience_ns, int *fd)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const struct timeval limit = { .tv_sec = (time_t)(patience_ns / 1000000000),
				       .tv_usec = (suseconds_t)(patience_ns / 1000 % 1000000) };

	if (strlen(path) >= sizeof address.sun_path)
		return explain_connect_error(path, ENAMETOOLONG);
	strcpy(address.sun_path, path);
	*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*fd < 0)
		return explain_connect_error(path, errno);
	setsockopt(*fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	setsockopt(*fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
	return connect(*fd, (const struct sockaddr *)&address, sizeof address) ? explain_connect_error(path, errno)
									       : STATUS_FINE;
}

/* A daemon that refuses a request early has replied already: the reply counts, not that it took no more. */
static bool send_all(int fd, const char *bytes, size_t length)
{
	while (length) {
		ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return errno == EPIPE || errno == ECONNRESET;
		bytes += sent;
		length -= (size_t)sent;
	}
	return true;
}

/* The reply is one line. */
static int receive_reply(const char *path, int fd, struct text_buffer *line)
{
	char bytes[1 << 16];

	while (!line->length || line->bytes[line->length - 1] != '\n') {
		ssize_t length = recv(fd, bytes, sizeof bytes, 0);

		if (length < 0 && errno == EINTR)
			continue;
		if (length < 0)
			return explain_connect_error(path, errno);
		if (length == 0) {
			cli_error("asterismd at %s closed the connection", path);
			return STATUS_USAGE;
		}
		text_append_bytes(line, bytes, (size_t)length);
		if (line->failure) {
			cli_error("the reply is too long");
			return STATUS_USAGE;
		}
	}
	return STATUS_FINE;
}

static int read_reply(const char *path, int fd, json_t **reply)
{
	struct text_buffer line = { 0 };
	json_error_t error;
	int status = receive_reply(path, fd, &line);

	if (!status) {
		*reply = cmd_json_load(line.bytes, line.length, &error);
		if (!json_is_object(*reply)) {
			json_decref(*reply);
			cli_error("the process that listens at %s is not asterismd", path);
			status = STATUS_USAGE;
		}
	}
	text_fini(&line);
	return status;
}

int ctl_ask(const struct ctl_way *way, json_t *request, const void *body, size_t length, json_t **reply)
{
	const char *path = way->path;
	char *text = json_dumps(request, JSON_COMPACT);
	int fd = -1, status = text ? connect_to_daemon(path, way->patience_ns, &fd) : STATUS_USAGE;

	if (!text)
		cli_error("out of memory");
	if (!status &&
	    (!send_all(fd, text, strlen(text)) || !send_all(fd, "\n", 1) || (body && !send_all(fd, body, length))))
		status = explain_connect_error(path, errno);
	if (!status)
		status = read_reply(path, fd, reply);
	if (fd >= 0)
		close(fd);
	free(text);
	json_decref(request);
	return status;
}
