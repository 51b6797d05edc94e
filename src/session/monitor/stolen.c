// SPDX-License-Identifier: BSD-2-Clause
#include "session/monitor/stolen.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *read_proc_line(const char *path, char *line, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, line, size - 1);

	if (fd >= 0)
		close(fd);
	line[length > 0 ? length : 0] = '\0';
	return line;
}

void stolen_read(pid_t tid, struct stolen *stolen)
{
	char line[512], path[64];
	uint64_t ticks = 0, wait = 0;

	/* user nice system idle iowait irq softirq steal */
	if (sscanf(read_proc_line("/proc/stat", line, sizeof line), "cpu %*u %*u %*u %*u %*u %*u %*u %" SCNu64,
		   &ticks) != 1)
		ticks = 0;
	snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", (int)tid);
	if (sscanf(read_proc_line(path, line, sizeof line), "%*u %" SCNu64, &wait) != 1)
		wait = 0;
	stolen->steal_ns = ticks * (UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK));
	stolen->wait_ns = wait;
}

static uint64_t time_since(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

void stolen_add(struct stolen *sum, const struct stolen *from, const struct stolen *to)
{
	sum->steal_ns += time_since(from->steal_ns, to->steal_ns);
	sum->wait_ns += time_since(from->wait_ns, to->wait_ns);
}
