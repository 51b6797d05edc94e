// SPDX-License-Identifier: BSD-2-Clause
/*
 * The usual size of a ring, between lost events and the memory of the machine: 16 MiB bridge 90 ms of four million
 * events a second, which a busy machine may need to run the thread that reads them. Of a machine with many CPUs
 * that would be too much.
 */

#include "base/usual-ring.h"

#include "base/proc.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { SHARE = 16 };

/* What /proc/self/cgroup says, and the hierarchy's files: version 1 and 2. */
static const struct hierarchy {
	const char *line, *root, *limit;
} hierarchies[] = {
	{ ":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes" },
	{ "0::", "/sys/fs/cgroup", "memory.max" },
};

uint64_t usual_ring_bytes(uint64_t available_bytes, uint64_t processors)
{
	uint64_t bytes = USUAL_RING_BYTES_MAX;

	while (bytes > USUAL_RING_BYTES_MIN && bytes * processors > available_bytes / SHARE)
		bytes /= 2;
	return bytes;
}

/* The limit of the group at path; UINT64_MAX: there is none, or no such group. */
static uint64_t group_limit(const struct hierarchy *hierarchy, const char *path)
{
	char name[PATH_MAX], text[64];
	uint64_t bytes;

	if ((size_t)snprintf(name, sizeof name, "%s%s/%s", hierarchy->root, path, hierarchy->limit) >= sizeof name ||
	    proc_read(name, text, sizeof text) < 0 || proc_numbers(text, "", &bytes, 1) != 1)
		return UINT64_MAX;
	return bytes;
}

/* The least limit of the group in the line of text and of those above it, as far as they can be seen from here. */
static uint64_t least_limit(const struct hierarchy *hierarchy, char *text)
{
	char *path = strstr(text, hierarchy->line), *end;
	uint64_t least = UINT64_MAX;

	if (!path)
		return least;
	path += strlen(hierarchy->line);
	path[strcspn(path, "\n")] = '\0';
	for (bool more = true; more;) {
		uint64_t limit = group_limit(hierarchy, path);

		least = limit < least ? limit : least;
		end = strrchr(path, '/');
		more = end != NULL;
		if (more)
			*end = '\0';
	}
	return least;
}

uint64_t usual_ring_available_bytes(void)
{
	char text[4096];
	uint64_t kib, least = UINT64_MAX;

	if (proc_read("/proc/meminfo", text, sizeof text) >= 0 && proc_numbers(text, "MemAvailable:", &kib, 1) == 1)
		least = kib << 10;
	for (size_t i = 0; i < sizeof hierarchies / sizeof *hierarchies; i++) {
		uint64_t limit;

		if (proc_read("/proc/self/cgroup", text, sizeof text) < 0)
			break;
		limit = least_limit(&hierarchies[i], text);
		least = limit < least ? limit : least;
	}
	return least;
}
