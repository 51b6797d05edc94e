// SPDX-License-Identifier: BSD-2-Clause
/*
 * Serves metrics: GET /metrics and nothing else. The server has no thread of its own; it is stepped by its owner's
 * loop, holds few connections, and gives each little memory and little time.
 */

#include "expose/server.h"

#include "base/alloc.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONNECTIONS_MAX = 16, TIMEOUT_S = 5, CONNECTION_BYTES = 16 << 10 };

/*
 * libmicrohttpd brings libgnutls and more with it, a megabyte of memory: it is loaded where metrics are asked for, and
 * stays. What is used of it:
 */
#define FUNCTIONS(F)                   \
	F(create_response_from_buffer) \
	F(add_response_header)         \
	F(queue_response)              \
	F(destroy_response)            \
	F(start_daemon)                \
	F(stop_daemon)                 \
	F(get_daemon_info)             \
	F(run)

#define POINTER(name) __typeof__(MHD_##name) *name;
static struct {
	FUNCTIONS(POINTER)
} mhd;

/* Returns whether all is there. */
static bool load_library(void)
{
	void *library = mhd.run ? NULL : dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);

#define LOOK_UP(name) library && (mhd.name = (__typeof__(mhd.name))dlsym(library, "MHD_" #name)) &&
	return mhd.run || (FUNCTIONS(LOOK_UP) true);
}

struct expose_server {
	struct expose_options options;
	struct MHD_Daemon *server;
};

static enum MHD_Result reply(struct MHD_Connection *connection, unsigned status, const char *text, size_t length)
{
	struct MHD_Response *response =
		mhd.create_response_from_buffer(length, (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	mhd.add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
				status == MHD_HTTP_OK ? "text/plain; version=0.0.4; charset=utf-8" : "text/plain");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		mhd.add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET");
	result = mhd.queue_response(connection, status, response);
	mhd.destroy_response(response);
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
	const struct expose_server *server = context;
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
		return reply_plainly(connection, MHD_HTTP_NOT_FOUND, "not found: only /metrics is served\n");
	server->options.write(server->options.context, &text);
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

/* "HOST:PORT" with the host as a number, "[HOST]:PORT", ":PORT" or "PORT". */
static int read_host_address(const char *text, union address *address)
{
	char host[64], *end;
	const char *colon = strrchr(text, ':'), *digits = colon ? colon + 1 : text;
	size_t length = colon ? (size_t)(colon - text) : 0;
	unsigned long port = strtoul(digits, &end, 10);

	if (length >= sizeof host || port == 0 || port > 65535 || *end || *digits < '0' || *digits > '9')
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

int expose_server_open(const struct expose_options *options, struct asterism_diag *diag, struct expose_server **made)
{
	struct expose_server *server;
	union address address;

	if (read_host_address(options->address, &address))
		return diag_error(diag, NULL, -EINVAL,
				  "invalid address for metrics '%s': use one like 127.0.0.1:9160 or [::1]:9160",
				  options->address);
	if (!load_library())
		return diag_error(diag, NULL, -EOPNOTSUPP,
				  "cannot serve metrics without libmicrohttpd (package libmicrohttpd12): %s",
				  dlerror());
	server = alloc_zero(1, sizeof *server);
	if (!server)
		return diag_no_memory(diag);
	server->options = *options;
	server->server =
		mhd.start_daemon(MHD_USE_EPOLL | (address.any.sa_family == AF_INET6 ? MHD_USE_IPv6 : 0), 0, NULL, NULL,
				 on_request, server, MHD_OPTION_SOCK_ADDR, &address.any, MHD_OPTION_CONNECTION_LIMIT,
				 (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S,
				 MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_END);
	if (!server->server) {
		diag_error(diag, NULL, -EADDRNOTAVAIL, "cannot serve metrics at %s: %s", options->address,
			   strerror(errno));
		alloc_free(server);
		return -EADDRNOTAVAIL;
	}
	*made = server;
	return 0;
}

void expose_server_close(struct expose_server *server)
{
	if (!server)
		return;
	mhd.stop_daemon(server->server);
	alloc_free(server);
}

int expose_server_fd(const struct expose_server *server)
{
	const union MHD_DaemonInfo *info = mhd.get_daemon_info(server->server, MHD_DAEMON_INFO_EPOLL_FD);

	return info ? info->epoll_fd : -1;
}

void expose_server_step(struct expose_server *server)
{
	mhd.run(server->server);
}
