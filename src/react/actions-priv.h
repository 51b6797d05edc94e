/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REACT_ACTIONS_PRIV_H
#define REACT_ACTIONS_PRIV_H

/* The descriptors, each in a file of its own; table.c lists them. */

#include "react/react.h"

extern const struct react_action react_ask, react_signal, react_stop, react_continue, react_kill, react_message,
	react_count, react_histogram, react_snapshot, react_set_priority;

#define REACT_PARAMS(list) .params = (list), .param_count = sizeof(list) / sizeof *(list)

#endif
