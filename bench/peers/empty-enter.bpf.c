// SPDX-License-Identifier: BSD-2-Clause
/* The floor of a rule on one event: a program that does nothing. */

#include "peer.h"

SEC("tp_btf/sys_enter") int on_enter(void *ctx)
{
	return target == 0;
}
