/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PEERS_PEER_H
#define PEERS_PEER_H

/* What the hand-written kernel programs of the benchmark share. No kernel headers: they need only pointers. */

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char peer_license[] SEC("license") = "Dual BSD/GPL";

/* The process to observe; set by the loader. */
const volatile unsigned int target;

static __always_inline int in_scope(void)
{
	return bpf_get_current_pid_tgid() >> 32 == target;
}

#endif
