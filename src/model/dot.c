// SPDX-License-Identifier: BSD-2-Clause
/* Draws a model for Graphviz: states with their open runs, ways as thick as they are likely. */

#include "model/report-priv.h"

#include "base/alloc.h"
#include "program/query.h"
#include "program/why/report.h"

#include <errno.h>
#include <inttypes.h>

static void put_node(const struct model_report *report, uint32_t index)
{
	const struct model *model = report->model;
	const struct model_state *state = &model->states[index];

	text_printf(report->out, "  s%" PRIu32 " [label=\"%" PRIu32, index, index);
	if (index) {
		text_append(report->out, "\\n");
		model_put_number(report->out, state->stayed_s / model->seconds);
		text_append(report->out, " open");
	}
	text_append(report->out, "\"];\n");
}

static void put_target(const struct model_report *report, const struct model_way *way)
{
	if (way->transition->target == PROGRAM_TARGET_MATCH)
		text_append(report->out, "match");
	else if (way->transition->target == PROGRAM_TARGET_END)
		text_append(report->out, "end");
	else
		text_printf(report->out, "s%" PRIu32, way->transition->target);
}

static void put_edge(const struct model_report *report, const struct model_way *way)
{
	struct text_buffer label = { 0 };
	char *text = NULL;

	text_printf(report->out, "  s%" PRIu32 " -> ", way->state);
	put_target(report, way);
	program_why_event(report->model->program, report->model->rule, way->transition, &label);
	text_printf(&label, " %.3g", way->share);
	text_append(report->out, " [label=");
	if (text_take(&label, &text))
		report->out->failure = -ENOMEM;
	else
		text_json(report->out, text);
	alloc_free(text);
	text_printf(report->out, ", penwidth=%.2f];\n", 0.5 + 3 * way->share);
}

static void put_failed(const struct model_report *report, const struct model_way *way)
{
	if (way->failed_share > 0)
		text_printf(report->out, "  s%" PRIu32 " -> end [label=\"hold %.3g\", style=dashed];\n", way->state,
			    way->failed_share);
}

static void put_others(const struct model_report *report, uint32_t index)
{
	const struct model_state *state = &report->model->states[index];
	struct model_other others[MODEL_OTHERS];
	double left = state->came - state->open;

	model_others(state, others);
	for (int i = 0; i < MODEL_OTHERS; i++)
		if (others[i].count > 0 && left > 0)
			text_printf(report->out, "  s%" PRIu32 " -> %s [label=\"%s %.3g\", style=dashed];\n", index,
				    others[i].target, others[i].word, others[i].count / left);
}

void model_report_dot(const struct model_report *report, struct text_buffer *out)
{
	const struct model *model = report->model;
	struct model_report own = *report;

	own.out = out;
	text_append(out, "digraph ");
	text_json(out, program_text(model->program, model->rule->name));
	text_append(out,
		    " {\n  rankdir=LR;\n  node [shape=circle];\n  match [shape=doublecircle];\n  end [shape=box];\n");
	for (uint32_t i = 0; i < model->rule->state_count; i++)
		put_node(&own, i);
	for (uint32_t i = 0; i < model->way_count && !out->failure; i++)
		put_edge(&own, &model->ways[i]);
	for (uint32_t i = 0; i < model->way_count; i++)
		put_failed(&own, &model->ways[i]);
	for (uint32_t i = 1; i < model->rule->state_count; i++)
		put_others(&own, i);
	text_append(out, "}\n");
}
