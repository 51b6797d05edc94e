// SPDX-License-Identifier: BSD-2-Clause
/* Gives aggregates to the program that embeds the library: a line of JSON for each key. */

#include "api/api-priv.h"

#include "session/output/result-aggregate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int api_on_aggregate(void *context, const struct aggregate_report *report)
{
	struct asterism_rules *unit = context;
	const struct asterism_session_options *options = &unit->session->options;
	char *text = NULL;
	size_t length = 0;
	FILE *stream = options->on_aggregate ? open_memstream(&text, &length) : NULL;

	if (!options->on_aggregate)
		return 0;
	if (stream)
		result_write_aggregate_json(stream, report);
	if (!stream || fclose(stream)) {
		free(text);
		return -ENOMEM;
	}
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = 0;
		options->on_aggregate(options->context, unit, line);
	}
	free(text);
	return 0;
}
