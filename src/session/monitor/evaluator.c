// SPDX-License-Identifier: BSD-2-Clause
/*
 * The evaluator of a monitor, one turn after the other. From its first turn on nothing here allocates, locks, prints or
 * calls the system, but for the wait.
 */

#include "session/monitor/monitor-priv.h"

#include "base/clock.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ACK_WAIT_US = 200 };

static uint64_t now_of(void *context)
{
	(void)context;
	return clock_now_ns();
}

static void sleep_until(void *context, uint64_t at_ns)
{
	const struct timespec at = { (time_t)(at_ns / 1000000000), (long)(at_ns % 1000000000) };

	(void)context;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

static void tell_violation(struct monitor *monitor, const struct watch_violation *violation)
{
	struct watch_violation *told = monitor_queue_reserve(&monitor->told, sizeof *told);

	if (!told)
		return;
	*told = *violation;
	monitor_queue_send(&monitor->told);
}

static void copy_intake_element(struct monitor *monitor, const struct intake_element *element)
{
	struct copied *copied = monitor_queue_reserve(&monitor->copies, sizeof *copied + monitor->options.record_bytes);

	if (!copied)
		return;
	copied->type = element->type;
	copied->is_late = element->is_late;
	memcpy(copied->record, element->record, monitor->options.record_bytes);
	monitor_queue_send(&monitor->copies);
}

void monitor_evaluate_record(struct monitor *monitor, const struct event_header *record, uint32_t type, bool is_late)
{
	const struct monitor_element element = {
		.sensor = type,
		.pid = record->pid,
		.tid = record->tid,
		.cpu = record->cpu,
		.at_ns = record->ts,
		.data = record,
		.bytes = monitor->bytes[type],
		.is_late = is_late,
	};

	monitor_evaluations_element(monitor->evaluations, &element);
}

void monitor_on_element(void *context, const struct intake_element *element)
{
	struct monitor *monitor = context;
	struct watch_element taken = {
		.at_ns = element->record->ts,
		.begin_ns = monitor->last_ns,
		.sensor = element->type,
		.pid = element->record->pid,
		.is_late = element->is_late && !element->is_new,
		.is_new = element->is_new,
	};
	struct watch_violation violation;

	if (monitor->options.copies)
		copy_intake_element(monitor, element);
	else
		monitor_evaluate_record(monitor, element->record, element->type, element->is_late);
	taken.end_ns = monitor->last_ns = clock_now_ns();
	if (!watch_take(&monitor->watch, &taken, &violation))
		tell_violation(monitor, &violation);
}

void monitor_on_lost(void *context, uint64_t lost)
{
	struct monitor *monitor = context;

	watch_lose(&monitor->watch, lost);
	if (monitor->options.copies)
		atomic_fetch_add_explicit(&monitor->lost_before_copies, lost, memory_order_relaxed);
	else
		monitor_evaluations_lose(monitor->evaluations, lost);
}

/* What the owner wants has changed. */
static void change(struct monitor *monitor, enum phase phase)
{
	if (phase == PHASE_TEST)
		watch_init(&monitor->watch, &monitor->watch_options);
	if (phase == PHASE_RUN) {
		watch_init(&monitor->watch, &monitor->watch_options);
		intake_begin(monitor->intake, atomic_load(&monitor->begin_ns));
	}
	atomic_store(&monitor->phase, phase);
}

static bool turn_evaluator(void *context, uint64_t due_ns, uint64_t idle_ns)
{
	struct monitor *monitor = context;
	enum phase phase = (enum phase)atomic_load(&monitor->wanted);
	uint64_t watermark;
	bool is_held;

	if (phase != (enum phase)atomic_load_explicit(&monitor->phase, memory_order_relaxed))
		change(monitor, phase);
	monitor->last_ns = clock_now_ns();
	watch_wake(&monitor->watch, due_ns, idle_ns, monitor->last_ns);
	if (!monitor->options.copies)
		monitor_evaluations_begin(monitor->evaluations);
	intake_turn(monitor->intake, &watermark, &is_held);
	if (monitor->options.copies)
		atomic_store_explicit(&monitor->copied_until_ns, watermark, memory_order_release);
	else if (watermark)
		monitor_evaluations_pass(monitor->evaluations, watermark);
	watch_rest(&monitor->watch, clock_now_ns(), is_held);
	return phase != PHASE_STOP && (phase != PHASE_END || !intake_is_over(monitor->intake));
}

void monitor_evaluator_run(struct monitor *monitor)
{
	const struct monitor_loop_options options = {
		.period_ns = monitor->admission.monitor.period,
		.now = now_of,
		.sleep_until = sleep_until,
		.turn = turn_evaluator,
		.context = monitor,
	};

	monitor_loop_run(&options);
	atomic_store(&monitor->has_ended, true);
}

void monitor_want_phase(struct monitor *monitor, enum phase phase)
{
	atomic_store(&monitor->wanted, phase);
	while (atomic_load(&monitor->phase) != (int)phase && !atomic_load(&monitor->has_ended))
		usleep(ACK_WAIT_US);
}
