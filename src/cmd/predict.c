// SPDX-License-Identifier: BSD-2-Clause
/* Runs rules over a trace for `asterism explain`, and finds the states that an assumed probability concerns. */

#include "cmd/predict.h"

#include "base/alloc.h"
#include "cli/print.h"
#include "cmd/input/inputs.h"
#include "cmd/input/rules.h"
#include "cmd/options/assume.h"
#include "cmd/options/status.h"
#include "cmd/prices.h"
#include "cmd/text/signals.h"
#include "ebpf/memory/layout.h"
#include "engine/engine.h"
#include "model/report.h"
#include "session/seccomp/veto-plan.h"
#include "session/replay/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct prediction {
	const struct cli_arguments *arguments;
	const struct session_rules *rules;
	struct session_totals totals;
	uint64_t first_ns, last_ns;
	bool began;
	struct model_prices prices;
	char **no_ends; /* per rule: what would have ended runs and was not recorded; NULL: nothing */
	struct asterism_diag *diag;
};

static void on_time(void *context, uint64_t ns)
{
	struct prediction *run = context;

	if (!run->began)
		run->first_ns = ns;
	run->began = true;
	run->last_ns = ns;
}

static int predict_on_match(void *context, const struct program_match *match)
{
	(void)context;
	(void)match;
	return 0;
}

static void on_no_end(void *context, uint32_t rule, const char *missing)
{
	struct prediction *run = context;

	run->no_ends[rule] = alloc_text(missing);
}

static const struct session_moment *predict_moment_of(const struct cli_arguments *arguments, enum option_id id,
						      struct session_moment *moment)
{
	const struct cli_value *value = &arguments->options[id];

	if (!value->text)
		return NULL;
	*moment = (struct session_moment){ .ns = value->number, .since_start = *value->text != '@' };
	return moment;
}

static int replay_model_input(struct prediction *run)
{
	const struct cli_value *traces = &run->arguments->options[OPTION_TRACE];
	const struct trace_jsonl_form form = inputs_form(run->arguments, NULL);
	struct session_moment from, to;
	const struct session_replay_options options = {
		.files = traces->texts,
		.file_count = traces->count,
		.form = &form,
		.from = predict_moment_of(run->arguments, OPTION_FROM, &from),
		.to = predict_moment_of(run->arguments, OPTION_TO, &to),
		.counts_why = true,
		.on_match = predict_on_match,
		.on_time = on_time,
		.on_no_end = on_no_end,
		.context = run,
		.remedy = "record what the rule needs: asterism record -o DIR RULE -- CMD",
		.stop = signals_take(),
	};

	return session_replay(run->rules, &options, run->diag, &run->totals);
}

static bool concerns(const struct cmd_assumption *assumed, const char *rule)
{
	return !assumed->rule_length ||
	       (strlen(rule) == assumed->rule_length && strncmp(rule, assumed->rule, assumed->rule_length) == 0);
}

static int unknown_rule(const struct prediction *run, const struct cmd_assumption *assumed)
{
	const struct program *program = session_rules_program(run->rules);
	struct text_buffer names = { 0 };
	char *hint = NULL;

	for (uint32_t i = 0; i < program->rule_count; i++)
		text_printf(&names, "%s%s", i ? " " : "the rules are ", program_text(program, program->rules[i].name));
	if (text_take(&names, &hint))
		return -ENOMEM;
	diag_add(run->diag, ASTERISM_ERROR, NULL, hint, "--assume: there is no rule '%.*s'", (int)assumed->rule_length,
		 assumed->rule);
	alloc_free(hint);
	return -EINVAL;
}

/* Whether each rule that is named is there. */
static int check_assumptions(const struct prediction *run)
{
	const struct cli_value *option = &run->arguments->options[OPTION_ASSUME];
	const struct program *program = session_rules_program(run->rules);

	for (size_t i = 0; i < option->count; i++) {
		struct cmd_assumption assumed;
		bool found = false;

		if (!cmd_assumption_read(option->texts[i], &assumed))
			continue;
		for (uint32_t j = 0; j < program->rule_count && !found; j++)
			found = concerns(&assumed, program_text(program, program->rules[j].name));
		if (!found)
			return unknown_rule(run, &assumed);
	}
	return 0;
}

/* Those of rule, of all that are assumed. */
static size_t find_assumptions(const struct prediction *run, const char *rule, struct model_assumption *found)
{
	const struct cli_value *option = &run->arguments->options[OPTION_ASSUME];
	size_t count = 0;

	for (size_t i = 0; i < option->count; i++) {
		struct cmd_assumption assumed;

		if (cmd_assumption_read(option->texts[i], &assumed) && concerns(&assumed, rule))
			found[count++] = (struct model_assumption){ assumed.name, assumed.value };
	}
	return count;
}

/* In the order of the choices of --format. */
static void (*const predict_formats[])(const struct model_report *report,
				       struct text_buffer *out) = { model_report_text, model_report_dot,
								    model_report_json };

static int tell_rule(struct prediction *run, uint32_t rule, struct text_buffer *out)
{
	const struct program *program = session_rules_program(run->rules);
	size_t room = run->arguments->options[OPTION_ASSUME].count;
	struct model_assumption *assumptions = alloc_zero(room + 1, sizeof *assumptions);
	const struct model_trace trace = {
		.program = program,
		.rule = rule,
		.counts = run->totals.why->rules[rule],
		.stats = &run->totals.rules[rule],
		.first_ns = run->first_ns,
		.last_ns = run->last_ns,
	};
	struct session_placement placement;
	struct model_report report = { .prices = &run->prices };
	struct model_cost cost;
	struct model *model = NULL;
	int result = -ENOMEM;

	if (assumptions)
		result = model_new(&trace, assumptions,
				   find_assumptions(run, program_text(program, program->rules[rule].name), assumptions),
				   run->diag, &model);
	alloc_free(assumptions);
	if (result == -E2BIG)
		return diag_error(run->diag, NULL, result, "%s has too many states for a model",
				  program_text(program, program->rules[rule].name));
	if (result)
		return result;
	session_place(program, rule, &placement);
	report.model = model;
	report.no_end = run->no_ends[rule];
	report.ships = placement.place != SESSION_KERNEL;
	report.pool_bytes = report.ships ? engine_pool_bytes(program, rule) : ebpf_pool_bytes(program, rule);
	report.cost = &cost;
	model_cost(model, report.prices, report.ships, &cost);
	predict_formats[run->arguments->options[OPTION_GRAPH_FORMAT].number](&report, out);
	model_free(model);
	return 0;
}

static void warn_of_losses(struct prediction *run)
{
	if (run->totals.lost)
		diag_add(run->diag, ASTERISM_WARNING, NULL, "record with a larger --ring",
			 "%" PRIu64 " events are missing: rates and probabilities are too low", run->totals.lost);
	if (run->last_ns == run->first_ns)
		diag_add(run->diag, ASTERISM_WARNING, NULL, NULL, "the trace spans no time: rates assume one second");
}

int cmd_predict(const struct cli_arguments *arguments, const struct session_rules *rules, struct text_buffer *out)
{
	struct prediction run = {
		.arguments = arguments,
		.rules = rules,
		.diag = asterism_diag_new(),
	};
	uint32_t count = session_rules_program(rules)->rule_count;
	bool is_text = arguments->options[OPTION_GRAPH_FORMAT].number == 0;
	int result;

	run.no_ends = alloc_zero(count, sizeof *run.no_ends);
	result = run.diag && run.no_ends ? check_assumptions(&run) : -ENOMEM;
	if (!result)
		result = replay_model_input(&run);
	if (!result) {
		warn_of_losses(&run);
		prices_get(&run.prices);
	}
	for (uint32_t i = 0; i < count && !result; i++) {
		if (i && is_text)
			text_append(out, "\n");
		result = tell_rule(&run, i, out);
	}
	if (run.diag)
		cli_print(run.diag);
	asterism_diag_free(run.diag);
	session_totals_fini(&run.totals);
	for (uint32_t i = 0; i < count && run.no_ends; i++)
		alloc_free(run.no_ends[i]);
	alloc_free(run.no_ends);
	return result ? cmd_status_of(result) : run.totals.lost ? STATUS_LOST : STATUS_FINE;
}
