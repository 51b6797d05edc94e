// SPDX-License-Identifier: BSD-2-Clause
/* Matches programs and sensors against a pattern. Programs' names may hold colons, those of sensors do not. */

#include "sensor/pattern.h"

#include <stddef.h>
#include <string.h>

bool sensor_pattern_means_program(const char *pattern, const char *comm, const char *path)
{
	const char *colon = strrchr(pattern, ':'), *slash = strrchr(path, '/');
	const char *names[] = { comm, path, slash ? slash + 1 : "" };

	if (!colon)
		return true;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		size_t length = strlen(names[i]);

		if (length && length == (size_t)(colon - pattern) && !memcmp(names[i], pattern, length))
			return true;
	}
	return false;
}

bool sensor_pattern_means_name(const char *pattern, const char *name)
{
	const char *colon = strrchr(pattern, ':'), *wanted = colon ? colon + 1 : pattern;

	return !*wanted || !strcmp(wanted, "*") || !strcmp(wanted, name);
}
