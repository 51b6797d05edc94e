// SPDX-License-Identifier: BSD-2-Clause
/* Parses numbers, times, sizes and choices, and reports those that are wrong. */

#include "cli/value.h"

#include "base/diag.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HINT_BYTES = 320 };

/* "use one of: a, b or c" */
static void list_choices(const char *const *choices, char *hint)
{
	struct text_buffer text;

	text_init_fixed(&text, hint, HINT_BYTES);
	text_append(&text, "use one of: ");
	for (size_t i = 0; choices[i]; i++)
		text_printf(&text, "%s%s", i == 0 ? "" : choices[i + 1] ? ", " : " or ", choices[i]);
}

static int choose_value(const struct cli_option *option, const char *text, uint64_t *number, struct asterism_diag *diag)
{
	char hint[HINT_BYTES];
	size_t count = 0;

	for (; option->choices[count]; count++) {
		if (strcmp(option->choices[count], text) == 0) {
			*number = count;
			return 0;
		}
	}
	const char *nearest = diag_nearest(text, option->choices, count);

	if (nearest)
		snprintf(hint, sizeof hint, "did you mean '%s'?", nearest);
	else
		list_choices(option->choices, hint);
	diag_add(diag, ASTERISM_ERROR, NULL, hint, "--%s cannot be '%s'", option->name, text);
	return -EINVAL;
}

static const struct {
	const char *unit;
	double ns;
} time_units[] = { { "", 1e9 },  { "ns", 1 },     { "us", 1e3 }, { "ms", 1e6 },
		   { "s", 1e9 }, { "min", 6e10 }, { "m", 6e10 }, { "h", 3.6e12 } };

/* text as ns, or false where it is not a length of time. */
static bool parse_time(const char *text, double *ns)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	*ns = strtod(text, &end);
	for (size_t i = 0; i < sizeof time_units / sizeof *time_units; i++) {
		if (strcmp(end, time_units[i].unit) == 0) {
			*ns *= time_units[i].ns;
			return *ns < 9e18;
		}
	}
	return false;
}

static int read_time(const struct cli_option *option, const char *text, uint64_t *number, struct asterism_diag *diag)
{
	double ns;

	if (parse_time(text, &ns) && ns >= 1) {
		*number = (uint64_t)ns;
		return 0;
	}
	diag_add(diag, ASTERISM_ERROR, NULL, "use a number with a unit: 500ms, 10s, 2min, 1h",
		 "--%s: invalid duration '%s'", option->name, text);
	return -EINVAL;
}

/* A time on the inputs' clock is often copied from a match, in ns, where every digit counts. */
static bool parse_exactly(const char *text, uint64_t *ns)
{
	char *end;

	errno = 0;
	*ns = strtoull(text, &end, 10);
	return isdigit((unsigned char)*text) && !errno && (!*end || strcmp(end, "ns") == 0);
}

static int read_moment(const struct cli_option *option, const char *text, uint64_t *number, struct asterism_diag *diag)
{
	double ns;

	if (*text == '@' && parse_exactly(text + 1, number))
		return 0;
	if (parse_time(text + (*text == '@'), &ns)) {
		*number = (uint64_t)(ns + 0.5); /* decimal fractions are not exact */
		return 0;
	}
	diag_add(diag, ASTERISM_ERROR, NULL,
		 "use 1.5s or 20ms (after the first event), or @81273000000 (ns on the events' clock)",
		 "--%s: invalid time '%s'", option->name, text);
	return -EINVAL;
}

/* The owner can read and write it in any case, and no one execute it. */
static int read_mode(const struct cli_option *option, const char *text, uint64_t *number, struct asterism_diag *diag)
{
	char *end;

	*number = strtoul(text, &end, 8);
	if (isdigit((unsigned char)*text) && !*end && (*number & 0600) == 0600 && !(*number & ~0666UL))
		return 0;
	diag_add(diag, ASTERISM_ERROR, NULL,
		 "use octal digits: 600 for yourself, 640 to let your group read, 644 to let everyone read",
		 "--%s: invalid file mode '%s'", option->name, text);
	return -EINVAL;
}

/* A number or size that may be too great for its option. */
static int limit(const struct cli_option *option, const char *text, uint64_t number, struct asterism_diag *diag)
{
	char hint[HINT_BYTES];

	if (!option->most || number <= option->most)
		return 0;
	snprintf(hint, sizeof hint, "use at most %" PRIu64 "%s", option->most,
		 option->kind == CLI_SIZE ? " bytes" : "");
	diag_add(diag, ASTERISM_ERROR, NULL, hint, "--%s: '%s' is too large", option->name, text);
	return -EINVAL;
}

static bool parse_size(const char *text, uint64_t *number)
{
	static const char units[] = "KMGT";
	const char *unit;
	char *end;
	double bytes = isdigit((unsigned char)*text) ? strtod(text, &end) : 0;

	if (bytes <= 0)
		return false;
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	for (long i = 0; unit && i <= unit - units; i++)
		bytes *= 1024;
	end += unit != NULL;
	if (*end || bytes < 1 || bytes >= 9e18)
		return false;
	*number = (uint64_t)bytes;
	return true;
}

static int read_option_size(const struct cli_option *option, const char *text, uint64_t *number,
			    struct asterism_diag *diag)
{
	if (parse_size(text, number))
		return limit(option, text, *number, diag);
	diag_add(diag, ASTERISM_ERROR, NULL, "use a number of bytes, or a number with a unit: 64K, 500M, 2G",
		 "--%s: invalid size '%s'", option->name, text);
	return -EINVAL;
}

static int read_option_number(const struct cli_option *option, const char *text, uint64_t *number,
			      struct asterism_diag *diag)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	if (isdigit((unsigned char)*text) && !*end && !errno && *number && *number <= INT32_MAX)
		return limit(option, text, *number, diag);
	diag_add(diag, ASTERISM_ERROR, NULL,
		 strcmp(option->value, "PID") == 0 ? "use the number of a process, as 'pidof NAME' shows it"
						   : "use a whole number, 1 or greater",
		 "--%s: '%s' is not a %s", option->name, text, option->value);
	return -EINVAL;
}

int cli_value_read(const struct cli_option *option, const char *text, uint64_t *number, struct asterism_diag *diag)
{
	switch (option->kind) {
	case CLI_CHOICE:
		return choose_value(option, text, number, diag);
	case CLI_TIME:
		return read_time(option, text, number, diag);
	case CLI_MOMENT:
		return read_moment(option, text, number, diag);
	case CLI_BITS:
		return read_mode(option, text, number, diag);
	case CLI_SIZE:
		return read_option_size(option, text, number, diag);
	case CLI_NUMBER:
		return read_option_number(option, text, number, diag);
	case CLI_FLAG:
	case CLI_ANSWER:
	case CLI_TEXT:
	case CLI_LIST:
		break;
	}
	return 0;
}
