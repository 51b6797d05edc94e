/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_CTL_CLIENT_H
#define CMD_CTL_CLIENT_H

/* The client's side of asterismd's control socket (docs/formats/control.md). */

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* How the daemon is reached. */
struct ctl_way {
	const char *path;     /* of its socket */
	uint64_t patience_ns; /* for it to take the request, and then to send something; not 0 */
};

/*
 * Sends a request, which is taken over, and the length bytes of a body at body (NULL: there is none), and waits for the
 * reply. Returns STATUS_FINE with the reply, to be freed with json_decref; or the status to end with after saying why.
 */
int ctl_ask(const struct ctl_way *way, json_t *request, const void *body, size_t length, json_t **reply);

#endif
