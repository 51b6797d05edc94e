// SPDX-License-Identifier: BSD-2-Clause
/* `asterism counters --probe`: which types this machine has, and why not. */

#include "base/alloc.h"
#include "base/text.h"
#include "cli/print.h"
#include "cmd/counters/counters-priv.h"
#include "cmd/counters/fake.h"
#include "cmd/options/options.h"
#include "cmd/options/status.h"
#include "cmd/text/json-text.h"
#include "counters/measure/tally.h"

#include <stdio.h>

static const char *const states[] = { "not here", "approximate", "available" };

static void put_tally_way(const struct counter_type *type, const struct tally_way *way)
{
	printf("%-44s %-11s  ", type->name, states[way->state]);
	if (way->state == TALLY_NOT_HERE) {
		text_write(stdout, way->reason, TEXT_WORDS);
	} else {
		fputs(way->source ? "" : "= ", stdout);
		text_write(stdout, way->source ? way->source->text : way->formula->text, TEXT_WORDS);
	}
	if (way->source && way->source->approximates) {
		fputs(": ", stdout);
		text_write(stdout, way->source->approximates, TEXT_WORDS);
	}
	puts(way->is_of_command ? " (of commands only)" : "");
}

static json_t *way_json(const struct counter_type *type, const struct tally_way *way)
{
	bool is_here = way->state != TALLY_NOT_HERE;

	return json_pack("{s:o,s:s,s:o,s:o,s:o,s:o,s:b}", "name", json_text(type->name), "state", states[way->state],
			 "source", json_text(way->source ? way->source->text : NULL), "formula",
			 json_text(way->formula ? way->formula->text : NULL), "approximates",
			 json_text(way->source ? way->source->approximates : NULL), "reason",
			 json_text(is_here ? NULL : way->reason), "commands_only", way->is_of_command);
}

static void put_probed(const struct cli_arguments *arguments, const struct counters *counters,
		       const struct tally_way *ways)
{
	bool as_json = counters_want_json(arguments);
	json_t *all = json_array();
	size_t counts[3] = { 0 };

	for (size_t i = 0; i < counters->type_count; i++) {
		counts[ways[i].state]++;
		if (as_json)
			json_array_append_new(all, way_json(&counters->types[i], &ways[i]));
		else
			put_tally_way(&counters->types[i], &ways[i]);
	}
	if (as_json)
		json_text_put(json_pack("{s:O}", "counters", all));
	else
		printf("%zu available, %zu approximate, %zu not here\n", counts[TALLY_AVAILABLE],
		       counts[TALLY_APPROXIMATE], counts[TALLY_NOT_HERE]);
	json_decref(all);
}

int counters_probe(const struct cli_arguments *arguments, const struct counters *counters)
{
	struct tally_way *ways = alloc_zero(counters->type_count, sizeof *ways);
	struct meter_scope scope = { .pid = -1 };
	int status = counters_fake(&scope.fake);

	if (!ways) {
		cli_error("out of memory");
		status = STATUS_USAGE;
	}
	if (!status) {
		tally_probe(counters, NULL, &scope, ways);
		put_probed(arguments, counters, ways);
	}
	meter_fake_free(scope.fake);
	alloc_free(ways);
	return status;
}
