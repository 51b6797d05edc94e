// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the interval of a match: from the time that it returns as `began`, or that its only event has in a field of
 * that name, to `ended`, in the thread that completed it; else from its first event to its end, in each thread of its
 * events. All times are CLOCK_MONOTONIC, as those of samples are.
 */

#include "profile/sample/between.h"

#include "base/alloc.h"
#include "base/text.h"
#include "program/match.h"
#include "program/query.h"
#include "program/returned.h"
#include "session/live/live.h"
#include "session/output/result.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

/* 8 million samples are more than an hour of two busy processors at the usual rate, and 200 MB. */
enum { ROOM = 1 << 23, END_TRIES = 20, END_PAUSE_MS = 100 };

/* Where the interval of a rule's matches is. */
struct span {
	enum { SPAN_NONE, SPAN_VALUES, SPAN_FIELDS, SPAN_EVENTS } by;
	uint32_t began, ended; /* numbers of what it returns, or of fields of its event */
};

struct between {
	const struct program *program;
	struct session_live_options options;
	struct live *live;
	struct session_totals totals;
	struct span *spans; /* per rule */
	struct intervals *intervals;
	struct sample_between counts;
	pid_t pid;
	bool has_ended;
	int failure;
};

static bool find_value(const struct program *program, const struct program_rule *rule, const char *name, uint32_t *row)
{
	for (*row = 0; *row < rule->return_count; ++*row) {
		const struct program_return *value = &program_returns(program, rule)[*row];
		enum program_kind kind = program->nodes[value->node].kind;

		if (strcmp(program_text(program, value->name), name) == 0)
			return kind == PROGRAM_I64 || kind == PROGRAM_U64;
	}
	return false;
}

static bool find_between_field(const struct program *program, uint32_t type, const char *name, uint32_t *number)
{
	const struct program_type *found = &program->types[type];

	for (*number = 0; *number < found->field_count; ++*number) {
		const struct program_field *field = &program_fields(program, found)[*number];

		if (strcmp(program_text(program, field->name), name) == 0)
			return field->value == EVENT_I64 || field->value == EVENT_U64;
	}
	return false;
}

static struct span span_of(const struct program *program, const struct program_rule *rule)
{
	const struct program_element *only = program_elements(program, rule);
	bool is_long = rule->element_count > 1 || (rule->element_count && only->flags & PROGRAM_ELEMENT_ARRAY);
	struct span span = { SPAN_NONE };

	if (rule->semantics == PROGRAM_MACHINE || rule->aggregation || rule->flags & PROGRAM_RULE_SILENT)
		return span;
	if (find_value(program, rule, "began", &span.began) && find_value(program, rule, "ended", &span.ended))
		span.by = SPAN_VALUES;
	else if (rule->flags & PROGRAM_RULE_SEQUENCE && is_long)
		span.by = SPAN_EVENTS;
	else if (rule->flags & PROGRAM_RULE_SEQUENCE && find_between_field(program, only->type, "began", &span.began) &&
		 find_between_field(program, only->type, "ended", &span.ended))
		span.by = SPAN_FIELDS;
	return span;
}

static int find_spans(struct between *between, struct asterism_diag *diag)
{
	const struct program *program = between->program;
	uint32_t found = 0;

	between->spans = alloc_zero(program->rule_count, sizeof *between->spans);
	if (!between->spans)
		return diag_no_memory(diag);
	for (uint32_t i = 0; i < program->rule_count; i++) {
		between->spans[i] = span_of(program, &program->rules[i]);
		found += between->spans[i].by != SPAN_NONE;
	}
	if (found)
		return 0;
	diag_error(diag, NULL, -EINVAL,
		   "no match of these rules has a beginning and an end, so no sample can lie within one");
	diag_hint(diag, "use a rule of two events, such as '[sys_enter_read:a, sys_exit_read:b] WHERE {[tid]}'; a rule "
			"of one event has to return two times: RETURN { ... AS began, ... AS ended }");
	return -EINVAL;
}

static bool is_new_thread(const struct program_match *match, uint32_t index)
{
	for (uint32_t i = 0; i < index; i++) {
		if (match->events[i].record->tid == match->events[index].record->tid)
			return false;
	}
	return true;
}

static int add_events(struct between *between, const struct program_match *match)
{
	uint64_t from = match->event_count ? match->events[0].record->ts : match->ts;
	int result = 0;

	between->counts.seconds += (double)(match->ts - from) / 1e9;
	for (uint32_t i = 0; i < match->event_count && !result; i++) {
		if (is_new_thread(match, i))
			result = intervals_add(between->intervals, match->events[i].record->tid, from, match->ts);
	}
	return result;
}

/* Whether the match has both times. */
static bool read_times(const struct program *program, const struct program_match *match, const struct span *span,
		       struct program_value times[2])
{
	const struct program_rule *rule = &program->rules[match->rule];
	const struct program_field *fields;

	if (span->by == SPAN_VALUES)
		return !program_returned(program, match, span->began, &times[0]) &&
		       !program_returned(program, match, span->ended, &times[1]);
	if (match->event_count != 1)
		return false;
	fields = program_fields(program, &program->types[program_elements(program, rule)->type]);
	result_read_field(&fields[span->began], match->events[0].record, &times[0]);
	result_read_field(&fields[span->ended], match->events[0].record, &times[1]);
	return true;
}

static int add_times(struct between *between, const struct program_match *match, const struct span *span)
{
	struct program_value times[2];

	if (!read_times(between->program, match, span, times) || times[0].u64 > times[1].u64 ||
	    times[1].u64 > match->ts) {
		between->counts.unusable++;
		return 0;
	}
	between->counts.seconds += (double)(times[1].u64 - times[0].u64) / 1e9;
	return intervals_add(between->intervals, match->tid, times[0].u64, times[1].u64);
}

static int take_match(void *context, const struct program_match *match)
{
	struct between *between = context;
	const struct span *span = &between->spans[match->rule];

	if (span->by == SPAN_NONE)
		return 0;
	between->counts.matches++;
	between->counts.tainted += match->tainted;
	return span->by == SPAN_EVENTS ? add_events(between, match) : add_times(between, match, span);
}

int between_open(const struct session_rules *rules, pid_t pid, const struct interval_taker *taker,
		 struct asterism_diag *diag, struct between **opened)
{
	struct between *between = alloc_zero(1, sizeof *between);
	int result;

	if (!between)
		return diag_no_memory(diag);
	between->program = session_rules_program(rules);
	between->pid = pid;
	between->options = (struct session_live_options){
		.pids = &between->pid,
		.pid_count = 1,
		.signal_fd = -1,
		.on_match = take_match,
		.context = between,
	};
	between->intervals = intervals_new(ROOM, taker);
	between->totals.rule_count = between->program->rule_count;
	between->totals.rules = alloc_zero(between->totals.rule_count, sizeof *between->totals.rules);
	if (!between->intervals || !between->totals.rules)
		result = diag_no_memory(diag);
	else
		result = find_spans(between, diag);
	if (!result)
		result = live_open(rules, &between->options, diag, &between->live);
	if (result)
		between_free(between);
	else
		*opened = between;
	return result;
}

void between_free(struct between *between)
{
	if (!between)
		return;
	live_close(between->live);
	session_totals_fini(&between->totals);
	intervals_free(between->intervals);
	alloc_free(between->spans);
	alloc_free(between);
}

int between_fd(const struct between *between)
{
	return live_fd(between->live);
}

/* A session that cannot go on is one that misses matches; the command is sampled to its end all the same. */
int between_step(struct between *between)
{
	int result = between->has_ended ? 0 : live_step(between->live);

	between->has_ended |= result != 0;
	if (result >= 0 || result == -ENOMEM)
		return result < 0 ? result : 0;
	between->failure = result;
	return 0;
}

int between_keep(struct between *between, const struct waiting_sample *sample)
{
	return intervals_keep(between->intervals, sample);
}

int between_end(struct between *between, struct sample_between *outcome)
{
	struct pollfd fd = { .fd = between_fd(between), .events = POLLIN };
	int result = between_step(between);

	for (int i = 0; i < END_TRIES && !between->has_ended && !result; i++) {
		poll(&fd, 1, END_PAUSE_MS);
		result = between_step(between);
	}
	if (!result)
		live_finish(between->live, &between->totals);
	if (!result)
		result = intervals_end(between->intervals);
	between->counts.lost = between->totals.lost;
	between->counts.is_cut = between->failure != 0;
	between->counts.outside = intervals_outside(between->intervals);
	between->counts.late = intervals_late(between->intervals);
	*outcome = between->counts;
	return result;
}

char *between_names(const struct between *between)
{
	struct text_buffer text = { 0 };
	char *names;

	for (uint32_t i = 0; i < between->program->rule_count; i++) {
		if (between->spans[i].by == SPAN_NONE)
			continue;
		text_append(&text, text.length ? ", " : "");
		text_append(&text, program_text(between->program, between->program->rules[i].name));
	}
	names = text.failure ? NULL : alloc_text(text.bytes);
	text_fini(&text);
	return names;
}
