/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_KERNEL_OWN_PROBE_H
#define EBPF_KERNEL_OWN_PROBE_H

/*
 * Functions of this program that do nothing but be called: probes on them (in catalogs:
 * uprobe:"asterism:process_state") make events of what asterism itself has found out, in whatever programs there are,
 * recorders too. Where there is no probe, a call costs as much as a call.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct own_process_state {
	int32_t pid, ppid;
	uint32_t euid;
	const char *cwd, *root;
	bool is_outside; /* its working directory does not lie below its root */
};

struct own_thread_state {
	pid_t pid, tid, ppid;
	int32_t prio;
	uint32_t cpu;
	char state; /* as /proc has it */
	bool is_kernel;
	const char *comm;
};

/* A system call that a thread sleeps in. */
struct own_call_state {
	pid_t pid, tid;
	uint32_t id;
	uint64_t args[4];
};

void own_probe_call_state(const struct own_call_state *state);
void own_probe_thread_state(const struct own_thread_state *state);
void own_probe_process_state(const struct own_process_state *state);
void own_probe_process_arguments(int32_t pid, const char *arguments);
void own_probe_descriptor_state(int32_t pid, int32_t fd, const char *target);

/* The code of the function that catalogs call name, or NULL. */
const void *own_probe_find(const char *name);

#endif
