// SPDX-License-Identifier: BSD-2-Clause
/* Measures what the daemon itself uses. */

#include "daemon/budget.h"

#include "base/proc.h"

#include <stdio.h>
#include <sys/resource.h>

uint64_t budget_resident_bytes(void)
{
	char text[4096];
	uint64_t own = 0, shared = 0;

	if (proc_read("/proc/self/status", text, sizeof text) < 0)
		return 0;
	proc_numbers(text, "RssAnon:", &own, 1);
	proc_numbers(text, "RssShmem:", &shared, 1);
	return (own + shared) << 10;
}

/* The line "memlock:" is there for maps and programs. */
static int add_memory(void *context, int fd)
{
	char path[64], text[2048];
	uint64_t *sum = context, bytes;

	snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
	if (proc_read(path, text, sizeof text) > 0 && proc_numbers(text, "memlock:", &bytes, 1) == 1)
		*sum += bytes;
	return 0;
}

uint64_t budget_kernel_bytes(void)
{
	uint64_t bytes = 0;

	proc_each("/proc/self/fdinfo", add_memory, &bytes);
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
