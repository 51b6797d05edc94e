// SPDX-License-Identifier: BSD-2-Clause
/*
 * Gives hints what to try, by what the counts of a rule show: a row each, which says nothing unless its fact is there.
 * Only what ended or kept back most of the runs is worth a word.
 */

#include "program/why/report-priv.h"

#include "base/alloc.h"
#include "program/emissions.h"

#include <inttypes.h>
#include <string.h>

enum { HINTS_MAX = 3 };

/* What most rows ask. */
struct found {
	const struct program_why_report *report;
	uint64_t ended;
	struct why_step ends_most; /* the transition that ended most runs */
	uint64_t by_process, by_thread;
};

/* A row writes nothing where its fact is not there. */
typedef void hint_fn(const struct found *found, struct text_buffer *out);

static bool is_most(uint64_t part, uint64_t of)
{
	return part && part >= of - part;
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* A negation or a threshold that a stranger's events decide. */
static void others(const struct found *found, struct text_buffer *out)
{
	bool processes = is_most(found->by_process, found->ended), threads = is_most(found->by_thread, found->ended);

	if (!processes && !threads)
		return;
	text_printf(out, "%" PRIu64 " of %" PRIu64 " run%s ended at an event of another %s",
		    processes ? found->by_process : found->by_thread, found->ended, plural(found->ended),
		    processes ? "process" : "thread");
	text_append(out, processes ? ": does WHERE lack [pid], or [tid] for one thread?" : ": does WHERE lack [tid]?");
}

static void forbidden(const struct found *found, struct text_buffer *out)
{
	const struct why_step *step = &found->ends_most;

	if (!step->transition || (step->transition->flags & (PROGRAM_FORBID | PROGRAM_GONE)) != PROGRAM_FORBID ||
	    !is_most(why_ended(step), found->ended) || is_most(found->by_thread, found->ended))
		return;
	text_printf(out, "%" PRIu64 " of %" PRIu64 " run%s ended at ", why_ended(step), found->ended,
		    plural(found->ended));
	why_put_event(found->report, step, out);
	text_append(out, ": should each of these end a run? A condition on it in WHERE excludes some");
}

static void threshold(const struct found *found, struct text_buffer *out)
{
	const struct why_step *step = &found->ends_most;

	if (!step->transition || step->transition->target == PROGRAM_TARGET_END ||
	    !is_most(why_ended(step), found->ended) || is_most(found->by_thread, found->ended))
		return;
	text_printf(out, "%" PRIu64 " of %" PRIu64 " run%s ended at ", why_ended(step), found->ended,
		    plural(found->ended));
	why_put_event(found->report, step, out);
	text_append(out, ", where this was false: ");
	why_put_condition(found->report, step, step->transition->hold, out);
	text_append(out, ": is that what you meant?");
}

static void expired(const struct found *found, struct text_buffer *out)
{
	const struct program_why_report *report = found->report;
	uint64_t expired = 0;

	for (uint32_t i = 0; i < report->rule->state_count; i++)
		expired += why_state(report, i)[PROGRAM_WHY_EXPIRED];
	if (!is_most(expired, found->ended))
		return;
	text_printf(out, "%" PRIu64 " of %" PRIu64 " run%s ended because WITHIN ", expired, found->ended,
		    plural(found->ended));
	text_time(out, report->rule->within_ns);
	text_append(out, " expired: is it long enough?");
}

static void interrupted(const struct found *found, struct text_buffer *out)
{
	const struct program_why_report *report = found->report;
	uint64_t most = why_type(report, PROGRAM_NONE)[PROGRAM_WHY_BROKE];
	uint32_t type = PROGRAM_NONE;

	for (uint32_t i = 0; i < report->rule->over_count; i++) {
		uint32_t other = program_over(report->program, report->rule)[i];

		if (why_type(report, other)[PROGRAM_WHY_BROKE] > most) {
			most = why_type(report, other)[PROGRAM_WHY_BROKE];
			type = other;
		}
	}
	if (!is_most(most, found->ended))
		return;
	text_printf(out, "%" PRIu64 " of %" PRIu64 " run%s ended at %s in between: ", most, found->ended,
		    plural(found->ended), why_type_name(report, type));
	text_append(out, "SKIPTILLNEXT ignores events that do not match");
}

/* What to look at where no event of the type has come. */
static const char *why_unseen(const struct program_why_report *report, uint32_t type)
{
	if (program_is_emitted(report->program, type))
		return "a rule raises it by EMIT: see how far that rule came in --why";
	if (!report->is_live)
		return "does the input contain it, and was its process observed when that was recorded?";
	return strncmp(why_type_name(report, type), "sys_", 4) == 0
		       ? "is the process that makes the call observed (-a observes the whole machine), and does it "
			 "make this call? @top-syscalls shows the calls of a command"
		       : "is the process that raises it observed? -a observes the whole machine";
}

/* Whether an event of another type that takes a run out of the state has come: a branch of an alternative is enough. */
static bool came_otherwise(const struct program_why_report *report, uint32_t state)
{
	for (struct why_step step = { 0 }; why_next(report, &step);) {
		const struct program_transition *transition = step.transition;

		if (step.state == state && transition->type != PROGRAM_TIMER && !(transition->flags & PROGRAM_FORBID) &&
		    transition->target != PROGRAM_TARGET_END && transition->target != state &&
		    why_type(report, transition->type)[PROGRAM_WHY_SEEN])
			return true;
	}
	return false;
}

/* An event that some transition takes has not come: the first of them. */
static void unseen(const struct found *found, struct text_buffer *out)
{
	const struct program_why_report *report = found->report;

	for (struct why_step step = { 0 }; why_next(report, &step);) {
		const struct program_transition *transition = step.transition;

		if (transition->type == PROGRAM_TIMER || transition->flags & PROGRAM_FORBID ||
		    transition->target == PROGRAM_TARGET_END || why_type(report, transition->type)[PROGRAM_WHY_SEEN] ||
		    came_otherwise(report, step.state))
			continue;
		text_printf(out, "no %s was seen: ", why_type_name(report, transition->type));
		text_append(out, why_unseen(report, transition->type));
		return;
	}
}

/* Events came, and none was a first one. */
static void unopened(const struct found *found, struct text_buffer *out)
{
	const struct program_why_report *report = found->report;

	for (struct why_step step = { 0 }; why_next(report, &step) && step.state == 0;) {
		uint64_t seen = why_type(report, step.transition->type)[PROGRAM_WHY_SEEN];

		if (report->stats->runs_opened || report->stats->pool_exhausted || !seen ||
		    step.transition->fit == PROGRAM_NONE || step.counts[PROGRAM_WHY_TAKEN])
			continue;
		text_printf(out, "none of %" PRIu64 " %s opened a run: for all of them this is false: ", seen,
			    why_type_name(report, step.transition->type));
		why_put_condition(report, &step, step.transition->fit, out);
		return;
	}
}

/* What runs in the state wait under. */
static const struct program_class *class_of(const struct program_why_report *report, uint32_t state)
{
	return &program_classes(report->program,
				report->rule)[program_states(report->program, report->rule)[state].class];
}

/* Runs wait, the event that they wait for came, but for none of them, or never as they want it. */
static void unmet(const struct found *found, struct text_buffer *out)
{
	const struct program_why_report *report = found->report;

	for (struct why_step step = { 0 }; why_next(report, &step);) {
		const uint64_t *state = why_state(report, step.state);
		uint32_t type = step.transition->type;

		if (!step.state || !why_is_first(report, &step) || type == PROGRAM_TIMER ||
		    step.transition->flags & PROGRAM_FORBID || !state[PROGRAM_WHY_OPEN] ||
		    step.counts[PROGRAM_WHY_TAKEN] || !why_type(report, type)[PROGRAM_WHY_SEEN] ||
		    (step.counts[PROGRAM_WHY_MET] ? step.transition->fit == PROGRAM_NONE
						  : !class_of(report, step.state)->slot_count))
			continue;
		text_printf(out, "%" PRIu64 " run%s wait%s %s for %s: ", state[PROGRAM_WHY_OPEN],
			    plural(state[PROGRAM_WHY_OPEN]), state[PROGRAM_WHY_OPEN] == 1 ? "s" : "",
			    why_state_label(report, step.state), why_type_name(report, type));
		if (!step.counts[PROGRAM_WHY_MET]) {
			text_printf(out, "none came with their key (%s)",
				    program_text(report->program, class_of(report, step.state)->label));
		} else {
			text_printf(out, "%" PRIu64 " came with their key, but for all of them this is false: ",
				    step.counts[PROGRAM_WHY_MET]);
			why_put_condition(report, &step, step.transition->fit, out);
		}
		return;
	}
}

static void refused(const struct found *found, struct text_buffer *out)
{
	uint64_t refused = found->report->stats->pool_exhausted - found->report->stats->events_refused;

	if (refused)
		text_printf(out, "%" PRIu64 " run%s did not fit into the pool of %" PRIu64 ": enlarge it with POOL n",
			    refused, plural(refused), found->report->rule->pool);
}

static void excepted(const struct found *found, struct text_buffer *out)
{
	uint64_t excepted = found->report->stats->excepted;

	if (excepted)
		text_printf(out, "%" PRIu64 " match%s excepted (EXCEPT, --except)", excepted,
			    excepted == 1 ? " is" : "es are");
}

static hint_fn *const rows[] = {
	unseen, unopened, excepted, others, forbidden, threshold, expired, interrupted, unmet, refused,
};

static struct found sum_up_steps(const struct program_why_report *report)
{
	struct found found = { .report = report, .ended = why_all_ended(report) };

	for (struct why_step step = { 0 }; why_next(report, &step);) {
		found.by_process += step.counts[PROGRAM_WHY_OTHER_PROCESS];
		found.by_thread += step.counts[PROGRAM_WHY_OTHER_THREAD];
		if (why_ended(&step) && (!found.ends_most.transition || why_ended(&step) > why_ended(&found.ends_most)))
			found.ends_most = step;
	}
	return found;
}

void program_why_hints(const struct program_why_report *report, void (*put)(void *context, const char *hint),
		       void *context)
{
	const struct found found = sum_up_steps(report);
	uint32_t told = 0;

	if (report->stats->matches || why_is_machine(report))
		return;
	for (size_t i = 0; i < sizeof rows / sizeof *rows && told < HINTS_MAX; i++) {
		struct text_buffer text = { 0 };
		char *hint = NULL;

		rows[i](&found, &text);
		if (text.length && !text_take(&text, &hint)) {
			put(context, hint);
			told++;
		}
		text_fini(&text);
		alloc_free(hint);
	}
}
