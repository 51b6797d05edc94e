/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DAEMON_RESULTS_H
#define DAEMON_RESULTS_H

/* What clients that want results have not asked for yet. */

#include "daemon/clients.h"

/* Forgets all of them. */
void results_clear(struct client *client);

/* From now on results of this unit ("": of any) are kept; those of others are forgotten. */
void results_want(struct client *client, const char *unit);

/* If there is a result, it is the reply to what the client awaits. */
bool results_reply(struct client *client);

#endif
