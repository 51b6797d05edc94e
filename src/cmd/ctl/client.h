/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_CTL_CLIENT_H
#define CMD_CTL_CLIENT_H

/* The client's side of asterismd's control socket (docs/formats/control.md). */

#include <jansson.h>
#include <stddef.h>

/*
 * Sends a request, which is taken over, and the length bytes of a body at body (NULL: there is none), to the daemon at
 * path, and waits for the reply.
 * Returns STATUS_FINE with the reply, to be freed with json_decref; or the status to end with after saying why.
 */
int ctl_ask(const char *path, json_t *request, const void *body, size_t length, json_t **reply);

#endif
