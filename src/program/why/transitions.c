// SPDX-License-Identifier: BSD-2-Clause
/* Writes a rule's transitions as text: a line each, and one for each of its conditions below it. */

#include "program/why/report-priv.h"

#include <inttypes.h>

static void put_asked_conditions(const struct program_why_report *report, const struct why_step *step,
				 struct text_buffer *out)
{
	struct why_condition found[2 * PROGRAM_WHY_CONDITIONS_MAX];
	uint32_t count = why_conditions(report, step, found);

	for (uint32_t i = 0; i < count; i++) {
		const struct why_condition *one = &found[i];

		text_printf(out, "  %12" PRIu64 "%12" PRIu64, one->asked, one->was_true);
		if (one->asked)
			text_printf(out, "%10.3g %%      ", 100.0 * (double)one->was_true / (double)one->asked);
		else
			text_append(out, "                  ");
		why_put_condition(report, step, one->node, out);
		text_append(out, "\n");
	}
}

static void put_step_transition(const struct program_why_report *report, const struct why_step *step,
				struct text_buffer *out)
{
	uint64_t taken = step->counts[PROGRAM_WHY_TAKEN];

	text_printf(out, "  %12" PRIu64 "%12" PRIu64 "%12" PRIu64 "  %s: ",
		    program_why_tried(report->program, report->rule, report->counts, step->transition), taken,
		    taken - step->counts[PROGRAM_WHY_FAILED], why_state_label(report, step->state));
	why_put_event(report, step, out);
	text_printf(out, " -> %s\n", why_target(report, step));
	put_asked_conditions(report, step, out);
}

void program_why_transitions(const struct program_why_report *report, struct text_buffer *out)
{
	text_printf(out, "%s %s\n  %12s%12s%12s  transition; of a condition: asked, true, share\n",
		    program_sort(report->rule), program_text(report->program, report->rule->name), "tried", "taken",
		    "held");
	for (struct why_step step = { 0 }; why_next(report, &step);)
		put_step_transition(report, &step, out);
}
