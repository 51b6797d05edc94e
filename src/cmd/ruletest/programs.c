// SPDX-License-Identifier: BSD-2-Clause
/* Finds out whether a script can work where the project's own programs are not installed. */

#include "cmd/ruletest/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLE "ASTERISM_TEST_PROGRAMS"

/* The name behind $VARIABLE/ or ${VARIABLE}/ in a line, or NULL. */
static const char *find_variable(const char *line, size_t *length)
{
	static const char *const forms[] = { "$" VARIABLE "/", "${" VARIABLE "}/" };

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		const char *found = strstr(line, forms[i]);

		if (!found)
			continue;
		found += strlen(forms[i]);
		*length = strspn(found, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");
		if (*length)
			return found;
	}
	return NULL;
}

char *test_program_missing(const char *script)
{
	FILE *file = getenv(VARIABLE) ? NULL : fopen(script, "re");
	char *line = NULL, *missing = NULL;
	size_t room = 0, length;

	while (file && !missing && getline(&line, &room, file) > 0) {
		const char *name = line[0] == '#' ? NULL : find_variable(line, &length);

		if (name)
			missing = strndup(name, length);
	}
	free(line);
	if (file)
		fclose(file);
	return missing;
}
