// SPDX-License-Identifier: BSD-2-Clause
/* Collects the matches of rules for a report: in the order of time, no more than fit in bounded memory. */

#include "cmd/report/rules.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "cli/print.h"
#include "cmd/input/inputs.h"
#include "cmd/input/rules.h"
#include "cmd/options/status.h"
#include "cmd/text/signals.h"
#include "session/output/result.h"
#include "session/replay/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MATCHES_MAX = 1 << 16 };

struct found {
	uint64_t ts;
	uint32_t cpu, tid;
	bool is_tainted;
	char *rule, *values;
};

struct report_rules {
	const struct program *program;
	struct found *items;
	size_t count, capacity, told;
	uint64_t left_out;
};

void report_rules_free(struct report_rules *rules)
{
	for (size_t i = 0; rules && i < rules->count; i++) {
		alloc_free(rules->items[i].rule);
		free(rules->items[i].values);
	}
	if (rules)
		alloc_free(rules->items);
	alloc_free(rules);
}

bool report_rules_are_cut(const struct report_rules *rules)
{
	return rules && rules->left_out;
}

static int report_on_match(void *context, const struct program_match *match)
{
	struct report_rules *rules = context;
	struct found *found;
	size_t length = 0;
	FILE *stream;

	if (rules->count == MATCHES_MAX) {
		rules->left_out++;
		return 0;
	}
	if (alloc_grow(&rules->items, &rules->capacity, rules->count, sizeof *rules->items))
		return -ENOMEM;
	found = &rules->items[rules->count];
	*found = (struct found){ match->ts, match->cpu, match->tid, match->tainted, NULL, NULL };
	found->rule = alloc_text(program_text(rules->program, rules->program->rules[match->rule].name));
	stream = open_memstream(&found->values, &length);
	if (!found->rule || !stream)
		return -ENOMEM;
	rules->count++;
	result_write_json(stream, rules->program, match, NULL);
	if (fclose(stream))
		return -ENOMEM;
	if (length && found->values[length - 1] == '\n')
		found->values[length - 1] = '\0';
	return 0;
}

static int by_match_time(const void *left, const void *right)
{
	const struct found *a = left, *b = right;

	return a->ts < b->ts ? -1 : a->ts > b->ts;
}

static int replay_for_report(struct report_rules *found, const struct cli_arguments *arguments,
			     const struct session_rules *rules)
{
	const struct trace_jsonl_form form = inputs_form(arguments, NULL);
	struct asterism_diag *diag = asterism_diag_new();
	struct session_totals totals;
	struct session_replay_options options = {
		.files = arguments->operands,
		.file_count = arguments->operand_count,
		.form = &form,
		.engine = SESSION_ENGINE_USER,
		.skips_missing = cli_has(arguments, OPTION_SKIP_MISSING),
		.on_match = report_on_match,
		.context = found,
		.remedy = "record what the rules need: asterism record --rules FILE --for-report; --skip-missing skips "
			  "those rules",
		.stop = signals_take(),
	};
	int result;

	found->program = session_rules_program(rules);
	result = diag ? session_replay(rules, &options, diag, &totals) : -ENOMEM;
	if (diag) {
		cli_print(diag);
		session_totals_fini(&totals);
	} else {
		cli_error("out of memory");
	}
	asterism_diag_free(diag);
	if (found->left_out)
		cli_warning("%" PRIu64 " later matches are not in the report, which holds %d", found->left_out,
			    MATCHES_MAX);
	return cmd_status_of(result);
}

int report_rules_run(const struct cli_arguments *arguments, struct report_rules **made)
{
	const struct cli_value *files = &arguments->options[OPTION_RULES_REPORT];
	struct session_rules *rules = NULL;
	int status;

	*made = NULL;
	if (!files->count)
		return STATUS_FINE;
	for (size_t i = 0; i < arguments->operand_count; i++) {
		if (strcmp(arguments->operands[i], "-") != 0)
			continue;
		cli_error("--rules reads a trace a second time, which standard input does not allow");
		cli_hint("write the events to a file first");
		return STATUS_USAGE;
	}
	status = cmd_read_rules(arguments, files->texts, files->count, &rules);
	if (status)
		return status;
	*made = alloc_zero(1, sizeof **made);
	status = *made ? replay_for_report(*made, arguments, rules) : STATUS_USAGE;
	session_rules_free(rules);
	if (*made && (*made)->count)
		qsort((*made)->items, (*made)->count, sizeof *(*made)->items, by_match_time);
	return status;
}

int report_rules_tell(struct report_rules *rules, struct report_pass *pass, uint64_t ts)
{
	int result = 0;

	for (; rules && rules->told < rules->count && rules->items[rules->told].ts < ts && !result; rules->told++) {
		const struct found *found = &rules->items[rules->told];
		const struct report_match match = { .ts = found->ts,
						    .cpu = found->cpu,
						    .thread = report_pass_thread(pass, found->tid),
						    .rule = found->rule,
						    .values = found->values,
						    .is_tainted = found->is_tainted };

		result = report_pass_match(pass, &match);
	}
	return result;
}
