// SPDX-License-Identifier: BSD-2-Clause
/* Passes events to reports, and ends reading where all have what they need. */

#include "report/pass-priv.h"

#include "base/alloc.h"

#include <errno.h>

static bool pass_wants_type(void *context, const struct event_type *type)
{
	(void)context;
	(void)type;
	return true;
}

static bool names_type(void *context, const struct event_type *type)
{
	(void)context;
	return strcmp(type->name, "sys_enter") == 0 || strcmp(type->name, "sys_exit") == 0;
}

static bool pass_wants_field(void *context, const struct event_type *type, uint32_t field)
{
	(void)context;
	return field != EVENT_NO_FIELD && report_role_reads(type, field);
}

static const char *const reasons[REASON_FIXED] = {
	[REASON_WOKEN] = "woken",
	[REASON_PREEMPTED] = "preempted",
	[REASON_NEW] = "new",
	[REASON_ASLEEP] = "asleep",
	[REASON_UNINTERRUPTIBLE] = "uninterruptible",
	[REASON_STOPPED] = "stopped",
	[REASON_TRACED] = "traced",
	[REASON_IDLE_WORKER] = "idle worker",
	[REASON_FAULT] = "page fault",
	[REASON_EXIT] = "exit",
};

int report_pass_new(struct event_source *source, const struct report_options *options, struct report_pass **made)
{
	struct report_pass *pass = alloc_zero(1, sizeof *pass);
	uint32_t number;

	if (!pass)
		return -ENOMEM;
	pass->options = *options;
	pass->view = (struct report_view){ .names = &pass->names,
					   .source = source,
					   .seen = pass->seen,
					   .is_redacted = options->is_redacted,
					   .pair = options->pair,
					   .tid = options->tid };
	for (unsigned i = 1; i < REASON_FIXED && !pass->failure; i++)
		pass->failure = report_names_add(&pass->names, reasons[i], &number);
	if (pass->failure || pass_thread_make(pass, 0, 0, "idle") != 0) {
		report_pass_free(pass);
		return -ENOMEM;
	}
	event_source_want(
		source,
		&(struct event_want){ .wants = pass_wants_type, .names = names_type, .wants_field = pass_wants_field });
	*made = pass;
	return 0;
}

void report_pass_free(struct report_pass *pass)
{
	if (!pass)
		return;
	pass_threads_fini(pass);
	report_names_fini(&pass->names);
	alloc_free(pass->reports);
	alloc_free(pass->layouts);
	alloc_free(pass->active);
	alloc_free(pass->cpus);
	alloc_free(pass->losses);
	alloc_free(pass);
}

const struct report_view *report_pass_view(const struct report_pass *pass)
{
	return &pass->view;
}

const char *report_state_name(unsigned state)
{
	static const char *const names[REPORT_STATES] = {
		"unknown", "running", "ready", "blocked", "others", "idle", "",
	};

	return names[state];
}

const char *report_name(const struct report_view *view, uint32_t index)
{
	return index && index <= view->names->count ? view->names->texts[index - 1] : "";
}

/* The view is a part of the pass. */
static const struct report_pass *pass_of(const struct report_view *view)
{
	return (const struct report_pass *)((const char *)view - offsetof(struct report_pass, view));
}

uint64_t report_ran(const struct report_view *view, uint32_t thread)
{
	const struct report_pass *pass = pass_of(view);
	const struct pass_lane *lane = &pass->lanes[thread];
	uint64_t since = lane->since > pass->options.from_ns ? lane->since : pass->options.from_ns;

	return view->threads[thread].state_ns[REPORT_RUNNING] +
	       (lane->state == REPORT_RUNNING && pass->now > since ? pass->now - since : 0);
}

int report_pass_add(struct report_pass *pass, struct report *report)
{
	if (alloc_grow(&pass->reports, &pass->report_capacity, pass->report_count, sizeof *pass->reports))
		return -ENOMEM;
	pass->reports[pass->report_count++] = report;
	return 0;
}

void report_pass_hold(struct report_pass *pass, const struct event_type *type)
{
	struct report_layout layout;

	report_layout_find(type, &layout);
	pass->seen[layout.role].held = true;
}

/* The first event of all. */
static void begin_report(struct report_pass *pass, const struct event *event)
{
	uint64_t ts = event->record->ts;

	pass->has_begun = true;
	pass->now = ts;
	if (pass->options.from_is_relative)
		pass->options.from_ns += ts;
	if (pass->options.to_is_relative)
		pass->options.to_ns = pass->options.to_ns > UINT64_MAX - ts ? UINT64_MAX : pass->options.to_ns + ts;
	if (pass->options.from_ns < ts)
		pass->options.from_ns = ts;
	pass->view.first_ns = pass->view.last_ns = pass->options.from_ns;
}

static const struct report_layout *layout_of(struct report_pass *pass, const struct event *event)
{
	uint32_t type = event_type_of(event->record);

	while (pass->layout_count <= type) {
		if (alloc_grow(&pass->layouts, &pass->layout_capacity, pass->layout_count, sizeof *pass->layouts)) {
			pass->failure = -ENOMEM;
			return NULL;
		}
		pass->layouts[pass->layout_count++] = (struct report_layout){ 0 };
	}
	if (!pass->layouts[type].type)
		report_layout_find(event->type, &pass->layouts[type]);
	return &pass->layouts[type];
}

/* A loss began before the event with which it is told, and behind the one before that. */
static void look_for_gap(struct report_pass *pass, uint64_t ts)
{
	const struct event_source *source = pass->view.source;
	uint64_t count = source->lost - pass->lost, end = source->lossy_until_ns;

	if (!count && end == pass->lossy_until_ns)
		return;
	pass->lost = source->lost;
	pass->lossy_until_ns = end;
	if (end < ts && count)
		end = end > pass->now ? end : ts;
	if (end <= pass->now && !count)
		return;
	pass_gap(pass, pass->now, end > pass->now ? end : pass->now, count);
	pass->gap_until_ns = end > pass->now ? end : pass->now;
}

static void tell_event(struct report_pass *pass, const struct report_event *event)
{
	uint64_t role = UINT64_C(1) << event->layout->role;

	for (size_t i = 0; i < pass->report_count && !pass->failure; i++) {
		struct report *report = pass->reports[i];

		if (report->kind->roles & role && report->kind->event)
			pass->failure = report->kind->event(report, event);
	}
}

static void tell_match(struct report_pass *pass, const struct report_match *match)
{
	for (size_t i = 0; i < pass->report_count && !pass->failure; i++) {
		struct report *report = pass->reports[i];

		if (report->kind->match)
			pass->failure = report->kind->match(report, match);
	}
}

/* Who raised it. Threads of applications' events have no CPU, and may be anywhere. */
static uint32_t raiser_of(struct report_pass *pass, const struct event *event)
{
	const struct event_header *record = event->record;
	uint32_t current;

	if (record->cpu < pass->view.cpu_count) {
		current = pass->cpus[record->cpu].current;
		if (current != REPORT_NONE && pass->cpus[record->cpu].current_tid == record->tid &&
		    pass->threads[current].pid)
			return current;
	} else if (record->cpu != EVENT_NO_CPU) {
		pass_cpu_get(pass, record->cpu);
	}
	return pass_thread_meet(pass, record->tid, record->pid, record->comm);
}

static uint32_t comer_of(struct report_pass *pass, const struct report_event *event)
{
	if (event->layout->role != ROLE_SWITCH)
		return REPORT_NONE;
	return pass_thread_meet(pass, (uint32_t)report_number(event->layout, event->event, SWITCH_NEXT_TID), 0,
				report_text(event->layout, event->event, SWITCH_NEXT_COMM));
}

static void take_mark(struct report_pass *pass, const struct report_event *event)
{
	const struct event_header *record = event->event->record;
	struct report_match match = {
		.ts = record->ts,
		.cpu = record->cpu,
		.thread = event->thread,
		.rule = report_text(event->layout, event->event, MATCH_RULE),
		.values = report_text(event->layout, event->event, MATCH_VALUES),
		.is_tainted = report_number(event->layout, event->event, MATCH_TAINTED),
	};

	tell_match(pass, &match);
}

int report_pass_event(struct report_pass *pass, const struct event *event)
{
	struct report_event told = { .event = event };
	uint64_t ts = event->record->ts;

	if (!pass->has_begun)
		begin_report(pass, event);
	if (ts > pass->options.to_ns)
		return 1;
	told.layout = layout_of(pass, event);
	if (!told.layout)
		return pass->failure;
	look_for_gap(pass, ts);
	if (ts > pass->now) /* merged inputs, and late events, may go back */
		pass->now = ts;
	told.thread = raiser_of(pass, event);
	told.comes = comer_of(pass, &told);
	if (event->record->cpu < pass->view.cpu_count) {
		pass_cpu_get(pass, event->record->cpu);
		told.in_interrupt = pass->cpus[event->record->cpu].depth > 0;
	}
	/* What is about the end of something is told while it lasts. */
	if (pass->now >= pass->options.from_ns) {
		pass->view.last_ns = pass->now;
		pass->view.events++;
		pass->seen[told.layout->role].count++;
		tell_event(pass, &told);
		if (told.layout->role == ROLE_MATCH)
			take_mark(pass, &told);
	}
	if (!event_is_late(event->record) && !pass->failure)
		pass_follow(pass, &told);
	return pass->failure;
}

uint32_t report_pass_thread(const struct report_pass *pass, uint32_t tid)
{
	return pass_thread_find(pass, tid);
}

int report_pass_match(struct report_pass *pass, const struct report_match *match)
{
	if (match->ts >= pass->options.from_ns && match->ts <= pass->options.to_ns)
		tell_match(pass, match);
	return pass->failure;
}

int report_pass_finish(struct report_pass *pass)
{
	const struct event_source *source = pass->view.source;
	uint64_t end_ns = source->until_ns < pass->options.to_ns ? source->until_ns : pass->options.to_ns;

	if (pass->has_begun && source->lost > pass->lost)
		pass_gap(pass, pass->now, source->lossy_until_ns > pass->now ? source->lossy_until_ns : pass->now,
			 source->lost - pass->lost);
	/* What lasts, lasts to the end of the recording, however long ago the last event was. */
	if (pass->has_begun && end_ns > pass->now) {
		pass->now = end_ns;
		pass->view.last_ns = pass->now >= pass->options.from_ns ? pass->now : pass->view.last_ns;
	}
	pass->view.wall_ns = source->machine.wall_ns;
	pass->view.host = source->machine.host;
	pass_end_all(pass, pass->now);
	for (size_t i = 0; i < pass->report_count && !pass->failure; i++) {
		struct report *report = pass->reports[i];

		if (report->kind->finish)
			pass->failure = report->kind->finish(report);
	}
	return pass->failure;
}
