// SPDX-License-Identifier: BSD-2-Clause
/* Finds the cause of a delay, and keeps how long a cause counts. */

#include "monitor/watch.h"

#include <string.h>

const char *const watch_cause_texts[WATCH_CAUSES] = {
	[WATCH_OVER_RATE] = "the producer exceeded its declared rate",
	[WATCH_UNDECLARED] = "events of sensors without a declared rate",
	[WATCH_OVER_COST] = "evaluation took longer than its limit, or was interrupted",
	[WATCH_HELD] = "a writer was suspended between begin and commit",
	[WATCH_LATE_WAKE] = "the monitor woke up late",
	[WATCH_NEWCOMER] = "raised before the monitor knew the process",
	[WATCH_UNEXPLAINED] = "no cause found",
};

const char *const watch_cause_names[WATCH_CAUSES] = {
	[WATCH_OVER_RATE] = "over_rate",     [WATCH_UNDECLARED] = "undeclared", [WATCH_OVER_COST] = "over_cost",
	[WATCH_HELD] = "held_writer",        [WATCH_LATE_WAKE] = "late_wake",   [WATCH_NEWCOMER] = "newcomer",
	[WATCH_UNEXPLAINED] = "unexplained",
};

/* There is one writer of every count, so nothing is lost between the two. */
static void add_to_watch_count(_Atomic uint64_t *count, uint64_t more)
{
	atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + more, memory_order_relaxed);
}

static void raise_to(_Atomic uint64_t *most, uint64_t value)
{
	if (value > atomic_load_explicit(most, memory_order_relaxed))
		atomic_store_explicit(most, value, memory_order_relaxed);
}

static uint64_t excess_of(uint64_t value, uint64_t most)
{
	return value > most ? value - most : 0;
}

void watch_init(struct watch *watch, const struct watch_options *options)
{
	memset(watch, 0, sizeof *watch);
	watch->options = *options;
	watch->least_ns = UINT64_MAX;
}

void watch_wake(struct watch *watch, uint64_t due_ns, uint64_t idle_ns, uint64_t now_ns)
{
	uint64_t from = due_ns > idle_ns ? due_ns : idle_ns, late = now_ns > from ? now_ns - from : 0;

	watch->due_ns = due_ns + watch->options.period_ns;
	add_to_watch_count(&watch->turns, 1);
	raise_to(&watch->latest_ns, late);
	if (late > watch->options.late_ns)
		watch->shares[WATCH_LATE_WAKE] += late;
	if (watch->held_since_ns)
		watch->shares[WATCH_HELD] += excess_of(now_ns, watch->held_since_ns);
}

/* What this element adds to the delay of those behind it. */
static void blame(struct watch *watch, struct watch_sensor *sensor, const struct watch_element *element)
{
	uint64_t cost = excess_of(element->end_ns, element->begin_ns);

	raise_to(&sensor->worst_ns, cost);
	if (!sensor->is_declared) {
		watch->shares[WATCH_UNDECLARED] += cost;
		return;
	}
	if (sensor->cost_ns)
		watch->shares[WATCH_OVER_COST] += excess_of(cost, sensor->cost_ns);
	/* Whose writer was held up, or not known yet, kept to the rate in its own time: what is behind is not early. */
	if (element->at_ns < sensor->last_ns && (element->is_late || element->is_new)) {
		watch->shares[element->is_late ? WATCH_HELD : WATCH_NEWCOMER] += cost;
		return;
	}
	/* Any other that comes when others have is measured as if it came with the last. */
	sensor->last_ns = element->at_ns > sensor->last_ns ? element->at_ns : sensor->last_ns;
	if (jcs_meter_add(&sensor->meter, &sensor->stream, sensor->last_ns)) {
		add_to_watch_count(&sensor->excess, 1);
		watch->shares[WATCH_OVER_RATE] += cost;
	}
}

static enum watch_cause cause_of(const struct watch *watch, const struct watch_element *element, uint64_t *share)
{
	enum watch_cause cause = WATCH_UNEXPLAINED;

	*share = 0;
	if (element->is_late || element->is_new)
		return element->is_late ? WATCH_HELD : WATCH_NEWCOMER;
	for (int i = 0; i < WATCH_UNEXPLAINED; i++) {
		if (watch->shares[i] <= *share)
			continue;
		*share = watch->shares[i];
		cause = (enum watch_cause)i;
	}
	return cause;
}

static void keep_worst(struct watch *watch, const struct watch_violation *violation)
{
	uint32_t at = watch->worst_count;

	while (at && watch->worst[at - 1].response_ns < violation->response_ns)
		at--;
	if (at == WATCH_WORST)
		return;
	if (watch->worst_count < WATCH_WORST)
		watch->worst_count++;
	memmove(&watch->worst[at + 1], &watch->worst[at], (watch->worst_count - 1 - at) * sizeof *violation);
	watch->worst[at] = *violation;
}

static void count_response(struct watch *watch, uint64_t response)
{
	uint64_t bucket = response / watch->options.bucket_ns;

	add_to_watch_count(&watch->elements, 1);
	add_to_watch_count(&watch->sum_ns, response);
	add_to_watch_count(&watch->histogram[bucket < WATCH_BUCKETS ? bucket : WATCH_BUCKETS - 1], 1);
	raise_to(&watch->most_ns, response);
	if (response < atomic_load_explicit(&watch->least_ns, memory_order_relaxed))
		atomic_store_explicit(&watch->least_ns, response, memory_order_relaxed);
}

bool watch_take(struct watch *watch, const struct watch_element *element, struct watch_violation *violation)
{
	struct watch_sensor *sensor = &watch->options.sensors[element->sensor];
	uint64_t response = excess_of(element->end_ns, element->at_ns);

	count_response(watch, response);
	add_to_watch_count(&sensor->elements, 1);
	blame(watch, sensor, element);
	if (!watch->options.bound_ns || response <= watch->options.bound_ns)
		return true;
	*violation = (struct watch_violation){
		.at_ns = element->at_ns,
		.response_ns = response,
		.sensor = element->sensor,
		.pid = element->pid,
	};
	violation->cause = cause_of(watch, element, &violation->share_ns);
	add_to_watch_count(&watch->violations, 1);
	add_to_watch_count(&watch->causes[violation->cause], 1);
	keep_worst(watch, violation);
	return false;
}

void watch_lose(struct watch *watch, uint64_t lost)
{
	add_to_watch_count(&watch->lost, lost);
}

void watch_rest(struct watch *watch, uint64_t now_ns, bool is_held)
{
	watch->held_since_ns = is_held ? now_ns : 0;
	if (is_held)
		return;
	if (now_ns <= watch->due_ns)
		memset(watch->shares, 0, sizeof watch->shares);
}

uint64_t watch_quantile(const struct watch *watch, double share)
{
	uint64_t wanted = (uint64_t)((double)watch->elements * share), seen = 0;

	for (uint32_t i = 0; i < WATCH_BUCKETS - 1; i++) {
		seen += watch->histogram[i];
		if (seen > wanted || seen == watch->elements)
			return (i + 1) * watch->options.bucket_ns;
	}
	return watch->most_ns;
}
