// SPDX-License-Identifier: BSD-2-Clause
/* Parses an assumed probability. */

#include "cmd/options/assume.h"

#include "base/diag.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool cmd_assumption_read(const char *text, struct cmd_assumption *read)
{
	const char *equals = strchr(text, '='), *name;
	char *end;

	if (!equals)
		return false;
	for (name = equals; name > text && name[-1] != '.'; name--)
		;
	if (*name != 'p' || name[1] < '1' || name[1] > '9')
		return false;
	unsigned long number = strtoul(name + 1, &end, 10);
	if (end != equals || number > UINT32_MAX)
		return false;
	*read = (struct cmd_assumption){
		.rule = text,
		.rule_length = name > text ? (size_t)(name - text - 1) : 0,
		.name = (uint32_t)number,
		.value = strtod(equals + 1, &end),
	};
	return end != equals + 1 && !*end && read->value >= 0 && read->value <= 1;
}

int cmd_assumption_check(const struct cli_value *before, const char *text, struct asterism_diag *diag)
{
	struct cmd_assumption read;

	(void)before;
	if (cmd_assumption_read(text, &read))
		return 0;
	return diag_error(diag, NULL, -EINVAL, "write p1=0.25 or RULE.p1=0.25, with a probability from 0 to 1");
}
