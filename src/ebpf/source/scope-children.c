// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides who is whose child, by procfs: from the lists that the kernel keeps per thread (CONFIG_PROC_CHILDREN), else
 * by asking every process for its parent.
 */

#include "ebpf/source/scope-children.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int each_number(FILE *file, int (*found)(void *context, pid_t child), void *context)
{
	int number, result = 0;

	while (!result && fscanf(file, "%d", &number) == 1)
		result = found(context, number);
	return result;
}

/* Stores 1 in *listed when the kernel keeps lists. */
static int from_lists(pid_t pid, int (*found)(void *context, pid_t child), void *context, int *listed)
{
	char path[64];
	struct dirent *entry;
	int result = 0;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *threads = opendir(path);

	*listed = 1;
	if (!threads)
		return errno == ENOENT ? 0 : -errno;
	while (!result && (entry = readdir(threads))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof path, "/proc/%d/task/%.12s/children", (int)pid, entry->d_name);
		FILE *file = fopen(path, "re");

		if (file) {
			result = each_number(file, found, context);
			fclose(file);
		} else if (errno == ENOENT) {
			/* Either this thread is gone or the kernel keeps no lists. */
			*listed = access("/proc/thread-self/children", F_OK) == 0;
		}
	}
	closedir(threads);
	return result;
}

/* The parent of process pid, or 0. Its name may hold anything, so what follows the last parenthesis counts. */
static pid_t parent_of(const char *pid)
{
	char path[64], text[512], state;
	int parent = 0;

	snprintf(path, sizeof path, "/proc/%.12s/stat", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	ssize_t got = read(fd, text, sizeof text - 1);

	close(fd);
	text[got > 0 ? got : 0] = '\0';
	char *end = strrchr(text, ')');

	return end && sscanf(end + 1, " %c %d", &state, &parent) == 2 ? parent : 0;
}

static int from_everyone(pid_t pid, int (*found)(void *context, pid_t child), void *context)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	int result = 0;

	if (!processes)
		return -errno;
	while (!result && (entry = readdir(processes))) {
		if (isdigit((unsigned char)entry->d_name[0]) && parent_of(entry->d_name) == pid)
			result = found(context, (pid_t)strtol(entry->d_name, NULL, 10));
	}
	closedir(processes);
	return result;
}

int scope_children(pid_t pid, int (*found)(void *context, pid_t child), void *context)
{
	int listed, result = from_lists(pid, found, context, &listed);

	return listed ? result : from_everyone(pid, found, context);
}
