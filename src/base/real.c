// SPDX-License-Identifier: BSD-2-Clause
/* Formats real numbers: never as the locale of the process would have it. */

#include "base/real.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Puts a full stop where the locale has written its own decimal sign. */
static void put_decimal(FILE *stream, const char *digits)
{
	static const char plain[] = "0123456789+-e";
	size_t length = strspn(digits, plain);

	fwrite(digits, 1, length, stream);
	digits += length;
	if (!*digits)
		return;
	while (*digits && !strchr(plain, *digits))
		digits++;
	fprintf(stream, ".%s", digits);
}

void real_put(FILE *stream, double real)
{
	char digits[40];

	if (!isfinite(real)) {
		fputs("null", stream);
		return;
	}
	/* A normal number that has fewer than 15 digits shows them with 15, too: %g drops the zeros. */
	for (int precision = isnormal(real) ? 15 : 1; precision <= 17; precision++) {
		snprintf(digits, sizeof digits, "%.*g", precision, real);
		if (strtod(digits, NULL) == real)
			break;
	}
	put_decimal(stream, digits);
}
