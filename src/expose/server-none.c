// SPDX-License-Identifier: BSD-2-Clause
/* Stands in for the HTTP server where asterism was built without libmicrohttpd. */

#include "expose/server.h"

#include <errno.h>

int expose_server_open(const struct expose_options *options, struct asterism_diag *diag, struct expose_server **made)
{
	(void)made;
	return diag_error(diag, NULL, -EOPNOTSUPP, "metrics at %s: this program was built without libmicrohttpd",
			  options->address);
}

void expose_server_close(struct expose_server *server)
{
	(void)server;
}

int expose_server_fd(const struct expose_server *server)
{
	(void)server;
	return -1;
}

void expose_server_step(struct expose_server *server)
{
	(void)server;
}
