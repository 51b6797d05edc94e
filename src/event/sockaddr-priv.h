/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EVENT_SOCKADDR_PRIV_H
#define EVENT_SOCKADDR_PRIV_H

#include "event/about.h"

/* What events of the type called so say, where they are asked, of the address that a call is given or gives; or NULL.
 */
const struct event_about *event_sockaddr_find(const char *type, const char *name);

#endif
