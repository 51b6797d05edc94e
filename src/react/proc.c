// SPDX-License-Identifier: BSD-2-Clause
/* Decides how files of the kernel are read and written. */

#include "react/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STAT_BYTES = 1024, STATUS_BYTES = 4096 };

/* Fields of /proc/TID/stat, counted from the state. */
enum { STAT_STATE = 0, STAT_THREADS = 17, STAT_BIRTH = 19, STAT_FIELDS };

ssize_t proc_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t got = 0;

	if (fd < 0)
		return -errno;
	while (used < size - 1 && (got = read(fd, text + used, size - 1 - used)) > 0)
		used += (size_t)got;
	int result = got < 0 ? -errno : 0;

	close(fd);
	text[used] = 0;
	return result ? result : (ssize_t)used;
}

int proc_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), result = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		result = -errno;
	close(fd);
	return result;
}

int proc_birth(pid_t tid, uint64_t *ticks)
{
	char path[64], text[STAT_BYTES];

	snprintf(path, sizeof path, "/proc/%d/stat", tid);
	if (proc_read(path, text, sizeof text) < 0)
		return -ESRCH;
	/* The name may hold anything, so the last parenthesis ends it. */
	const char *at = strrchr(text, ')'), *fields[STAT_FIELDS] = { NULL };

	for (int i = 0; i < STAT_FIELDS && at; i++) {
		at = strchr(at + 1, ' ');
		fields[i] = at ? at + 1 : NULL;
	}
	if (!fields[STAT_BIRTH])
		return -ESRCH;
	/* A first thread that has ended stays while there are others. */
	if (strchr("ZX", *fields[STAT_STATE]) && strtol(fields[STAT_THREADS], NULL, 10) <= 1)
		return -ESRCH;
	*ticks = strtoull(fields[STAT_BIRTH], NULL, 10);
	return 0;
}

pid_t proc_process_of(pid_t tid)
{
	char path[64], text[STATUS_BYTES];

	snprintf(path, sizeof path, "/proc/%d/status", tid);
	const char *at = proc_read(path, text, sizeof text) < 0 ? NULL : strstr(text, "\nTgid:");

	return at ? atoi(at + strlen("\nTgid:")) : 0;
}
