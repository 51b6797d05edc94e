// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides how metrics are asked for: GET /metrics and nothing else. The server has no thread of its own; it is stepped
 * by the daemon's loop, holds few connections, and gives each little memory and little time.
 */

#include "daemon/metrics.h"

#include "base/alloc.h"
#include "daemon/log.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONNECTIONS_MAX = 16, TIMEOUT_S = 5, CONNECTION_BYTES = 16 << 10 };

struct metrics {
	struct daemon *daemon;
	struct MHD_Daemon *server;
};

static enum MHD_Result reply(struct MHD_Connection *connection, unsigned status, const char *text, size_t length)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(length, (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
				status == MHD_HTTP_OK ? "text/plain; version=0.0.4; charset=utf-8" : "text/plain");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET");
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result reply_plainly(struct MHD_Connection *connection, unsigned status, const char *text)
{
	return reply(connection, status, text, strlen(text));
}

/* libmicrohttpd prescribes the parameters. */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url, const char *method,
				  const char *version, const char *body, size_t *body_length, void **state)
{
	static int seen;
	struct metrics *metrics = context;
	struct text_buffer text = { 0 };
	enum MHD_Result result;

	(void)version;
	(void)body;
	if (!*state) { /* only the header is there; a request is answered when all of it is */
		*state = &seen;
		return MHD_YES;
	}
	if (*body_length) {
		*body_length = 0;
		return MHD_YES;
	}
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0)
		return reply_plainly(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET is served\n");
	if (strcmp(url, "/metrics") != 0)
		return reply_plainly(connection, MHD_HTTP_NOT_FOUND, "there is only /metrics\n");
	metrics_write(metrics->daemon, &text);
	result = text.failure ? reply_plainly(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n")
			      : reply(connection, MHD_HTTP_OK, text.bytes, text.length);
	text_fini(&text);
	return result;
}

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* "HOST:PORT" with the host as a number, "[HOST]:PORT", or ":PORT". */
static int read_address(const char *text, union address *address)
{
	char host[64], *end;
	const char *colon = strrchr(text, ':');
	size_t length = colon ? (size_t)(colon - text) : sizeof host;
	unsigned long port = colon ? strtoul(colon + 1, &end, 10) : 0;

	if (length >= sizeof host || port == 0 || port > 65535 || *end || colon[1] < '0' || colon[1] > '9')
		return -EINVAL;
	memcpy(host, text, length);
	host[length] = 0;
	memset(address, 0, sizeof *address);
	if (length > 2 && host[0] == '[' && host[length - 1] == ']') {
		host[length - 1] = 0;
		address->v6.sin6_family = AF_INET6;
		address->v6.sin6_port = htons((uint16_t)port);
		return inet_pton(AF_INET6, host + 1, &address->v6.sin6_addr) == 1 ? 0 : -EINVAL;
	}
	address->v4.sin_family = AF_INET;
	address->v4.sin_port = htons((uint16_t)port);
	return inet_pton(AF_INET, length ? host : "127.0.0.1", &address->v4.sin_addr) == 1 ? 0 : -EINVAL;
}

int metrics_open(struct daemon *daemon, const char *text, struct metrics **made)
{
	struct metrics *metrics;
	union address address;

	if (read_address(text, &address)) {
		log_line(LOG_LEVEL_ERROR, "'%s' is no address for metrics, such as 127.0.0.1:9160 or [::1]:9160", text);
		return -EINVAL;
	}
	metrics = alloc_zero(1, sizeof *metrics);
	if (!metrics)
		return -ENOMEM;
	metrics->daemon = daemon;
	metrics->server =
		MHD_start_daemon(MHD_USE_EPOLL | (address.any.sa_family == AF_INET6 ? MHD_USE_IPv6 : 0), 0, NULL, NULL,
				 on_request, metrics, MHD_OPTION_SOCK_ADDR, &address.any, MHD_OPTION_CONNECTION_LIMIT,
				 (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S,
				 MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_END);
	if (!metrics->server) {
		log_line(LOG_LEVEL_ERROR, "metrics cannot be served at %s: %s", text, strerror(errno));
		alloc_free(metrics);
		return -EADDRNOTAVAIL;
	}
	*made = metrics;
	return 0;
}

void metrics_close(struct metrics *metrics)
{
	if (!metrics)
		return;
	MHD_stop_daemon(metrics->server);
	alloc_free(metrics);
}

int metrics_fd(const struct metrics *metrics)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(metrics->server, MHD_DAEMON_INFO_EPOLL_FD);

	return info ? info->epoll_fd : -1;
}

void metrics_step(struct metrics *metrics)
{
	MHD_run(metrics->server);
}
