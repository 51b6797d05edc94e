// SPDX-License-Identifier: BSD-2-Clause
/* The floor of a pair rule: programs on both events that do nothing. */

#include "peer.h"

SEC("tp_btf/sys_enter") int on_enter(void *ctx)
{
	return target == 0;
}

SEC("tp_btf/sys_exit") int on_exit(void *ctx)
{
	return target == 0;
}
