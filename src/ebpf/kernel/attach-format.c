// SPDX-License-Identifier: BSD-2-Clause
/* Reads the kernel's folder about probes in user code: which type of event they are, which bits mean what. */

#include "ebpf/kernel/attach-format.h"

#include "base/proc.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int attach_format(const char *file, const char *prefix)
{
	char path[128], text[64], *end;

	snprintf(path, sizeof path, "/sys/bus/event_source/devices/uprobe/%s", file);
	ssize_t got = proc_read(path, text, sizeof text);

	if (got < 0)
		return (int)got;
	if (strncmp(text, prefix, strlen(prefix)) != 0)
		return -EINVAL;
	long number = strtol(text + strlen(prefix), &end, 10);

	return end == text + strlen(prefix) || number < 0 || number > INT32_MAX ? -EINVAL : (int)number;
}

bool attach_has_semaphores(void)
{
	return attach_format("format/ref_ctr_offset", "config:") >= 0;
}
