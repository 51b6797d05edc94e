// SPDX-License-Identifier: BSD-2-Clause
/* Writes a model as JSON: everything that people read, and N, B and t of each state. */

#include "model/report-priv.h"

#include "base/alloc.h"
#include "program/query.h"
#include "program/why/report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* JSON has no infinities, and none comes out of a model. */
static void put_double(struct text_buffer *out, const char *name, double value)
{
	text_printf(out, ",\"%s\":%.6g", name, value);
}

static void put_count(struct text_buffer *out, const char *name, double value)
{
	text_printf(out, ",\"%s\":%.0f", name, value);
}

/* What was written into draft as a string behind its name. */
static void put_draft(struct text_buffer *out, const char *name, struct text_buffer *draft)
{
	char *text = NULL;

	text_printf(out, ",\"%s\":", name);
	if (text_take(draft, &text))
		out->failure = -ENOMEM;
	else
		text_json(out, text);
	alloc_free(text);
}

static void put_probability(const struct model_report *report, const struct model_way *way, const char *name,
			    uint32_t node)
{
	bool fit = node == way->transition->fit;
	struct text_buffer draft = { 0 };

	text_printf(report->out, ",\"%s\":{\"p\":%" PRIu32, name, fit ? way->fit_name : way->hold_name);
	program_why_condition(report->model->program, report->model->rule, way->transition, node, &draft);
	put_draft(report->out, "condition", &draft);
	put_double(report->out, "probability", fit ? way->fits : way->holds);
	text_append(report->out, "}");
}

static void put_way_json(const struct model_report *report, const struct model_way *way)
{
	struct text_buffer *out = report->out, draft = { 0 };
	char target[32];

	text_printf(out, "{\"state\":%" PRIu32, way->state);
	program_why_event(report->model->program, report->model->rule, way->transition, &draft);
	put_draft(out, "event", &draft);
	text_append(out, ",\"target\":");
	text_json(out, model_target(report->model, way, target, sizeof target));
	put_count(out, "tried", way->tried);
	put_count(out, "taken", way->taken);
	put_count(out, "failed", way->failed);
	put_double(out, "share", way->share);
	if (way->hold_name)
		put_double(out, "failed_share", way->failed_share);
	if (way->fit_name)
		put_probability(report, way, "fit", way->transition->fit);
	if (way->hold_name)
		put_probability(report, way, "hold", way->transition->hold);
	text_append(out, "}");
}

static void put_state_json(const struct model_report *report, uint32_t index)
{
	const struct model *model = report->model;
	const struct model_state *state = &model->states[index];
	struct text_buffer *out = report->out;

	text_printf(out, "%s{\"state\":%" PRIu32 ",\"label\":", index ? "," : "", index);
	text_json(out, program_text(model->program, program_states(model->program, model->rule)[index].label));
	put_count(out, "judged", state->judged);
	put_count(out, "came", state->came);
	put_count(out, "open", state->open);
	put_count(out, "expired", state->expired);
	put_count(out, "matured", state->matured);
	put_count(out, "ended", state->ended);
	put_double(out, "stayed_s", state->stayed_s);
	if (!model->is_unbounded) {
		put_double(out, "visits", state->visits);
		put_double(out, "returns", state->returns);
		put_double(out, "left_s", state->left_s);
	}
	text_append(out, "}");
}

static void put_expected(const struct model_report *report)
{
	const struct model_rates *rates = &report->model->rates;
	struct text_buffer *out = report->out;

	text_append(out,
		    ",\"expected\":{\"formulas\":\"absorbing Markov chain: N = (I-Q)^-1, B = NR, t = Nc; Little: L = "
		    "lambda N t\"");
	put_double(out, "seen_per_s", rates->seen);
	put_double(out, "candidates_per_s", rates->candidates);
	put_double(out, "opened_per_s", rates->opened);
	text_printf(out, ",\"unbounded\":%s", report->model->is_unbounded ? "true" : "false");
	if (!report->model->is_unbounded) {
		put_double(out, "matches_per_s", rates->matches);
		put_double(out, "steps_per_s", rates->steps);
		put_double(out, "s", rates->s);
		put_double(out, "p_return", rates->returned);
		put_double(out, "p_invalid", rates->returned < 1 ? 1 - rates->returned : 0);
		put_double(out, "life_s", rates->life_s);
		put_double(out, "open_runs", rates->open);
		put_count(out, "pool", rates->pool);
	}
	put_double(out, "open_runs_in_trace", rates->measured);
	put_count(out, "open_runs_max", rates->peak);
	text_append(out, "}");
}

static void put_cost_json(const struct model_report *report)
{
	struct text_buffer *out = report->out;
	const struct model_cost *cost = report->cost;

	text_printf(out, ",\"cost\":{\"prices\":\"%s\"", report->prices->is_measured ? "measured" : "table");
	put_double(out, "ns_per_s", cost->ns);
	put_double(out, "ns_per_event", cost->event_ns);
	put_double(out, "cpu_percent", cost->cpu * 100);
	put_double(out, "cpu_percent_least", cost->least / 1e7);
	put_double(out, "cpu_percent_most", cost->most / 1e7);
	for (int i = 0; i < MODEL_WORKS; i++) {
		text_printf(out, ",\"%s\":{\"per_s\":%.6g,\"ns\":%.6g}", model_work_names[i], cost->rates[i],
			    report->prices->ns[i]);
	}
	text_append(out, "}");
}

/* What open runs lack to be fewer. */
static void put_no_end(const char *missing, struct text_buffer *out)
{
	const char *before = ",\"ends_not_recorded\":[\"";

	for (size_t length; missing && *missing; missing += length) {
		missing += strspn(missing, ", ");
		length = strcspn(missing, ",");
		text_printf(out, "%s%.*s\"", before, (int)length, missing);
		before = ",\"";
	}
	text_append(out, missing ? "]" : "");
}

void model_report_json(const struct model_report *report, struct text_buffer *out)
{
	const struct model *model = report->model;
	struct model_report own = *report;

	own.out = out;
	text_append(out, "{\"model\":");
	text_json(out, program_text(model->program, model->rule->name));
	put_double(out, "seconds", model->seconds);
	text_printf(out, ",\"assumed\":%s", model->assumed ? "true" : "false");
	put_count(out, "matches", (double)model->stats->matches);
	put_count(out, "runs_opened", (double)model->stats->runs_opened);
	put_count(out, "pool_exhausted", (double)model->stats->pool_exhausted);
	put_no_end(report->no_end, out);
	text_append(out, ",\"states\":[");
	for (uint32_t i = 0; i < model->rule->state_count && !out->failure; i++)
		put_state_json(&own, i);
	text_append(out, "],\"transitions\":[");
	for (uint32_t i = 0; i < model->way_count && !out->failure; i++) {
		text_append(out, i ? "," : "");
		put_way_json(&own, &model->ways[i]);
	}
	text_append(out, "]");
	put_expected(&own);
	put_cost_json(&own);
	text_append(out, "}\n");
}
