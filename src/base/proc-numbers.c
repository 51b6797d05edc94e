// SPDX-License-Identifier: BSD-2-Clause
/* Decides which entries are numbers. What comes or goes meanwhile may be among them or not. */

#include "base/proc-numbers.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>

int proc_numbers(const char *path, int (*one)(void *context, int number), void *context)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;
	int result = 0;

	while (folder && !result && (entry = readdir(folder))) {
		long number = strtol(entry->d_name, NULL, 10);

		if (isdigit((unsigned char)*entry->d_name) && number <= INT_MAX)
			result = one(context, (int)number);
	}
	if (folder)
		closedir(folder);
	return result;
}
