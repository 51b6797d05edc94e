// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes the first sentences of a report: what a report knows of the whole in two sentences, and where none does, how
 * long it all lasted and what threads were in that time.
 */

#include "report/table.h"

#include "meaning/meaning.h"

/* What threads were, those that were observed. */
static void put_thread_states(struct text_buffer *text, const struct report_view *view)
{
	static const enum report_state states[] = { REPORT_RUNNING, REPORT_READY, REPORT_BLOCKED, REPORT_UNKNOWN };
	uint64_t sums[REPORT_STATES] = { 0 }, threads = 0;
	const char *comma = " Together they were";

	for (uint32_t i = 1; i < view->thread_count; i++) {
		const struct report_thread *thread = &view->threads[i];

		threads += !thread->is_stranger;
		for (unsigned state = 0; state < REPORT_STATES && !thread->is_stranger; state++)
			sums[state] += thread->state_ns[state];
	}
	meaning_show(text, &meaning_duration, (struct meaning_number){ view->last_ns - view->first_ns, false });
	text_printf(text, " with %llu thread%s.", (unsigned long long)threads, threads == 1 ? "" : "s");
	for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
		if (!sums[states[i]])
			continue;
		text_printf(text, "%s %s for ", comma, report_state_name(states[i]));
		meaning_show(text, &meaning_duration, (struct meaning_number){ sums[states[i]], false });
		comma = ",";
	}
	text_append(text, *comma == ',' ? "." : " What they did is unknown.");
}

void report_summary(struct report_tables *tables)
{
	struct text_buffer text = { 0 };

	if (!tables->view->events) {
		report_note(tables, "No events.");
		return;
	}
	for (size_t i = 0; i < tables->report_count && !text.length; i++) {
		if (tables->reports[i]->kind->say)
			tables->reports[i]->kind->say(tables->reports[i], &text);
	}
	if (!text.length)
		put_thread_states(&text, tables->view);
	if (text.failure)
		tables->failure = text.failure;
	else
		report_note(tables, "%s", text.bytes);
	text_fini(&text);
}
