// SPDX-License-Identifier: BSD-2-Clause
/* Writes a rule's counts as JSON: all of them, in the order of the automaton. */

#include "program/why/report-priv.h"

#include "base/alloc.h"

#include <errno.h>
#include <inttypes.h>

/* What was written into draft as a JSON string, behind its name. */
static void put_drafted_text(struct text_buffer *out, const char *name, struct text_buffer *draft)
{
	char *text = NULL;

	text_printf(out, ",\"%s\":", name);
	if (text_take(draft, &text))
		out->failure = -ENOMEM;
	else
		text_json(out, text);
	alloc_free(text);
}

static void put_why_condition(const struct program_why_report *report, const struct why_step *step, const char *name,
			      struct text_buffer *out)
{
	uint32_t node = name[0] == 'f' ? step->transition->fit : step->transition->hold;
	struct text_buffer draft = { 0 };

	if (node == PROGRAM_NONE)
		return;
	why_put_condition(report, step, node, &draft);
	put_drafted_text(out, name, &draft);
}

/* Each condition on its own: how often it was asked, and true. */
static void put_why_conditions(const struct program_why_report *report, const struct why_step *step,
			       struct text_buffer *out)
{
	struct why_condition found[2 * PROGRAM_WHY_CONDITIONS_MAX];
	uint32_t count = why_conditions(report, step, found);

	text_append(out, ",\"conditions\":[");
	for (uint32_t i = 0; i < count; i++) {
		struct text_buffer draft = { 0 };

		text_printf(out, "%s{\"of\":\"%s\"", i ? "," : "", found[i].is_hold ? "hold" : "fit");
		why_put_condition(report, step, found[i].node, &draft);
		put_drafted_text(out, "condition", &draft);
		text_printf(out, ",\"asked\":%" PRIu64 ",\"true\":%" PRIu64 "}", found[i].asked, found[i].was_true);
	}
	text_append(out, "]");
}

static void put_step_json(const struct program_why_report *report, const struct why_step *step, struct text_buffer *out)
{
	struct text_buffer draft = { 0 };

	text_append(out, "{\"state\":");
	text_json(out, why_state_label(report, step->state));
	why_put_event(report, step, &draft);
	put_drafted_text(out, "event", &draft);
	text_append(out, ",\"target\":");
	text_json(out, why_target(report, step));
	put_why_condition(report, step, "fit", out);
	put_why_condition(report, step, "hold", out);
	if (step->state && why_is_first(report, step))
		text_printf(out, ",\"met\":%" PRIu64, step->counts[PROGRAM_WHY_MET]);
	text_printf(out, ",\"tried\":%" PRIu64,
		    program_why_tried(report->program, report->rule, report->counts, step->transition));
	text_printf(out,
		    ",\"taken\":%" PRIu64 ",\"failed\":%" PRIu64 ",\"by_other_process\":%" PRIu64
		    ",\"by_other_thread\":%" PRIu64,
		    step->counts[PROGRAM_WHY_TAKEN], step->counts[PROGRAM_WHY_FAILED],
		    step->counts[PROGRAM_WHY_OTHER_PROCESS], step->counts[PROGRAM_WHY_OTHER_THREAD]);
	put_why_conditions(report, step, out);
	text_append(out, "}");
}

static void put_why_type(const struct program_why_report *report, uint32_t type, struct text_buffer *out)
{
	const uint64_t *counts = why_type(report, type);

	text_append(out, "{\"event\":");
	text_json(out, why_type_name(report, type));
	if (type != PROGRAM_NONE)
		text_printf(out, ",\"seen\":%" PRIu64, counts[PROGRAM_WHY_SEEN]);
	text_printf(out, ",\"in_between\":%" PRIu64 "}", counts[PROGRAM_WHY_BROKE]);
}

static void put_types(const struct program_why_report *report, struct text_buffer *out)
{
	const char *separator = "";

	text_append(out, ",\"events\":[");
	for (uint32_t i = 0; i <= report->rule->over_count; i++) {
		bool is_last = i == report->rule->over_count;
		uint32_t type = is_last ? PROGRAM_NONE : program_over(report->program, report->rule)[i];

		if (is_last ? !program_why_has_others(report->rule)
			    : !program_why_looks_at(report->program, report->rule, type))
			continue;
		text_append(out, separator);
		separator = ",";
		put_why_type(report, type, out);
	}
	text_append(out, "]");
}

static void put_why_states(const struct program_why_report *report, struct text_buffer *out)
{
	text_append(out, ",\"states\":[");
	for (uint32_t i = 1; i < report->rule->state_count; i++) {
		text_append(out, i > 1 ? ",{\"state\":" : "{\"state\":");
		text_json(out, why_state_label(report, i));
		text_printf(out, ",\"open\":%" PRIu64 ",\"expired\":%" PRIu64 "}",
			    why_state(report, i)[PROGRAM_WHY_OPEN], why_state(report, i)[PROGRAM_WHY_EXPIRED]);
	}
	text_append(out, "]");
}

/* The hints of a rule, as they come. */
struct hints {
	struct text_buffer *out;
	bool any;
};

static void put_hint(void *context, const char *hint)
{
	struct hints *hints = context;

	text_append(hints->out, hints->any ? "," : ",\"hints\":[");
	text_json(hints->out, hint);
	hints->any = true;
}

void program_why_json(const struct program_why_report *report, struct text_buffer *out)
{
	const struct program_rule_stats *stats = report->stats;
	struct hints hints = { .out = out };
	bool first = true;

	text_append(out, "{\"why\":");
	text_json(out, program_text(report->program, report->rule->name));
	text_printf(out,
		    ",\"matches\":%" PRIu64 ",\"excepted\":%" PRIu64 ",\"runs_opened\":%" PRIu64 ",\"refused\":%" PRIu64
		    ",\"dropped\":%" PRIu64 ",\"discarded\":%" PRIu64,
		    stats->matches, stats->excepted, stats->runs_opened, stats->pool_exhausted,
		    report->counts[PROGRAM_WHY_DROPPED], report->counts[PROGRAM_WHY_DISCARDED]);
	put_types(report, out);
	put_why_states(report, out);
	text_append(out, ",\"transitions\":[");
	for (struct why_step step = { 0 }; why_next(report, &step); first = false) {
		text_append(out, first ? "" : ",");
		put_step_json(report, &step, out);
	}
	text_append(out, "]");
	program_why_hints(report, put_hint, &hints);
	text_append(out, hints.any ? "]}\n" : "}\n");
}
