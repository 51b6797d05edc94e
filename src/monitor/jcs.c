// SPDX-License-Identifier: BSD-2-Clause
/*
 * The admission test. Products of two times do not fit into 64 bits, so what is in between has 128; results that do not
 * fit are JCS_UNBOUNDED, which refuses.
 */

#include "monitor/jcs.h"

#include <errno.h>

typedef __int128 wide;

static wide ceil_div(wide a, wide b)
{
	return a / b + (a % b > 0);
}

static wide larger_wide(wide a, wide b)
{
	return a > b ? a : b;
}

static uint64_t narrow_wide(wide value)
{
	return value < (wide)JCS_UNBOUNDED ? (uint64_t)value : JCS_UNBOUNDED;
}

int jcs_check(const struct jcs *stream)
{
	return stream->period > 0 && stream->period <= JCS_TIME_MAX && stream->distance <= stream->period &&
			       stream->earliness <= JCS_TIME_MAX
		       ? 0
		       : -EINVAL;
}

int jcs_monitor_check(const struct jcs_monitor *monitor)
{
	return monitor->period > 0 && monitor->period <= JCS_TIME_MAX && monitor->deadline <= monitor->period ? 0
													      : -EINVAL;
}

int jcs_from_rate(const struct jcs_rate *rate, struct jcs *stream)
{
	if (!rate->count || !rate->burst)
		return -EINVAL;
	struct jcs made = { .period = rate->time / rate->count, .distance = rate->spacing };

	if (made.distance > made.period)
		return -EINVAL;
	made.earliness = narrow_wide((wide)(rate->burst - 1) * (made.period - made.distance));
	if (jcs_check(&made))
		return -EINVAL;
	*stream = made;
	return 0;
}

uint64_t jcs_burst(const struct jcs *stream)
{
	if (stream->distance == stream->period)
		return JCS_UNBOUNDED;
	return 1 + stream->earliness / (stream->period - stream->distance);
}

uint64_t jcs_count(const struct jcs *stream, uint64_t time)
{
	wide by_period = ceil_div((wide)time + stream->earliness, stream->period);

	if (!time)
		return 0;
	if (!stream->distance)
		return narrow_wide(by_period);
	wide by_distance = ceil_div(time, stream->distance);

	return narrow_wide(by_period < by_distance ? by_period : by_distance);
}

uint64_t jcs_least(const struct jcs *stream, const struct jcs_monitor *monitor)
{
	return narrow_wide(ceil_div(monitor->period, stream->period));
}

uint64_t jcs_most(const struct jcs *stream, const struct jcs_monitor *monitor)
{
	return jcs_count(stream, monitor->period);
}

/*
 * The element that waits longest is among the first of a monitor's period: that of the last period that begins within
 * the burst, or of the one after. Before an element is taken there is a period and a deadline in any case.
 */
uint64_t jcs_latency(const struct jcs *stream, const struct jcs_monitor *monitor, uint64_t elements)
{
	wide shortest = (wide)monitor->period + monitor->deadline;

	if (elements < jcs_least(stream, monitor))
		return JCS_UNBOUNDED;
	if (elements >= jcs_most(stream, monitor))
		return narrow_wide(shortest);
	wide periods = (jcs_burst(stream) - 1) / elements;
	wide within = periods * ((wide)monitor->period - (wide)elements * stream->distance);
	wide after = (periods + 1) * ((wide)monitor->period - (wide)elements * stream->period) + stream->earliness;

	return narrow_wide(shortest + larger_wide(0, larger_wide(within, after)));
}

/* What waits when the monitor is about to have finished its period number k, from 1. */
static wide waiting_at(const struct jcs *stream, const struct jcs_monitor *monitor, wide elements, wide k)
{
	wide time = k * monitor->period + monitor->deadline;
	wide by_period = ceil_div(time + stream->earliness, stream->period);
	wide count = by_period;

	if (stream->distance && ceil_div(time, stream->distance) < by_period)
		count = ceil_div(time, stream->distance);
	return count - elements * (k - 1);
}

uint64_t jcs_backlog(const struct jcs *stream, const struct jcs_monitor *monitor, uint64_t elements)
{
	wide burst = jcs_burst(stream), last;

	if (elements < jcs_least(stream, monitor))
		return JCS_UNBOUNDED;
	if (elements >= jcs_most(stream, monitor))
		return narrow_wide(waiting_at(stream, monitor, elements, 1));
	last = ceil_div(burst * stream->distance - monitor->deadline, monitor->period) - 1;
	if (last < 1)
		return narrow_wide(waiting_at(stream, monitor, elements, 1));
	return narrow_wide(larger_wide(waiting_at(stream, monitor, elements, last),
				       waiting_at(stream, monitor, elements, last + 1)));
}

int jcs_admit(const struct jcs *stream, const struct jcs_monitor *monitor, uint64_t wanted, uint64_t *elements)
{
	uint64_t low = jcs_least(stream, monitor), high = larger_wide(low, jcs_most(stream, monitor));

	if (jcs_latency(stream, monitor, high) > wanted)
		return -ERANGE;
	/* The latency falls with the number. */
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (jcs_latency(stream, monitor, middle) <= wanted)
			high = middle;
		else
			low = middle + 1;
	}
	*elements = low;
	return 0;
}

uint64_t jcs_meter_add(struct jcs_meter *meter, const struct jcs *stream, uint64_t at)
{
	uint64_t earliest = at, missing;

	if (meter->has_begun) {
		earliest = meter->last + stream->distance;
		if (meter->next > stream->earliness && meter->next - stream->earliness > earliest)
			earliest = meter->next - stream->earliness;
	}
	missing = earliest > at ? earliest - at : 0;
	if (missing)
		return missing;
	meter->next = (meter->has_begun && meter->next > at ? meter->next : at) + stream->period;
	meter->last = at;
	meter->has_begun = true;
	return 0;
}

uint64_t jcs_runtime(const struct jcs_share *shares, size_t count, uint64_t wake)
{
	uint64_t sum = wake, dearest = 0, product;

	for (size_t i = 0; i < count; i++) {
		if (__builtin_mul_overflow(shares[i].elements, shares[i].cost, &product) ||
		    __builtin_add_overflow(sum, product, &sum))
			return JCS_UNBOUNDED;
		dearest = shares[i].cost > dearest ? shares[i].cost : dearest;
	}
	return __builtin_add_overflow(sum, dearest, &sum) ? JCS_UNBOUNDED : sum;
}
