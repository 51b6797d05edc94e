/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REACT_ACTIONS_ACTIONS_PRIV_H
#define REACT_ACTIONS_ACTIONS_PRIV_H

/* The descriptors, each in a file of its own; table.c lists them. */

#include "react/react.h"

extern const struct react_action react_signal, react_stop, react_continue, react_kill, react_message, react_count,
	react_histogram, react_snapshot, react_set_priority, react_boost_priority, react_exec, react_freeze, react_thaw,
	react_veto, react_share_cpu, react_ask, react_stack, react_stack_of;

#define REACT_PARAMS(list) .params = (list), .param_count = sizeof(list) / sizeof *(list)

#endif
