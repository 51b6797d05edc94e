// SPDX-License-Identifier: BSD-2-Clause
/* What the owner of a monitor can do before the evaluator runs, while it does and when it has ended. */

#include "session/monitor/monitor-priv.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* For what is left at the end. */
#define END_NS UINT64_C(10000000000)

enum {
	TOLD_BYTES = 1 << 16,
	STEP_US = 2000,
};

static bool is_called(const char *declared, const struct stream_want *want)
{
	const char *colon = strrchr(declared, ':');

	return strcmp(declared, want->name) == 0 || strcmp(declared, want->type->name) == 0 ||
	       (colon && !strchr(want->name, ':') && strcmp(colon + 1, want->name) == 0);
}

static int declare_wants(struct monitor *monitor, const struct monitor_declared *declared, struct asterism_diag *diag)
{
	const struct stream_wants *wants = &monitor->options.wants;
	int found = 0;

	for (size_t i = 0; i < wants->count; i++) {
		struct admission_sensor *sensor = &monitor->sensors[wants->items[i].number];

		if (!is_called(declared->name, &wants->items[i]))
			continue;
		found++;
		if (sensor->cost_ns || sensor->is_declared)
			return diag_error(diag, NULL, -EINVAL,
					  "--sensor %s: %s is already declared, under another name", declared->name,
					  sensor->name);
		sensor->cost_ns = declared->cost_ns;
		if (!declared->rate.count)
			continue;
		sensor->is_declared = true;
		if (jcs_from_rate(&declared->rate, &sensor->stream))
			return diag_error(diag, NULL, -EINVAL,
					  "--sensor %s: impossible rate: the spacing exceeds the time for one event, "
					  "or a number is out of range",
					  declared->name);
	}
	if (found)
		return 0;
	diag_error(diag, NULL, -EINVAL, "--sensor %s: the monitor reads no sensor with that name", declared->name);
	diag_hint(diag, wants->count ? wants->items[0].name : NULL);
	return -EINVAL;
}

static int prepare_monitor(struct monitor *monitor, struct asterism_diag *diag)
{
	const struct monitor_options *options = &monitor->options;
	uint32_t count = 0;
	int result = 0;

	for (size_t i = 0; i < options->wants.count; i++)
		if (options->wants.items[i].number >= count)
			count = options->wants.items[i].number + 1;
	if (!count || count > MONITOR_SENSORS_MAX)
		return diag_error(diag, NULL, -EINVAL,
				  count ? "too many event types for a monitor" : "there is no sensor to monitor");
	monitor->sensor_count = count;
	monitor->sensors = alloc_zero(count, sizeof *monitor->sensors);
	monitor->watched = alloc_zero(count, sizeof *monitor->watched);
	monitor->bytes = alloc_zero(count, sizeof *monitor->bytes);
	monitor->evaluations = monitor_evaluations_new();
	if (!monitor->sensors || !monitor->watched || !monitor->bytes || !monitor->evaluations ||
	    monitor_queue_init(&monitor->told, TOLD_BYTES))
		return diag_no_memory(diag);
	for (size_t i = 0; i < options->wants.count; i++) {
		monitor->sensors[options->wants.items[i].number].name = options->wants.items[i].name;
		monitor->bytes[options->wants.items[i].number] = options->wants.items[i].type->record_bytes;
	}
	for (size_t i = 0; i < options->declared_count && !result; i++)
		result = declare_wants(monitor, &options->declared[i], diag);
	return result;
}

/* Less than a period, so that one turn is enough to give a writer up. */
static uint64_t usual_hold(uint64_t period_ns)
{
	return period_ns / 2 < STREAM_HOLD_NS ? period_ns / 2 : STREAM_HOLD_NS;
}

int monitor_new(const struct monitor_options *options, struct asterism_diag *diag, struct monitor **made)
{
	struct monitor *monitor = alloc_zero(1, sizeof *monitor);
	int result;

	if (!monitor)
		return diag_no_memory(diag);
	monitor->options = *options;
	if (!options->period_ns)
		monitor->options.period_ns = MONITOR_PERIOD_NS;
	if (!options->deadline_ns)
		monitor->options.deadline_ns = monitor->options.period_ns;
	if (!options->hold_ns)
		monitor->options.hold_ns = usual_hold(monitor->options.period_ns);
	result = prepare_monitor(monitor, diag);
	if (result)
		monitor_free(monitor);
	else
		*made = monitor;
	return result;
}

void monitor_free(struct monitor *monitor)
{
	if (!monitor)
		return;
	if (monitor->is_running) {
		atomic_store(&monitor->wanted, PHASE_STOP);
		pthread_join(monitor->thread, NULL);
	}
	intake_free(monitor->intake);
	monitor_evaluations_free(monitor->evaluations);
	monitor_queue_fini(&monitor->told);
	monitor_queue_fini(&monitor->copies);
	alloc_free(monitor->rows);
	alloc_free(monitor->sensors);
	alloc_free(monitor->watched);
	alloc_free(monitor->bytes);
	alloc_free(monitor);
}

int64_t monitor_add(struct monitor *monitor, int64_t sensor, const struct monitor_evaluation_kind *kind, void *context)
{
	if (alloc_grow(&monitor->rows, &monitor->row_capacity, monitor->row_count, sizeof *monitor->rows))
		return -ENOMEM;
	int64_t name = monitor_evaluations_add(monitor->evaluations, sensor, kind, context);

	if (name >= 0)
		monitor->rows[monitor->row_count++] = (struct monitor_row){ name, { kind, context, sensor } };
	return name;
}

void monitor_idle(struct monitor *monitor)
{
	monitor_evaluations_begin(monitor->evaluations);
	monitor_evaluations_collect(monitor->evaluations);
}

bool monitor_is_empty(const struct monitor *monitor)
{
	return !monitor->row_count;
}

const struct stream_wants *monitor_wants(const struct monitor *monitor)
{
	return &monitor->options.wants;
}

int64_t monitor_sensor_find(const struct monitor *monitor, const struct event_type *type)
{
	const struct stream_wants *wants = &monitor->options.wants;

	for (size_t i = 0; i < wants->count; i++)
		if (wants->items[i].type == type || strcmp(wants->items[i].type->name, type->name) == 0)
			return wants->items[i].number;
	return -ENOENT;
}

int monitor_remove(struct monitor *monitor, int64_t name)
{
	for (size_t i = 0; i < monitor->row_count; i++)
		if (monitor->rows[i].name == name)
			monitor->rows[i--] = monitor->rows[--monitor->row_count];
	return monitor_evaluations_remove(monitor->evaluations, name);
}

const struct admission_sensor *monitor_sensors(const struct monitor *monitor, size_t *count)
{
	*count = monitor->sensor_count;
	return monitor->sensors;
}

void monitor_begin(struct monitor *monitor)
{
	atomic_store(&monitor->begin_ns, clock_now_ns());
	monitor_want_phase(monitor, PHASE_RUN);
}

int monitor_fd(const struct monitor *monitor)
{
	return intake_fd(monitor->intake);
}

static void evaluate_copies(struct monitor *monitor)
{
	uint64_t until = atomic_load_explicit(&monitor->copied_until_ns, memory_order_acquire);
	uint64_t lost = atomic_exchange_explicit(&monitor->lost_before_copies, 0, memory_order_relaxed);
	uint64_t overflowed = atomic_load(&monitor->copies.overflowed);
	const struct copied *copied;
	size_t bytes;

	monitor_evaluations_begin(monitor->evaluations);
	lost += overflowed - monitor->overflow_told;
	monitor->overflow_told = overflowed;
	if (lost)
		monitor_evaluations_lose(monitor->evaluations, lost);
	while ((copied = monitor_queue_look(&monitor->copies, &bytes))) {
		const struct event_header *record = (const struct event_header *)(const void *)copied->record;

		monitor_evaluate_record(monitor, record, copied->type, copied->is_late);
		uint64_t response = clock_now_ns() - record->ts;

		monitor->copy_most_ns = response > monitor->copy_most_ns ? response : monitor->copy_most_ns;
		monitor_queue_drop(&monitor->copies);
	}
	if (until)
		monitor_evaluations_pass(monitor->evaluations, until);
}

static void take_intake_told(struct monitor *monitor)
{
	const struct watch_violation *told;
	size_t bytes;

	struct stolen now;

	stolen_read(monitor->tid, &now);
	if (monitor_queue_look(&monitor->told, &bytes))
		stolen_add(&monitor->stolen_late, &monitor->stolen_last, &now);
	monitor->stolen_last = now;
	while ((told = monitor_queue_look(&monitor->told, &bytes))) {
		if (monitor->options.on_violation)
			monitor->options.on_violation(monitor->options.context, told);
		monitor_queue_drop(&monitor->told);
	}
}

int monitor_step(struct monitor *monitor)
{
	int result = intake_serve(monitor->intake);

	if (monitor->options.copies)
		evaluate_copies(monitor);
	take_intake_told(monitor);
	monitor_evaluations_collect(monitor->evaluations);
	return result;
}

bool monitor_end(struct monitor *monitor)
{
	uint64_t until = clock_now_ns() + END_NS;
	bool is_whole;

	if (!monitor->is_running)
		return true;
	intake_end(monitor->intake);
	monitor_want_phase(monitor, PHASE_END);
	while (!atomic_load(&monitor->has_ended) && clock_now_ns() < until) {
		usleep(STEP_US);
		monitor_step(monitor);
	}
	is_whole = atomic_load(&monitor->has_ended);
	atomic_store(&monitor->wanted, PHASE_STOP);
	pthread_join(monitor->thread, NULL);
	monitor->is_running = false;
	monitor_step(monitor);
	return is_whole;
}

void monitor_stolen(const struct monitor *monitor, struct stolen *stolen)
{
	*stolen = monitor->stolen_late;
}

const struct watch *monitor_watch(const struct monitor *monitor)
{
	return &monitor->watch;
}

void monitor_count(const struct monitor *monitor, struct intake_counts *counts)
{
	intake_count(monitor->intake, counts);
}

void monitor_count_copies(const struct monitor *monitor, uint64_t *unevaluated, uint64_t *most_ns)
{
	*unevaluated = atomic_load(&monitor->copies.overflowed);
	*most_ns = monitor->copy_most_ns;
}

size_t monitor_unannounced(const struct monitor *monitor, const char **names, size_t count)
{
	return stream_unannounced(&monitor->options.wants, names, count);
}

uint64_t monitor_untold(const struct monitor *monitor)
{
	return atomic_load(&monitor->told.overflowed);
}

void monitor_overrun(struct monitor *monitor)
{
	atomic_fetch_add_explicit(&monitor->overruns, 1, memory_order_relaxed);
	if (monitor->promise.policy != SCHEDULE_FIFO || !monitor->tid)
		return;
	schedule_leave(monitor->tid);
	atomic_store(&monitor->is_demoted, true);
}

uint64_t monitor_overruns(const struct monitor *monitor, bool *is_demoted)
{
	*is_demoted = atomic_load(&monitor->is_demoted);
	return atomic_load(&monitor->overruns);
}
