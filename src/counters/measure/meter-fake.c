// SPDX-License-Identifier: BSD-2-Clause
/* Reads a file of values that stands for this machine's sources. */

#include "base/alloc.h"
#include "base/proc.h"
#include "counters/measure/meter-priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAKE_BYTES = 1 << 16 };

struct meter_fake {
	char file[METER_REASON_BYTES];
	char text[FAKE_BYTES];
};

int meter_fake_open(const char *file, struct asterism_diag *diag, struct meter_fake **opened)
{
	struct meter_fake *fake = alloc_zero(1, sizeof *fake);
	ssize_t length;

	if (!fake)
		return diag_no_memory(diag);
	snprintf(fake->file, sizeof fake->file, "%.100s", file);
	length = proc_read(file, fake->text, sizeof fake->text);
	if (length < 0) {
		alloc_free(fake);
		return diag_error(diag, NULL, (int)length, "cannot read %s: %s", file, strerror((int)-length));
	}
	*opened = fake;
	return 0;
}

int meter_fake_of_environment(struct asterism_diag *diag, struct meter_fake **fake)
{
	const char *file = secure_getenv("ASTERISM_COUNTERS");

	*fake = NULL;
	return file && *file ? meter_fake_open(file, diag, fake) : 0;
}

void meter_fake_free(struct meter_fake *fake)
{
	alloc_free(fake);
}

/* The values of a source; NULL: it has none. */
static const char *find_values(const struct meter_fake *fake, const char *source)
{
	size_t length = strlen(source);

	for (const char *line = fake->text; line && *line; line = strchr(line, '\n'), line += line ? 1 : 0) {
		if (strncmp(line, source, length) == 0 && strncmp(line + length, " = ", 3) == 0)
			return line + length + 3;
		if (!strchr(line, '\n'))
			break;
	}
	return NULL;
}

int meter_fake_value(const struct meter_fake *fake, const char *source, unsigned reading,
		     char reason[METER_REASON_BYTES], struct meter_reading *value)
{
	const char *at = find_values(fake, source);
	char *end;

	if (!at) {
		snprintf(reason, METER_REASON_BYTES, "%.100s does not have it", fake->file);
		return -ENOENT;
	}
	for (unsigned i = 0; i <= reading; i++) {
		double number;

		at += strspn(at, " \t");
		number = strtod(at, &end);
		if (end == at || *at == '\n')
			break;
		value->value = number;
		value->running = *end == '@' ? strtod(end + 1, &end) : 1;
		at = end;
	}
	return 0;
}
