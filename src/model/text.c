// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes a model as text: the automaton with its probabilities, then what follows from them, each line with the formula
 * that it comes from.
 */

#include "model/report-priv.h"

#include "program/query.h"
#include "program/why/report.h"

#include <inttypes.h>
#include <math.h>

void model_put_number(struct text_buffer *out, double value)
{
	static const char *const units[] = { "", "k", "M", "G", "T" };
	size_t unit = 0;

	while (fabs(value) >= 9999.5 && unit + 1 < sizeof units / sizeof *units) {
		value /= 1000;
		unit++;
	}
	text_printf(out, fabs(value) >= 1000 ? "%.0f%s" : "%.4g%s", value, units[unit]);
}

void model_put_seconds(struct text_buffer *out, double seconds)
{
	static const char *const units[] = { "s", "ms", "us", "ns" };
	size_t unit = 0;

	while (seconds > 0 && seconds < 1 && unit + 1 < sizeof units / sizeof *units) {
		seconds *= 1000;
		unit++;
	}
	text_printf(out, "%.4g %s", seconds, units[unit]);
}

const char *model_target(const struct model *model, const struct model_way *way, char *buffer, size_t size)
{
	uint32_t target = way->transition->target;

	if (target == PROGRAM_TARGET_MATCH)
		return "match";
	if (target == PROGRAM_TARGET_END)
		return "end";
	if (model->rule->semantics == PROGRAM_MACHINE)
		return program_text(model->program, program_states(model->program, model->rule)[target].label);
	snprintf(buffer, size, "state %" PRIu32, target);
	return buffer;
}

static void put_way_condition(const struct model_report *report, const struct model_way *way, const char *word,
			      uint32_t node)
{
	text_printf(report->out, "%s%s ", *word ? " " : "", word);
	program_why_condition(report->model->program, report->model->rule, way->transition, node, report->out);
}

void model_others(const struct model_state *state, struct model_other *others)
{
	others[0] = (struct model_other){ "WITHIN", "end", state->expired };
	others[1] = (struct model_other){ "the time is up", "match", state->matured };
	others[2] = (struct model_other){ "otherwise", "end", state->ended };
}

static void put_model_head(const struct model_report *report)
{
	const struct model *model = report->model;

	text_printf(report->out, "%s %s, from ", model->rule->semantics == PROGRAM_MACHINE ? "machine" : "rule",
		    program_text(model->program, model->rule->name));
	model_put_seconds(report->out, model->seconds);
	text_printf(report->out, " of a trace%s\n", model->assumed ? ", with assumed probabilities" : "");
}

static void put_state_head(const struct model_report *report, uint32_t index)
{
	const struct model *model = report->model;
	const struct model_state *state = &model->states[index];
	const char *label = program_text(model->program, program_states(model->program, model->rule)[index].label);
	struct text_buffer *out = report->out;

	text_printf(out, "  state %" PRIu32, index);
	if (*label)
		text_printf(out, " \"%s\"", label);
	if (index == 0) {
		text_printf(out, ": %.0f events could open a run\n", state->judged);
		return;
	}
	text_printf(out, ": %.0f run%s came", state->came, state->came == 1 ? "" : "s");
	if (state->open > 0)
		text_printf(out, ", %.0f %s open at the end", state->open, state->open == 1 ? "was" : "were");
	if (state->came > 0) {
		text_append(out, "; each met ");
		model_put_number(out, state->judged / state->came);
		text_append(out, " events and stayed ");
		model_put_seconds(out, state->stayed_s / state->came);
	}
	text_append(out, "\n");
}

static void put_way_text(const struct model_report *report, const struct model_way *way)
{
	struct text_buffer *out = report->out;
	char target[32];

	text_printf(out, "    %-6.3g -> %-8s by ", way->share, model_target(report->model, way, target, sizeof target));
	program_why_event(report->model->program, report->model->rule, way->transition, out);
	if (way->fit_name) {
		text_printf(out, "   p%" PRIu32 " = %.4g of %.0f", way->fit_name, way->fits, way->tried);
		put_way_condition(report, way, "if", way->transition->fit);
	}
	if (way->hold_name) {
		text_printf(out, "   p%" PRIu32 " = %.4g of %.0f", way->hold_name, way->holds, way->taken);
		put_way_condition(report, way, "hold", way->transition->hold);
	}
	text_append(out, "\n");
	if (!(way->failed_share > 0))
		return;
	text_printf(out, "    %-6.3g -> %-8s by ", way->failed_share, "end");
	program_why_event(report->model->program, report->model->rule, way->transition, out);
	text_append(out, ", not");
	put_way_condition(report, way, "", way->transition->hold);
	text_append(out, "\n");
}

static void put_state_text(const struct model_report *report, uint32_t index)
{
	const struct model *model = report->model;
	const struct model_state *state = &model->states[index];
	struct model_other others[MODEL_OTHERS];
	double left = state->came - state->open;

	put_state_head(report, index);
	for (uint32_t i = 0; i < state->way_count; i++)
		put_way_text(report, &model->ways[state->first_way + i]);
	model_others(state, others);
	for (int i = 0; i < MODEL_OTHERS; i++)
		if (others[i].count > 0)
			text_printf(report->out, "    %-6.3g -> %-8s by %s\n", left > 0 ? others[i].count / left : 0,
				    others[i].target, others[i].word);
}

/* A line: a number, what it is, and where it comes from. */
static void begin_line(struct text_buffer *out, const char *name)
{
	text_printf(out, "  %-12s ", name);
}

static void put_model_line(const struct model_report *report, const char *name, double value, const char *words)
{
	begin_line(report->out, name);
	model_put_number(report->out, value);
	text_printf(report->out, " %s\n", words);
}

static void put_unbounded(const struct model_report *report)
{
	const struct model *model = report->model;

	put_model_line(report, "opened", model->rates.opened, "runs/s");
	begin_line(report->out, "open");
	if (model->endless)
		text_printf(report->out, "unbounded, see POOL: no run left state %" PRIu32 " while the trace lasted",
			    model->endless);
	else
		text_append(report->out,
			    "unbounded, see POOL: each run makes one more or more (branching factor >= 1)");
	text_append(report->out, "; on average ");
	model_put_number(report->out, model->rates.measured);
	text_append(report->out, " in the trace, at most ");
	model_put_number(report->out, model->rates.peak);
	text_append(report->out, "\n");
}

static void put_rates(const struct model_report *report)
{
	const struct model_rates *rates = &report->model->rates;
	struct text_buffer *out = report->out;

	put_model_line(report, "candidates", rates->candidates, "/s (lambda)");
	if (report->model->is_unbounded) {
		put_unbounded(report);
		return;
	}
	put_model_line(report, "opened", rates->opened, "runs/s");
	put_model_line(report, "matches", rates->matches, "/s (lambda B, B = N R)");
	begin_line(out, "of each");
	text_printf(out, "%.4g step%s (s = N 1), p_return %.4g, p_invalid %.4g (B)\n", rates->s,
		    rates->s == 1 ? "" : "s", rates->returned, rates->returned < 1 ? 1 - rates->returned : 0);
	if (report->model->rule->state_count == 1)
		return; /* no run lives longer than its event */
	begin_line(out, "life");
	model_put_seconds(out, rates->life_s);
	text_append(out, " of a run (t = N c)\n");
	begin_line(out, "open");
	model_put_number(out, rates->open);
	text_append(out, " runs on average (L = lambda N t, Little), ");
	model_put_number(out, rates->peak);
	text_append(out, " at most in the trace\n");
	begin_line(out, "pool");
	text_printf(out, "%.0f would do (the larger of the peak and L + 2.33 sqrt L); it has %" PRIu64, rates->pool,
		    report->model->rule->pool);
	if (report->pool_bytes) {
		double bytes = (double)report->pool_bytes;

		text_printf(out, ", %.0f KiB: %.0f KiB would do", bytes / 1024,
			    ceil(bytes / 1024 * rates->pool / (double)report->model->rule->pool));
	}
	text_append(out, "\n");
}

static void put_cost_text(const struct model_report *report)
{
	const struct model_cost *cost = report->cost;
	struct text_buffer *out = report->out;

	begin_line(out, "cost");
	text_printf(out, "%.3g %% of a CPU", cost->cpu * 100);
	text_printf(out, " (%.3g to %.3g): ", cost->least / 1e7, cost->most / 1e7);
	model_put_seconds(out, cost->ns / 1e9);
	text_append(out, " of a second, ");
	text_printf(out, "%.0f ns per event; prices %s\n", cost->event_ns,
		    report->prices->is_measured ? "measured on this machine" : "from a table");
	for (int i = 0; i < MODEL_WORKS; i++) {
		if (!(cost->rates[i] > 0))
			continue;
		begin_line(out, "");
		model_put_number(out, cost->rates[i]);
		text_printf(out, " %s/s x %.0f ns (c_%s)%s\n", model_work_counts[i], report->prices->ns[i],
			    model_work_names[i],
			    i == MODEL_HOOK ? ", paid once for all rules that look at a type" : "");
	}
}

void model_report_text(const struct model_report *report, struct text_buffer *out)
{
	struct model_report own = *report;

	own.out = out;
	put_model_head(&own);
	for (uint32_t i = 0; i < report->model->rule->state_count && !out->failure; i++)
		put_state_text(&own, i);
	put_rates(&own);
	put_cost_text(&own);
}
