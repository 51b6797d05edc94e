// SPDX-License-Identifier: BSD-2-Clause
/* Explains what is refused, and what would be admitted instead. */

#include "monitor/admission.h"

#include "base/alloc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

const char *admission_time(char text[ADMISSION_TIME_BYTES], uint64_t ns)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } };
	size_t unit = 0;

	while (unit < 3 && (double)ns < units[unit].ns)
		unit++;
	snprintf(text, ADMISSION_TIME_BYTES, "%.4g %s", (double)ns / units[unit].ns, units[unit].unit);
	return text;
}

uint64_t admission_ring_holds(uint32_t sub_units, uint32_t sub_count, uint32_t element_units)
{
	/* RING_HEADER_UNITS and a context in each; one sub-buffer is being overwritten, another one written to. */
	enum { OVERHEAD = 14 };

	if (sub_count < 3 || sub_units < OVERHEAD + 2 * element_units || !element_units)
		return 0;
	return (uint64_t)(sub_count - 2) * ((sub_units - OVERHEAD - element_units) / element_units);
}

/* The latency cannot be shorter than period and deadline. */
static int refuse_latency(const struct admission *admission, const struct admission_sensor *sensor,
			  struct asterism_diag *diag)
{
	const struct jcs_monitor *monitor = &admission->monitor;
	char wanted[ADMISSION_TIME_BYTES], least[ADMISSION_TIME_BYTES], hint[128];
	uint64_t shortest = jcs_latency(&sensor->stream, monitor, jcs_most(&sensor->stream, monitor));
	uint64_t fits = admission->wanted_ns * monitor->period / (monitor->period + monitor->deadline);

	admission_time(wanted, admission->wanted_ns);
	admission_time(least, shortest);
	diag_error(diag, NULL, -ERANGE,
		   "latency %s is shorter than one period plus its deadline (%s): no event can be promised to be "
		   "evaluated that soon",
		   wanted, least);
	/* Whole microseconds, so that what is said can be typed. */
	if (fits >= 1000)
		snprintf(hint, sizeof hint, "use --period %" PRIu64 "us, or --latency %" PRIu64 "us", fits / 1000,
			 (shortest + 999) / 1000);
	else
		snprintf(hint, sizeof hint, "use --latency %" PRIu64 "us", (shortest + 999) / 1000);
	diag_hint(diag, hint);
	return -ERANGE;
}

static int decide_sensor(struct admission *admission, struct admission_sensor *sensor, struct asterism_diag *diag)
{
	const struct jcs_monitor *monitor = &admission->monitor;
	uint64_t most;

	if (jcs_check(&sensor->stream))
		return diag_error(diag, NULL, -EINVAL, "%s: no producer can reach that rate", sensor->name);
	most = jcs_most(&sensor->stream, monitor);
	sensor->elements = most;
	if (admission->wanted_ns && jcs_admit(&sensor->stream, monitor, admission->wanted_ns, &sensor->elements))
		return refuse_latency(admission, sensor, diag);
	sensor->latency_ns = jcs_latency(&sensor->stream, monitor, sensor->elements);
	/* With several, one may wait for the others as long as the latency; and the reader may be a period late. */
	sensor->waiting = jcs_count(&sensor->stream, sensor->latency_ns > 2 * monitor->period ? sensor->latency_ns
											      : 2 * monitor->period);
	if (sensor->latency_ns > admission->latency_ns)
		admission->latency_ns = sensor->latency_ns;
	admission->declared++;
	return 0;
}

/* Too much for one deadline. The longest sum is named, as that is where something can be done. */
static int refuse_runtime(const struct admission *admission, struct asterism_diag *diag)
{
	char runtime[ADMISSION_TIME_BYTES], deadline[ADMISSION_TIME_BYTES], cost[ADMISSION_TIME_BYTES];
	const struct admission_sensor *dearest = admission->sensors; /* there is one that is declared */
	char hint[160];

	for (size_t i = 0; i < admission->count; i++) {
		const struct admission_sensor *sensor = &admission->sensors[i];

		if (sensor->is_declared && sensor->elements * sensor->cost_ns >= dearest->elements * dearest->cost_ns)
			dearest = sensor;
	}
	diag_error(diag, NULL, -E2BIG, "the evaluations need %s per period, but have only %s until their deadline",
		   admission_time(runtime, admission->runtime_ns),
		   admission_time(deadline, admission->monitor.deadline));
	uint64_t fits = admission->monitor.deadline > admission->wake_ns + dearest->cost_ns
				? (admission->monitor.deadline - admission->wake_ns - dearest->cost_ns) /
					  (dearest->cost_ns ? dearest->cost_ns : 1)
				: 0;

	snprintf(hint, sizeof hint,
		 "%s may bring %" PRIu64 " events per period at %s each; alone it could bring %" PRIu64
		 ": lower its rate or burst, allow more --latency, or use --copy",
		 dearest->name, dearest->elements, admission_time(cost, dearest->cost_ns), fits);
	diag_hint(diag, hint);
	return -E2BIG;
}

int admission_decide(struct admission *admission, struct asterism_diag *diag)
{
	struct jcs_share *shares = alloc_zero(admission->count, sizeof *shares);
	int result = jcs_monitor_check(&admission->monitor);
	size_t count = 0;

	admission->declared = 0;
	admission->latency_ns = admission->runtime_ns = 0;
	if (!shares)
		return diag_no_memory(diag);
	if (result)
		diag_error(diag, NULL, result, "the deadline must not exceed the period, and the period must not be 0");
	for (size_t i = 0; i < admission->count && !result; i++) {
		struct admission_sensor *sensor = &admission->sensors[i];

		if (!sensor->is_declared)
			continue;
		result = decide_sensor(admission, sensor, diag);
		shares[count++] = (struct jcs_share){
			.elements = sensor->elements,
			.cost = admission->copy_ns ? admission->copy_ns : sensor->cost_ns,
		};
	}
	if (!result && admission->declared) {
		admission->runtime_ns = jcs_runtime(shares, count, admission->wake_ns);
		if (admission->runtime_ns > admission->monitor.deadline && !admission->is_best_effort)
			result = refuse_runtime(admission, diag);
	}
	alloc_free(shares);
	return result;
}
