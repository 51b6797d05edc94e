// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the state of threads for a state dump. A thread may end while its files are read: then it is left out, and the
 * recording tells of its end; so is what may not be read.
 */

#include "session/record/state-dump.h"

#include "base/proc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_BYTES = 8192, NAMESPACES_MAX = 32, FLAG_KERNEL_THREAD = 0x00200000 };

/* The file below /proc as text, cut to size - 1 bytes. */
static bool read_proc_text(pid_t pid, pid_t tid, const char *name, char *text, size_t size)
{
	char path[96];

	snprintf(path, sizeof path, "/proc/%d/task/%d/%s", pid, tid, name);
	return proc_read(path, text, size) > 0;
}

static int32_t status_of(char state)
{
	switch (state) {
	case 'R':
		return CTF_STATUS_WAIT_CPU;
	case 'S':
	case 'D':
	case 'I':
		return CTF_STATUS_WAIT;
	case 'Z':
		return CTF_STATUS_ZOMBIE;
	case 'X':
		return CTF_STATUS_DEAD;
	default:
		return CTF_STATUS_UNNAMED;
	}
}

int state_dump_parse(const char *stat, const char *status, const char *parent, struct ctf_process *process)
{
	uint64_t tids[NAMESPACES_MAX], pids[NAMESPACES_MAX], parents[NAMESPACES_MAX];
	int levels = proc_numbers(status, "NSpid:", tids, NAMESPACES_MAX);
	struct proc_stat parsed;

	*process = (struct ctf_process){ .mode = CTF_MODE_UNKNOWN, .submode = CTF_SUBMODE_UNKNOWN };
	if (levels == 0 || proc_numbers(status, "NStgid:", pids, NAMESPACES_MAX) != levels ||
	    proc_stat_parse(stat, &parsed))
		return -EINVAL;
	/* Names of kernel workers are longer here than they are in events. */
	memcpy(process->name, parsed.name, sizeof process->name - 1);
	process->status = status_of(parsed.state);
	process->ppid = parsed.parent;
	if (parsed.flags & FLAG_KERNEL_THREAD)
		process->type = CTF_KERNEL_THREAD;
	process->cpu = parsed.cpu;
	process->tid = (int32_t)tids[0];
	process->pid = (int32_t)pids[0];
	process->vtid = (int32_t)tids[levels - 1];
	process->vpid = (int32_t)pids[levels - 1];
	process->ns_level = levels - 1;
	/* A parent outside has no id inside. */
	if (parent && proc_numbers(parent, "NStgid:", parents, NAMESPACES_MAX) >= levels)
		process->vppid = (int32_t)parents[levels - 1];
	return 0;
}

/* The number in "pid:[4026531836]"; 0: it may not be known. */
static uint32_t namespace_of(pid_t pid, pid_t tid)
{
	char path[96], text[64];
	unsigned number;

	snprintf(path, sizeof path, "/proc/%d/task/%d/ns/pid", pid, tid);
	ssize_t length = readlink(path, text, sizeof text - 1);
	text[length > 0 ? length : 0] = 0;
	return sscanf(text, "pid:[%u]", &number) == 1 ? number : 0;
}

static int dump_thread(pid_t pid, pid_t tid, state_dump_fn *report, void *context)
{
	char stat[1024], status[STATUS_BYTES], parent[STATUS_BYTES];
	struct ctf_process process;
	int32_t ppid;

	if (!read_proc_text(pid, tid, "stat", stat, sizeof stat) ||
	    !read_proc_text(pid, tid, "status", status, sizeof status) ||
	    state_dump_parse(stat, status, NULL, &process))
		return 0;
	ppid = process.ppid;
	if (ppid && read_proc_text(ppid, ppid, "status", parent, sizeof parent))
		state_dump_parse(stat, status, parent, &process);
	process.ns_inum = namespace_of(pid, tid);
	return report(context, &process);
}

struct dump {
	pid_t pid;
	state_dump_fn *report;
	void *context;
};

static int each_thread(void *context, pid_t tid)
{
	const struct dump *dump = context;

	return dump_thread(dump->pid, tid, dump->report, dump->context);
}

int state_dump_process(pid_t pid, state_dump_fn *report, void *context)
{
	struct dump dump = { pid, report, context };
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task", pid);
	int result = proc_each(path, each_thread, &dump);

	return result == -ENOENT || result == -ESRCH || result == -EACCES ? 0 : result;
}

static int each_process(void *context, pid_t pid)
{
	const struct dump *dump = context;

	return pid == getpid() ? 0 : state_dump_process(pid, dump->report, dump->context);
}

int state_dump_all(state_dump_fn *report, void *context)
{
	struct dump dump = { 0, report, context };

	return proc_each("/proc", each_process, &dump);
}
