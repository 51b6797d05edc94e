// SPDX-License-Identifier: BSD-2-Clause
/* Parses declared rates. */

#include "cmd/monitor/declared.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "cli/value.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_option as_time = { "sensor", 0, CLI_TIME };
static const struct cli_option as_count = { "sensor", 0, CLI_NUMBER, .value = "count from 1 to 2147483647" };

static int read_time(const char *text, uint64_t *ns, struct asterism_diag *diag)
{
	return cli_value_read(&as_time, text, ns, diag);
}

/* "50000/s", "10/100ms" */
static int read_rate(const char *text, struct monitor_declared *declared, struct asterism_diag *diag)
{
	char count[24], time[24];
	const char *slash = strchr(text, '/');

	if (!slash || slash == text || (size_t)(slash - text) >= sizeof count || strlen(slash + 1) + 2 > sizeof time) {
		diag_error(diag, NULL, -EINVAL, "--sensor: invalid rate '%s'", text);
		diag_hint(diag, "use a number per time: 50000/s, or 10/100ms");
		return -EINVAL;
	}
	snprintf(count, sizeof count, "%.*s", (int)(slash - text), text);
	snprintf(time, sizeof time, "%s%s", isdigit((unsigned char)slash[1]) ? "" : "1", slash + 1);
	return cli_value_read(&as_count, count, &declared->rate.count, diag) ||
			       read_time(time, &declared->rate.time, diag)
		       ? -EINVAL
		       : 0;
}

static int read_part(const char *name, const char *text, struct monitor_declared *declared, struct asterism_diag *diag)
{
	if (strcmp(name, "rate") == 0)
		return read_rate(text, declared, diag);
	if (strcmp(name, "burst") == 0)
		return cli_value_read(&as_count, text, &declared->rate.burst, diag);
	if (strcmp(name, "spacing") == 0)
		return read_time(text, &declared->rate.spacing, diag);
	if (strcmp(name, "cost") == 0)
		return read_time(text, &declared->cost_ns, diag);
	diag_error(diag, NULL, -EINVAL, "--sensor: unknown key '%s'", name);
	diag_hint(diag, "write NAME,rate=50000/s,burst=100,spacing=1us,cost=2us, or some of these");
	return -EINVAL;
}

/* text is taken apart where it is. */
static int read_one(char *text, struct monitor_declared *declared, struct asterism_diag *diag)
{
	char *rest = NULL, *part = strtok_r(text, ",", &rest);
	int result = 0;

	*declared = (struct monitor_declared){ .name = part ? part : "", .rate.burst = 1 };
	while (!result && (part = strtok_r(NULL, ",", &rest))) {
		char *equals = strchr(part, '=');

		if (!equals)
			return diag_error(diag, NULL, -EINVAL, "--sensor: '%s' is not NAME=VALUE", part);
		*equals = '\0';
		result = read_part(part, equals + 1, declared, diag);
	}
	if (!result && !*declared->name)
		return diag_error(diag, NULL, -EINVAL, "--sensor: the name of a sensor is missing");
	if (!result && declared->rate.count && declared->rate.spacing > declared->rate.time / declared->rate.count)
		return diag_error(diag, NULL, -EINVAL, "--sensor %s: with that spacing events cannot reach that rate",
				  declared->name);
	return result;
}

static int check_once(const struct declared *declared, const char *name, struct asterism_diag *diag)
{
	for (size_t i = 0; i + 1 < declared->count; i++) {
		if (strcmp(declared->items[i].name, name))
			continue;
		diag_error(diag, NULL, -EINVAL, "--sensor %s is declared twice", name);
		diag_hint(diag, "use one option for all of it: --sensor NAME,rate=50000/s,burst=100,cost=2us");
		return -EINVAL;
	}
	return 0;
}

int declared_read(const struct cli_value *value, struct asterism_diag *diag, struct declared *declared)
{
	int result = 0;

	*declared = (struct declared){ .items = alloc_zero(value->count, sizeof *declared->items) };
	if (!declared->items)
		return diag_no_memory(diag);
	for (size_t i = 0; i < value->count && !result; i++) {
		char *text = alloc_text(value->texts[i]);

		if (!text)
			return diag_no_memory(diag);
		declared->items[declared->count++].name = text;
		result = read_one(text, &declared->items[i], diag);
		declared->items[i].name = text;
		result = result ? result : check_once(declared, text, diag);
	}
	return result;
}

void declared_fini(struct declared *declared)
{
	for (size_t i = 0; i < declared->count; i++)
		alloc_free((void *)declared->items[i].name);
	alloc_free(declared->items);
}

int declared_check(const struct cli_value *before, const char *text, struct asterism_diag *diag)
{
	const char *texts[] = { text };
	const struct cli_value value = { .texts = texts, .count = 1 };
	struct declared declared;
	int result = declared_read(&value, diag, &declared);

	(void)before;
	declared_fini(&declared);
	return result;
}
