// SPDX-License-Identifier: BSD-2-Clause
/* What somebody who knows BPF well writes for "a system call longer than 10 ms": task storage, one clock read per
 * event. */

#include "peer.h"

struct begun {
	unsigned long long ts;
	long id;
};

struct found {
	unsigned long long took;
	long id;
	unsigned int tid;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct begun);
} calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
} results SEC(".maps");

SEC("tp_btf/sys_enter") int on_enter(unsigned long long *ctx)
{
	struct begun *begun;

	if (!in_scope())
		return 0;
	begun = bpf_task_storage_get(&calls, bpf_get_current_task_btf(), 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!begun)
		return 0;
	begun->id = ctx[1];
	begun->ts = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/sys_exit") int on_exit(unsigned long long *ctx)
{
	struct begun *begun;
	struct found *found;
	unsigned long long took;

	if (!in_scope())
		return 0;
	begun = bpf_task_storage_get(&calls, bpf_get_current_task_btf(), 0, 0);
	if (!begun || !begun->ts)
		return 0;
	took = bpf_ktime_get_ns() - begun->ts;
	begun->ts = 0;
	if (took <= 10000000)
		return 0;
	found = bpf_ringbuf_reserve(&results, sizeof *found, 0);
	if (!found)
		return 0;
	found->took = took;
	found->id = begun->id;
	found->tid = (unsigned int)bpf_get_current_pid_tgid();
	bpf_ringbuf_submit(found, 0);
	return 0;
}
