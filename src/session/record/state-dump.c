// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides what a state dump says of a thread. A thread may end while its files are read: then it is left out, and the
 * recording tells of its end.
 */

#include "session/record/state-dump.h"

#include "base/proc-numbers.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_BYTES = 8192, NAMESPACES_MAX = 32, FLAG_KERNEL_THREAD = 0x00200000 };

/* Where things stand in /proc/TID/stat, counted from the state, which follows the name. */
enum { STAT_PPID = 1, STAT_FLAGS = 6, STAT_CPU = 36 };

/* The file below /proc as text, cut to size - 1 bytes. */
static bool read_text(pid_t pid, pid_t tid, const char *name, char *text, size_t size)
{
	char path[96];
	ssize_t got, length = 0;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/task/%d/%s", pid, tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	while ((got = read(fd, text + length, size - 1 - (size_t)length)) > 0)
		length += got;
	close(fd);
	text[length] = 0;
	return got == 0 && length > 0;
}

/* The ids on the line, those of the outermost namespace first. Returns how many. */
static int read_ids(const char *status, const char *label, int32_t ids[NAMESPACES_MAX])
{
	const char *at = strstr(status, label);
	int count = 0;

	if (!at)
		return 0;
	for (at += strlen(label); count < NAMESPACES_MAX; count++) {
		char *end;

		while (*at == '\t' || *at == ' ')
			at++;
		if (!isdigit((unsigned char)*at))
			break;
		ids[count] = (int32_t)strtol(at, &end, 10);
		at = end;
	}
	return count;
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

/* What follows the name, from the state on. */
static int parse_numbers(const char *at, struct ctf_process *process)
{
	process->status = status_of(*at);
	for (int i = 0; i < STAT_CPU; i++) {
		at = strchr(at, ' ');
		if (!at)
			return -EINVAL;
		at++;
		if (i + 1 == STAT_PPID)
			process->ppid = (int32_t)strtol(at, NULL, 10);
		if (i + 1 == STAT_FLAGS && strtoul(at, NULL, 10) & FLAG_KERNEL_THREAD)
			process->type = CTF_KERNEL_THREAD;
	}
	process->cpu = (uint32_t)strtoul(at, NULL, 10);
	return 0;
}

int state_dump_parse(const char *stat, const char *status, const char *parent, struct ctf_process *process)
{
	const char *open = strchr(stat, '('), *close = strrchr(stat, ')');
	int32_t tids[NAMESPACES_MAX], pids[NAMESPACES_MAX], parents[NAMESPACES_MAX];
	int levels = read_ids(status, "\nNSpid:", tids);
	size_t length = open && close > open ? (size_t)(close - open) - 1 : 0;

	*process = (struct ctf_process){ .mode = CTF_MODE_UNKNOWN, .submode = CTF_SUBMODE_UNKNOWN };
	/* Names of kernel workers are longer here than they are in events. */
	if (length >= sizeof process->name)
		length = sizeof process->name - 1;
	if (!open || close < open || close[1] != ' ' || levels == 0 || read_ids(status, "\nNStgid:", pids) != levels)
		return -EINVAL;
	memcpy(process->name, open + 1, length);
	process->tid = tids[0];
	process->pid = pids[0];
	process->vtid = tids[levels - 1];
	process->vpid = pids[levels - 1];
	process->ns_level = levels - 1;
	/* A parent outside has no id inside. */
	if (parent && read_ids(parent, "\nNStgid:", parents) >= levels)
		process->vppid = parents[levels - 1];
	return parse_numbers(close + 2, process);
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

static int dump_thread(pid_t pid, pid_t tid, state_dump_fn *tell, void *context)
{
	char stat[1024], status[STATUS_BYTES], parent[STATUS_BYTES];
	struct ctf_process process;
	int32_t ppid;

	if (!read_text(pid, tid, "stat", stat, sizeof stat) || !read_text(pid, tid, "status", status, sizeof status) ||
	    state_dump_parse(stat, status, NULL, &process))
		return 0;
	ppid = process.ppid;
	if (ppid && read_text(ppid, ppid, "status", parent, sizeof parent))
		state_dump_parse(stat, status, parent, &process);
	process.ns_inum = namespace_of(pid, tid);
	return tell(context, &process);
}

struct dump {
	pid_t pid;
	state_dump_fn *tell;
	void *context;
};

static int each_thread(void *context, pid_t tid)
{
	const struct dump *dump = context;

	return dump_thread(dump->pid, tid, dump->tell, dump->context);
}

int state_dump_process(pid_t pid, state_dump_fn *tell, void *context)
{
	struct dump dump = { pid, tell, context };
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task", pid);
	return proc_numbers(path, each_thread, &dump);
}

static int each_process(void *context, pid_t pid)
{
	const struct dump *dump = context;

	return pid == getpid() ? 0 : state_dump_process(pid, dump->tell, dump->context);
}

int state_dump_all(state_dump_fn *tell, void *context)
{
	struct dump dump = { 0, tell, context };

	return proc_numbers("/proc", each_process, &dump);
}
