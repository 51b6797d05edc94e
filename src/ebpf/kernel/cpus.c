// SPDX-License-Identifier: BSD-2-Clause
/* Reads how many CPUs there may be: as the kernel's list has it, "0-3,8-11" and the like. */

#include "ebpf/kernel/cpus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CPUS_MAX = 1 << 16 };

#define LIST "/sys/devices/system/cpu/possible"

/* One more than the last number in the list. */
static int count_cpus(const char *list)
{
	long last = -1;

	while (*list >= '0' && *list <= '9') {
		char *end;

		last = strtol(list, &end, 10);
		list = *end == '-' || *end == ',' ? end + 1 : end;
	}
	return last >= 0 && last < CPUS_MAX ? (int)last + 1 : -EINVAL;
}

int ebpf_possible_cpus(struct asterism_diag *diag)
{
	char list[4096];
	int fd = open(LIST, O_RDONLY | O_CLOEXEC), result;
	ssize_t got = fd < 0 ? -1 : read(fd, list, sizeof list - 1);

	result = got < 0 ? -errno : 0;
	if (fd >= 0)
		close(fd);
	if (!result) {
		list[got] = 0;
		result = count_cpus(list);
	}
	if (result < 0)
		diag_error(diag, NULL, result, "cannot read the number of CPUs from " LIST ": %s", strerror(-result));
	return result;
}
