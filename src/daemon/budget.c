// SPDX-License-Identifier: BSD-2-Clause
/* Decides how the daemon measures itself. */

#include "daemon/budget.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

uint64_t budget_resident_bytes(void)
{
	unsigned long long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (!file)
		return 0;
	if (fscanf(file, "%*u %llu", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The line "memlock:" is there for maps and programs. */
static uint64_t memory_of(int folder, const char *name)
{
	char text[2048], *line;
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		return 0;
	length = read(fd, text, sizeof text - 1);
	close(fd);
	if (length <= 0)
		return 0;
	text[length] = 0;
	line = strstr(text, "memlock:");
	return line ? strtoull(line + strlen("memlock:"), NULL, 10) : 0;
}

uint64_t budget_kernel_bytes(void)
{
	DIR *folder = opendir("/proc/self/fdinfo");
	struct dirent *entry;
	uint64_t bytes = 0;

	while (folder && (entry = readdir(folder))) {
		if (entry->d_name[0] != '.')
			bytes += memory_of(dirfd(folder), entry->d_name);
	}
	if (folder)
		closedir(folder);
	return bytes;
}

uint64_t budget_cpu_ns(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage))
		return 0;
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

bool budget_has_room(const struct budget *budget, uint64_t more, uint64_t *bytes)
{
	*bytes = 0;
	if (!budget->memory_max_bytes)
		return true;
	*bytes = budget_resident_bytes() + budget_kernel_bytes() + more;
	return *bytes <= budget->memory_max_bytes;
}

void budget_look(struct budget *budget, uint64_t now_ns)
{
	uint64_t cpu_ns = budget_cpu_ns();

	if (budget->looked_ns && now_ns > budget->looked_ns)
		budget->cpu_percent = (uint32_t)((cpu_ns - budget->cpu_ns) * 100 / (now_ns - budget->looked_ns));
	budget->looked_ns = now_ns;
	budget->cpu_ns = cpu_ns;
	if (budget->cpu_max_percent && budget->cpu_percent > budget->cpu_max_percent)
		budget->seconds_above++;
	else
		budget->seconds_above = 0;
}
