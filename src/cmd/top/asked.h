/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_TOP_ASKED_H
#define CMD_TOP_ASKED_H

#include "cmd/top/top.h"

/* Adds the rules of asterismd, which listens at socket. Returns STATUS_FINE, or the status to end with after saying
 * why. */
int top_ask(const char *socket, struct top *top);

#endif
