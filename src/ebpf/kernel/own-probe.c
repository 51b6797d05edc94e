// SPDX-License-Identifier: BSD-2-Clause
/* The functions that catalogs can have probes on. They are called through a register file: it is read by the probe. */

#include "ebpf/kernel/own-probe.h"

#include <stddef.h>
#include <string.h>

/* What keeps the compiler from leaving out the call or its arguments. */
#define PROBED __attribute__((noinline, noclone, used))

/* user holds the effective user, and in bit 32 whether the process is outside of its root. */
static PROBED void process_state(uint64_t pid, uint64_t ppid, uint64_t user, const char *cwd, const char *root)
{
	__asm__ volatile("" ::"r"(pid), "r"(ppid), "r"(user), "r"(cwd), "r"(root) : "memory");
}

/* threads holds the thread, and above it the parent; now its priority, whether it is the kernel's, and the CPU.
 */
static PROBED void thread_state(uint64_t pid, uint64_t threads, uint64_t now, const char *state, const char *comm)
{
	__asm__ volatile("" ::"r"(pid), "r"(threads), "r"(now), "r"(state), "r"(comm) : "memory");
}

/* thread holds the thread, and above it the number of the call. */
static PROBED void call_state(uint64_t pid, uint64_t thread, const uint64_t args[4])
{
	__asm__ volatile("" ::"r"(pid), "r"(thread), "r"(args) : "memory");
}

static PROBED void process_arguments(uint64_t pid, const char *arguments)
{
	__asm__ volatile("" ::"r"(pid), "r"(arguments) : "memory");
}

static PROBED void descriptor_state(uint64_t pid, uint64_t fd, const char *target)
{
	__asm__ volatile("" ::"r"(pid), "r"(fd), "r"(target) : "memory");
}

void own_probe_process_state(const struct own_process_state *state)
{
	process_state((uint64_t)state->pid, (uint64_t)state->ppid, state->euid | (uint64_t)state->is_outside << 32,
		      state->cwd, state->root);
}

void own_probe_thread_state(const struct own_thread_state *state)
{
	const char letter[] = { state->state, 0 };

	thread_state((uint64_t)state->pid, (uint32_t)state->tid | (uint64_t)state->ppid << 32,
		     (state->prio & 0xffff) | (uint64_t)state->is_kernel << 16 | (uint64_t)state->cpu << 32, letter,
		     state->comm);
}

void own_probe_call_state(const struct own_call_state *state)
{
	call_state((uint64_t)state->pid, (uint32_t)state->tid | (uint64_t)state->id << 32, state->args);
}

void own_probe_process_arguments(int32_t pid, const char *arguments)
{
	process_arguments((uint64_t)pid, arguments);
}

void own_probe_descriptor_state(int32_t pid, int32_t fd, const char *target)
{
	descriptor_state((uint64_t)pid, (uint64_t)fd, target);
}

const void *own_probe_find(const char *name)
{
	static const struct {
		const char *name;
		uintptr_t code;
	} probes[] = {
		{ "process_state", (uintptr_t)process_state },
		{ "thread_state", (uintptr_t)thread_state },
		{ "call_state", (uintptr_t)call_state },
		{ "process_arguments", (uintptr_t)process_arguments },
		{ "descriptor_state", (uintptr_t)descriptor_state },
	};

	for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
		if (strcmp(probes[i].name, name) == 0)
			return (const void *)probes[i].code;
	}
	return NULL;
}
