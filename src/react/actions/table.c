// SPDX-License-Identifier: BSD-2-Clause
/* The actions there are: one row each. */

#include "react/actions/actions-priv.h"

const struct react_action *const react_actions[] = {
	&react_signal,         /* to threads and processes */
	&react_stop,           /* */
	&react_continue,       /* */
	&react_kill,           /* */
	&react_set_priority,   /* how they are scheduled */
	&react_boost_priority, /* */
	&react_share_cpu,      /* */
	&react_freeze,         /* whole cgroups */
	&react_thaw,           /* */
	&react_veto,           /* system calls about to begin */
	&react_exec,           /* commands */
	&react_message,        /* telling and counting */
	&react_count,          /* */
	&react_histogram,      /* */
	&react_snapshot,       /* */
	&react_stack,          /* */
	&react_stack_of,       /* */
	&react_ask,            /* asking user space */
	NULL,
};
