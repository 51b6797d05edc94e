/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EXPOSE_SERVER_H
#define EXPOSE_SERVER_H

/* An HTTP server that hands out metrics. It has no thread of its own: its owner's loop steps it. */

#include "base/diag.h"
#include "base/text.h"

struct expose_server;

struct expose_options {
	const char *address; /* "127.0.0.1:9100", "[::1]:9100"; ":9100" and "9100" are those of the loopback */
	void (*write)(void *context, struct text_buffer *text); /* all metrics */
	void *context;
};

/* Returns 0; -EINVAL, -EADDRNOTAVAIL, -EOPNOTSUPP (built without it), -ENOMEM, with a message. */
int expose_server_open(const struct expose_options *options, struct asterism_diag *diag, struct expose_server **made);
void expose_server_close(struct expose_server *server);

/* Polls readable when expose_server_step has something to do; that is to be called every second besides. */
int expose_server_fd(const struct expose_server *server);
void expose_server_step(struct expose_server *server);

#endif
