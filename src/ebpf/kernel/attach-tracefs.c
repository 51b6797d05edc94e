// SPDX-License-Identifier: BSD-2-Clause
/* Reads the number by which the kernel knows a tracepoint. */

#include "ebpf/kernel/attach-tracefs.h"

#include "event/tracefs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_tracefs_word(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (!isalnum((unsigned char)text[i]) && text[i] != '_' && text[i] != '-')
			return false;
	}
	return length > 0;
}

static int read_id(const char *folder, const char *tracepoint, uint32_t *id)
{
	const char *colon = strchr(tracepoint, ':');
	char path[256], text[32], *end;
	int length = snprintf(path, sizeof path, "%s/events/%.*s/%s/id", folder, (int)(colon - tracepoint), tracepoint,
			      colon + 1);

	if (length >= (int)sizeof path)
		return -ENOENT;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	ssize_t got = read(fd, text, sizeof text - 1);
	int error = got < 0 ? -errno : 0;

	close(fd);
	if (error)
		return error;
	text[got] = '\0';
	errno = 0;
	unsigned long number = strtoul(text, &end, 10);

	if (end == text || errno || number > UINT32_MAX)
		return -EINVAL;
	*id = (uint32_t)number;
	return 0;
}

int attach_tracefs_id(const char *tracepoint, uint32_t *id)
{
	const char *colon = strchr(tracepoint, ':');

	if (!colon || !is_tracefs_word(tracepoint, (size_t)(colon - tracepoint)) ||
	    !is_tracefs_word(colon + 1, strlen(colon + 1)))
		return -ENOENT;
	const char *folder = event_tracefs_folder();

	return folder ? read_id(folder, tracepoint, id) : -errno;
}
