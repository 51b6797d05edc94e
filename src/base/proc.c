// SPDX-License-Identifier: BSD-2-Clause
/* Reads and writes files of the kernel, and parses their texts. */

#include "base/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { STAT_BYTES = 1024, STATUS_BYTES = 4096 };

/* Where things stand in /proc/PID/stat, counted from the state, which follows the name. */
enum {
	STAT_PARENT = 1,
	STAT_FLAGS = 6,
	STAT_PRIORITY = 15,
	STAT_THREADS = 17,
	STAT_BIRTH = 19,
	STAT_CPU = 36,
	STAT_FIELDS
};

ssize_t proc_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* some files wait for what is to come */
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

int proc_stat_parse(const char *text, struct proc_stat *stat)
{
	/* The name may hold anything, so the last parenthesis ends it. */
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	uint64_t numbers[STAT_FIELDS] = { 0 };
	size_t length = open && close > open ? (size_t)(close - open) - 1 : 0;

	if (!open || close < open || close[1] != ' ' || !isalpha((unsigned char)close[2]))
		return -EINVAL;
	const char *at = close + 3;

	for (int i = 1; i < STAT_FIELDS; i++) {
		char *end;

		numbers[i] = strtoull(at, &end, 10); /* negative ones, too */
		if (end == at)
			return -EINVAL;
		at = end;
	}
	*stat = (struct proc_stat){
		.state = close[2],
		.parent = (pid_t)numbers[STAT_PARENT],
		.flags = (uint32_t)numbers[STAT_FLAGS],
		.threads = (uint32_t)numbers[STAT_THREADS],
		.prio = (int32_t)numbers[STAT_PRIORITY] + 100,
		.birth_ticks = numbers[STAT_BIRTH],
		.cpu = (uint32_t)numbers[STAT_CPU],
	};
	memcpy(stat->name, open + 1, length < sizeof stat->name ? length : sizeof stat->name - 1);
	return 0;
}

int proc_stat(pid_t pid, pid_t tid, struct proc_stat *stat)
{
	char path[64], text[STAT_BYTES];

	if (tid)
		snprintf(path, sizeof path, "/proc/%d/task/%d/stat", pid, tid);
	else
		snprintf(path, sizeof path, "/proc/%d/stat", pid);
	ssize_t got = proc_read(path, text, sizeof text);

	return got < 0 ? (int)got : proc_stat_parse(text, stat);
}

int proc_birth(pid_t tid, uint64_t *ticks)
{
	struct proc_stat stat;

	/* A first thread that has ended stays while there are others. */
	if (proc_stat(tid, 0, &stat) || (strchr("ZX", stat.state) && stat.threads <= 1))
		return -ESRCH;
	*ticks = stat.birth_ticks;
	return 0;
}

pid_t proc_process_of(pid_t tid)
{
	char path[64], text[STATUS_BYTES];
	uint64_t pid;

	snprintf(path, sizeof path, "/proc/%d/status", tid);
	if (proc_read(path, text, sizeof text) < 0 || proc_numbers(text, "Tgid:", &pid, 1) != 1)
		return 0;
	return (pid_t)pid;
}

/* What follows label on its line, or NULL. */
static const char *find_line(const char *text, const char *label)
{
	size_t length = strlen(label);

	while (text && strncmp(text, label, length) != 0) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text ? text + length : NULL;
}

int proc_numbers(const char *text, const char *label, uint64_t *numbers, int count)
{
	const char *at = find_line(text, label);
	int found = 0;

	while (at && found < count) {
		char *end;

		at += strspn(at, " \t");
		if (!isdigit((unsigned char)*at))
			break;
		numbers[found++] = strtoull(at, &end, 0);
		at = end;
	}
	return found;
}

/* What comes or goes meanwhile may be among them or not. */
int proc_each(const char *path, int (*one)(void *context, int number), void *context)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;
	int result = 0;

	if (!folder)
		return -errno;
	while (!result && (entry = readdir(folder))) {
		long number = strtol(entry->d_name, NULL, 10);

		if (isdigit((unsigned char)*entry->d_name) && number <= INT_MAX)
			result = one(context, (int)number);
	}
	closedir(folder);
	return result;
}

void proc_allow_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

bool proc_mapping_next(FILE *maps, char *line, int size, struct proc_mapping *mapping)
{
	while (fgets(line, size, maps)) {
		char rights[5];
		int path = 0;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64 " %n", &mapping->start,
			   &mapping->end, rights, &mapping->offset, &mapping->inode, &path) != 5 ||
		    !path)
			continue;
		mapping->is_code = strchr(rights, 'x') != NULL;
		mapping->is_writable = strchr(rights, 'w') != NULL;
		line[path + (int)strcspn(line + path, "\n")] = 0;
		mapping->path = line + path;
		return true;
	}
	return false;
}
