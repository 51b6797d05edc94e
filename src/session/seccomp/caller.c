// SPDX-License-Identifier: BSD-2-Clause
/* Reads the process, the name and texts in the memory of a thread whose call is held, and detects what is not there. */

#include "session/seccomp/caller.h"

#include "base/proc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

enum { PAGE = 4096, STATUS_BYTES = 512 };

/* The name stands up to the end of the line, with newlines as \n and backslashes doubled. */
static void take_caller_name(const char *from, char *comm)
{
	size_t used = 0;

	for (; *from && *from != '\n' && used < EVENT_COMM_BYTES - 1; from++) {
		if (*from != '\\') {
			comm[used++] = *from;
		} else if (from[1] == 'n' || from[1] == '\\') {
			comm[used++] = from[1] == 'n' ? '\n' : '\\';
			from++;
		}
	}
}

void caller_parse(const char *status, struct caller_who *who)
{
	static const char name[] = "Name:\t";
	uint64_t pid;

	*who = (struct caller_who){ .pid = 0 };
	if (strncmp(status, name, sizeof name - 1) == 0)
		take_caller_name(status + sizeof name - 1, who->comm);
	if (proc_numbers(status, "Tgid:", &pid, 1))
		who->pid = (pid_t)pid;
}

void caller_who_is(pid_t tid, struct caller_who *who)
{
	char path[32], status[STATUS_BYTES];

	*who = (struct caller_who){ .pid = 0 };
	snprintf(path, sizeof path, "/proc/%d/status", tid);
	if (proc_read(path, status, sizeof status) > 0)
		caller_parse(status, who);
}

/* Page by page, as a string may end right before one that is not there. */
int caller_text(void *context, uint64_t address, char *text, size_t size)
{
	const pid_t *tid = context;
	size_t used = 0;

	while (used + 1 < size) {
		size_t part = PAGE - (address + used) % PAGE;
		struct iovec to = { .iov_base = text + used }, from = { .iov_base = (void *)(address + used) };

		if (part > size - 1 - used)
			part = size - 1 - used;
		to.iov_len = from.iov_len = part;
		ssize_t got = process_vm_readv(*tid, &to, 1, &from, 1, 0);

		if (got < 0 && errno != EFAULT && errno != ESRCH)
			return -errno;
		if (got <= 0)
			break;
		char *end = memchr(text + used, 0, (size_t)got);

		if (end) {
			memset(end, 0, (size_t)(text + size - end));
			return 0;
		}
		used += (size_t)got;
	}
	if (used + 1 < size)
		memset(text, 0, size); /* the call will find no string there either */
	return 0;
}
