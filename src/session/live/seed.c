// SPDX-License-Identifier: BSD-2-Clause
/* Reports what is there already when a session begins. Whatever has gone meanwhile, or may not be read, is left out. */

#include "session/live/seed.h"

#include "base/alloc.h"
#include "base/proc.h"
#include "ebpf/kernel/own-probe.h"
#include "event/type.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS_MAX = 2, PAUSE_AFTER = 256 /* events */, FLAG_KERNEL_THREAD = 0x00200000 };

static const char *const types[] = { "process_state", "thread_state", "call_state", "descriptor_state",
				     "process_arguments" };

bool seed_is_wanted(const struct program *program, const struct selection *what)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if (program && program_type_find(program, types[i]) != PROGRAM_NONE)
			return true;
		for (size_t j = 0; what && j < what->count; j++) {
			if (strcmp(what->events[j].type->name, types[i]) == 0)
				return true;
		}
	}
	return false;
}

/* The column'th number on a line of /proc/PID/status, from 0; 0 where it is not there. */
static uint32_t number_after(const char *status, const char *label, int column)
{
	uint64_t numbers[COLUMNS_MAX];

	return proc_numbers(status, label, numbers, COLUMNS_MAX) > column ? (uint32_t)numbers[column] : 0;
}

/* Where the link leads, or "". */
static const char *read_link(pid_t pid, const char *name, char path[PATH_MAX])
{
	char link[64];

	snprintf(link, sizeof link, "/proc/%d/%s", pid, name);
	ssize_t length = readlink(link, path, PATH_MAX - 1);

	path[length > 0 ? length : 0] = '\0';
	return path;
}

/* Whether the descriptor will be closed when the process runs another program. */
static bool ends_at_exec(pid_t pid, int fd)
{
	char path[64], text[512];
	uint64_t flags;

	snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", pid, fd);
	if (proc_read(path, text, sizeof text) < 0 || proc_numbers(text, "flags:", &flags, 1) != 1)
		return false;
	return flags & O_CLOEXEC;
}

struct owner {
	pid_t pid;
	bool is_waiting;
	const struct seed_options *options;
	unsigned *count; /* of events */
};

/* 1: no more is wanted. */
static int pause_at_times(const struct owner *owner)
{
	return ++*owner->count % PAUSE_AFTER == 0 && !owner->options->pause(owner->options->context);
}

static int report_descriptor(void *context, int fd)
{
	const struct owner *owner = context;
	char path[PATH_MAX], name[32];

	snprintf(name, sizeof name, "fd/%d", fd);
	read_link(owner->pid, name, path);
	if (*path && !(owner->is_waiting && ends_at_exec(owner->pid, fd)))
		own_probe_descriptor_state(owner->pid, fd, path);
	return pause_at_times(owner);
}

/* Whether path does not lie at or below folder, both absolute. */
static bool lies_outside(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	if (!*path || strcmp(folder, "/") == 0)
		return false;
	return strncmp(path, folder, length) != 0 || (path[length] != '/' && path[length] != '\0');
}

static int report_thread(void *context, int tid)
{
	const struct owner *owner = context;
	char comm[EVENT_COMM_BYTES] = "";
	struct proc_stat stat;

	if (proc_stat(owner->pid, tid, &stat))
		return 0;
	memcpy(comm, stat.name, sizeof comm - 1); /* names of kernel workers are longer here than they are in events */
	own_probe_thread_state(&(struct own_thread_state){ .pid = owner->pid,
							   .tid = tid,
							   .ppid = stat.parent,
							   .prio = stat.prio,
							   .cpu = stat.cpu,
							   .state = stat.state,
							   .is_kernel = stat.flags & FLAG_KERNEL_THREAD,
							   .comm = comm });
	return pause_at_times(owner);
}

/* What the thread waits in: the kernel tells "running", "-1 ..." outside of calls, or "NUMBER ARGUMENT..." */
static int report_call(void *context, int tid)
{
	const struct owner *owner = context;
	struct own_call_state call = { .pid = owner->pid, .tid = tid };
	uint64_t numbers[1 + sizeof call.args / sizeof *call.args];
	enum { COUNT = sizeof numbers / sizeof *numbers };
	char path[64], text[256];

	snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", owner->pid, tid);
	if (proc_read(path, text, sizeof text) <= 0 || *text < '0' || *text > '9' ||
	    proc_numbers(text, "", numbers, COUNT) != COUNT || numbers[0] > INT32_MAX)
		return 0;
	call.id = (uint32_t)numbers[0];
	memcpy(call.args, numbers + 1, sizeof call.args);
	own_probe_call_state(&call);
	return pause_at_times(owner);
}

/* As user_args() of catalogs has them: blanks between them, and no more of them than an event takes. */
static void report_arguments(pid_t pid)
{
	char path[64], arguments[256];

	snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
	ssize_t length = proc_read(path, arguments, sizeof arguments);

	while (length > 0 && arguments[length - 1] == '\0')
		length--;
	for (ssize_t i = 0; i < length; i++)
		arguments[i] = arguments[i] ? arguments[i] : ' ';
	if (length > 0)
		own_probe_process_arguments(pid, arguments);
}

/* False: no more is wanted. */
static bool report_process(const struct owner *owner)
{
	pid_t pid = owner->pid;
	char path[64], status[4096], cwd[PATH_MAX], root[PATH_MAX];

	snprintf(path, sizeof path, "/proc/%d/status", pid);
	if (proc_read(path, status, sizeof status) <= 0)
		return true;
	struct own_process_state state = {
		.pid = pid,
		.ppid = (int32_t)number_after(status, "PPid:", 0),
		.euid = number_after(status, "Uid:", 1),
		.cwd = read_link(pid, "cwd", cwd),
		.root = read_link(pid, "root", root),
	};

	state.is_outside = lies_outside(state.cwd, state.root);
	own_probe_process_state(&state);
	if (!owner->is_waiting) /* that one will be another program at once */
		report_arguments(pid);
	if (pause_at_times(owner))
		return false;
	snprintf(path, sizeof path, "/proc/%d/task", pid);
	if (proc_each(path, report_thread, (void *)owner) > 0)
		return false;
	/* When all are known, as one may wait for another's end. */
	if (!owner->is_waiting && proc_each(path, report_call, (void *)owner) > 0)
		return false;
	snprintf(path, sizeof path, "/proc/%d/fd", pid);
	return proc_each(path, report_descriptor, (void *)owner) <= 0;
}

static int by_number(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

struct pids {
	const struct seed_options *options;
	int *items;
	size_t count, capacity;
};

static int add_pid(void *context, int pid)
{
	struct pids *pids = context;

	if (pid == getpid() || !pids->options->in_scope(pids->options->context, pid))
		return 0;
	if (alloc_grow(&pids->items, &pids->capacity, pids->count, sizeof *pids->items))
		return -ENOMEM;
	pids->items[pids->count++] = pid;
	return 0;
}

int seed_report(const struct seed_options *options)
{
	struct pids pids = { .options = options };
	unsigned events = 0;
	int result = proc_each("/proc", add_pid, &pids);

	if (pids.count)
		qsort(pids.items, pids.count, sizeof *pids.items, by_number);
	for (size_t i = 0; !result && i < pids.count; i++) {
		const struct owner owner = { pids.items[i], pids.items[i] == options->waiting, options, &events };

		if (!report_process(&owner))
			break;
	}
	alloc_free(pids.items);
	return result;
}
