// SPDX-License-Identifier: BSD-2-Clause
/* Computes what a monitor can promise, and says on which grounds. */

#include "session/monitor/monitor-priv.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	STACK_BYTES = 1 << 18,
	WAKE_NS = 50 * 1000, /* a turn without elements, with the rings of some dozen processes */
	COPY_NS = 1000,      /* an element's way into our own memory, at most */
	TEST_NS = 250 * 1000 * 1000,
	TEST_TURNS = 200,
	SYSTEM_MIN_NS = 50 * 1000, /* omega, whatever the test says */
	WARM_BYTES = 16 << 20,     /* that evaluations may need while they run */
	WARM_CHUNK = 1 << 16,
	COPIES_BYTES_MIN = 1 << 22,
	COPIES_BYTES_MAX = 1 << 28,
	COPIES_STEPS = 10, /* of its owner, who is no thread in real time and may be that late */
};

/*
 * Memory that evaluations take later is there already: taken from the system once, and kept. It is mapped by the thread
 * that will need it, as each has an area of its own.
 */
static void warm(void)
{
	void *chunks[WARM_BYTES / WARM_CHUNK];

	mallopt(M_TRIM_THRESHOLD, WARM_BYTES * 4);
	mallopt(M_MMAP_THRESHOLD, WARM_BYTES * 4);

	for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++)
		chunks[i] = alloc_zero(1, WARM_CHUNK - 64);
	for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++)
		alloc_free(chunks[i]);
}

/* What elements of each sensor cost, where nobody has said. */
static int find_costs(struct monitor *monitor, struct asterism_diag *diag)
{
	const struct stream_wants *wants = &monitor->options.wants;
	struct calibrate_row *rows = alloc_zero(monitor->row_count, sizeof *rows);
	int result = rows ? 0 : diag_no_memory(diag);

	warm(); /* what it costs to get memory from the system is no cost of theirs */
	for (size_t i = 0; i < monitor->row_count && rows; i++)
		rows[i] = monitor->rows[i].row;
	for (size_t i = 0; i < wants->count && !result; i++) {
		struct admission_sensor *sensor = &monitor->sensors[wants->items[i].number];
		struct calibrate_cost cost = { 0 };

		if (sensor->cost_ns || !sensor->is_declared)
			continue;
		result = calibrate_cost(rows, monitor->row_count, &wants->items[i], &cost);
		sensor->cost_ns = cost.ns;
		if (result == -ENOTSUP) {
			diag_error(diag, NULL, result, "cannot measure what %s costs for an event of %s", cost.culprit,
				   sensor->name);
			diag_hint(diag, "declare it, for example with --sensor NAME,cost=2us");
		} else if (result) {
			diag_no_memory(diag);
		}
	}
	alloc_free(rows);
	return result;
}

static void *evaluator(void *context)
{
	struct monitor *monitor = context;
	const struct schedule schedule = {
		.policy = monitor->promise.policy,
		.runtime_ns = monitor->promise.runtime_ns,
		.deadline_ns = monitor->promise.deadline_ns,
		.period_ns = monitor->promise.period_ns,
		.signals = !monitor->options.keeps_signals,
	};

	monitor->tid = gettid();
	if (schedule.policy != SCHEDULE_BEST_EFFORT)
		warm();
	monitor->entered = schedule_enter(&schedule, monitor->entering);
	atomic_store(&monitor->has_entered, true);
	if (!monitor->entered)
		monitor_evaluator_run(monitor);
	atomic_store(&monitor->has_ended, true);
	return NULL;
}

/* The thread takes no signal but the one that says that it runs for too long. */
static int start_thread(struct monitor *monitor)
{
	sigset_t blocked, before;
	pthread_attr_t attributes;
	int result;

	sigfillset(&blocked);
	if (!monitor->options.keeps_signals)
		sigdelset(&blocked, SIGXCPU);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &blocked, &before);
	atomic_store(&monitor->has_ended, false);
	atomic_store(&monitor->has_entered, false);
	result = pthread_create(&monitor->thread, &attributes, evaluator, monitor);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return -result;
}

static int start_monitor(struct monitor *monitor, struct asterism_diag *diag)
{
	int result;

	monitor->entering = diag;
	result = start_thread(monitor);
	if (result)
		return diag_error(diag, NULL, result, "cannot start the monitor's thread: %s", strerror(-result));
	while (!atomic_load(&monitor->has_entered))
		usleep(100);
	if (monitor->entered)
		pthread_join(monitor->thread, NULL);
	else
		monitor->is_running = true;
	return monitor->entered;
}

/* Nothing that the evaluator needs is fetched from a disk, or given its place in memory, while it runs. */
static void lock_memory(struct asterism_diag *diag)
{
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		diag_add(diag, ASTERISM_WARNING, NULL, "grant CAP_IPC_LOCK or raise the limit (ulimit -l)",
			 "cannot lock memory, so evaluations may have to wait for page faults: %s", strerror(errno));
}

static const char *why_none(const struct monitor *monitor)
{
	if (!monitor->admission.declared)
		return "no sensor has a declared rate (--sensor NAME,rate=...)";
	if (monitor->promise.policy == SCHEDULE_BEST_EFFORT && monitor->options.policy == SCHEDULE_BEST_EFFORT)
		return "no latency is guaranteed: the monitor runs without real-time scheduling (--policy best-effort)";
	return NULL;
}

/* Starts under the policy that was asked for, or, where that was not demanded, under none. */
static int enter_under_policy(struct monitor *monitor, struct asterism_diag *diag)
{
	struct monitor_promise *promise = &monitor->promise;
	struct asterism_diag *refusal = NULL;
	int result;

	if (promise->policy == SCHEDULE_BEST_EFFORT || monitor->options.policy_is_demanded) {
		if (promise->policy != SCHEDULE_BEST_EFFORT)
			lock_memory(diag);
		return start_monitor(monitor, diag);
	}
	refusal = asterism_diag_new();
	result = start_monitor(monitor, refusal);
	if (result == -EPERM) {
		const struct asterism_message *message = asterism_diag_get(refusal, 0);

		promise->policy = SCHEDULE_BEST_EFFORT;
		snprintf(monitor->no_policy, sizeof monitor->no_policy,
			 "%s: the monitor runs without real-time scheduling, so no latency is guaranteed",
			 message ? message->text : "out of memory");
		promise->no_guarantee = monitor->no_policy;
		asterism_diag_free(refusal);
		return start_monitor(monitor, diag);
	}
	diag_take(diag, refusal);
	asterism_diag_free(refusal);
	if (!result)
		lock_memory(diag);
	return result;
}

/* How late is the evaluator woken? The longest of some hundred times, twice. */
static void test_system(struct monitor *monitor)
{
	struct monitor_promise *promise = &monitor->promise;
	uint64_t until = clock_now_ns() + TEST_NS;

	monitor->watch_options = (struct watch_options){
		.sensors = monitor->watched,
		.sensor_count = monitor->sensor_count,
		.late_ns = UINT64_MAX,
		.period_ns = promise->period_ns,
		.bucket_ns = 1,
	};
	monitor_want_phase(monitor, PHASE_TEST);
	while (clock_now_ns() < until && atomic_load(&monitor->watch.turns) < TEST_TURNS)
		usleep(1000);
	promise->woken = atomic_load(&monitor->watch.turns);
	promise->system_ns = 2 * atomic_load(&monitor->watch.latest_ns);
	if (promise->system_ns < SYSTEM_MIN_NS)
		promise->system_ns = SYSTEM_MIN_NS;
	promise->system_ns = (promise->system_ns + 9999) / 10000 * 10000;
}

/* A histogram whose middle is the bound, or 10 ms. */
static uint64_t bucket_for(const struct monitor_promise *promise)
{
	uint64_t range = promise->bound_ns ? 2 * promise->bound_ns : 20 * 1000 * 1000;

	return (range / WATCH_BUCKETS + 1000) / 1000 * 1000;
}

static void prepare_watch(struct monitor *monitor)
{
	const struct monitor_promise *promise = &monitor->promise;

	for (uint32_t i = 0; i < monitor->sensor_count; i++)
		monitor->watched[i] = (struct watch_sensor){
			.stream = monitor->sensors[i].stream,
			.is_declared = monitor->sensors[i].is_declared,
			.cost_ns = monitor->options.copies ? COPY_NS : monitor->sensors[i].cost_ns,
		};
	monitor->watch_options.bound_ns = promise->bound_ns;
	monitor->watch_options.late_ns = promise->system_ns;
	monitor->watch_options.bucket_ns = bucket_for(promise);
}

static uint64_t ring_kib(uint32_t sub_units, uint32_t sub_count)
{
	return (uint64_t)sub_units * sub_count * RING_UNIT_BYTES / 1024;
}

/* How large the application's rings have to be, if they can be. */
static void ring_hint(char *hint, size_t size, const struct sensor_shape *shape, uint32_t units, uint64_t waiting)
{
	struct sensor_shape larger = *shape;

	while (admission_ring_holds(larger.sub_units, larger.sub_count, units) < waiting) {
		larger.sub_count *= 2;
		if (!sensor_shape_is_valid(&larger)) {
			snprintf(hint, size,
				 "this exceeds the largest possible ring: declare a smaller burst, or a shorter period "
				 "and latency");
			return;
		}
	}
	snprintf(hint, size,
		 "run it with " SENSOR_RING_VARIABLE "=%" PRIu64 "K, declare a smaller burst, or a shorter "
		 "period and latency",
		 ring_kib(larger.sub_units, larger.sub_count));
}

/* Whether rings of this shape hold what may wait in them. */
static void check_rings(void *context, uint32_t pid, const struct sensor_type *type, const struct sensor_shape *shape)
{
	struct monitor *monitor = context;
	const struct stream_wants *wants = &monitor->options.wants;

	for (size_t i = 0; i < wants->count; i++) {
		struct admission_sensor *sensor = &monitor->sensors[wants->items[i].number];
		char hint[160];
		uint64_t holds = admission_ring_holds(shape->sub_units, shape->sub_count, type->units + 1);

		if (!sensor->is_declared || strcmp(type->name, wants->items[i].name) != 0 || holds >= sensor->waiting)
			continue;
		ring_hint(hint, sizeof hint, shape, type->units + 1, sensor->waiting);
		diag_add(monitor->options.diag, ASTERISM_WARNING, NULL, hint,
			 "%" PRIu64 " elements of %s may wait, and a ring of process %" PRIu32 ", of %" PRIu64
			 " KiB, holds %" PRIu64 ": some may be lost",
			 sensor->waiting, sensor->name, pid, ring_kib(shape->sub_units, shape->sub_count), holds);
	}
}

/* What may come while nobody evaluates copies, at the declared rates. Others have what is there at least. */
static uint64_t copies_count(const struct monitor *monitor)
{
	uint64_t count = 1, more;

	for (uint32_t i = 0; i < monitor->sensor_count; i++) {
		if (!monitor->sensors[i].is_declared)
			continue;
		more = jcs_count(&monitor->sensors[i].stream, COPIES_STEPS * MONITOR_STEP_NS);
		if (__builtin_add_overflow(count, more, &count))
			return UINT64_MAX;
	}
	return count;
}

/* Room for copies: as much as the rates ask for, or as there is, which is told. */
static int make_copies(struct monitor *monitor, struct asterism_diag *diag)
{
	enum { MIB = 1 << 20, QUEUE_UNIT = 16 };
	uint64_t each = QUEUE_UNIT + (sizeof(struct copied) + monitor->options.record_bytes + QUEUE_UNIT - 1) /
					     QUEUE_UNIT * QUEUE_UNIT;
	uint64_t count = copies_count(monitor), wanted, bytes;
	int result = -ENOMEM;

	if (!monitor->options.copies)
		return 0;
	if (__builtin_mul_overflow(count, each, &wanted))
		wanted = UINT64_MAX;
	bytes = wanted < COPIES_BYTES_MIN ? COPIES_BYTES_MIN : wanted > COPIES_BYTES_MAX ? COPIES_BYTES_MAX : wanted;
	for (; bytes >= COPIES_BYTES_MIN && result; bytes /= 2) {
		monitor_queue_fini(&monitor->copies);
		result = monitor_queue_init(&monitor->copies, bytes);
	}
	if (result)
		return diag_no_memory(diag);
	monitor->promise.copies_bytes = monitor->copies.capacity;
	if (wanted > monitor->copies.capacity)
		diag_add(diag, ASTERISM_WARNING, NULL, "declare lower rates or bursts, or leave sensors out",
			 "%" PRIu64
			 " events to copy may arrive within %d ms at the declared rates, but there is room for %" PRIu64
			 " (%" PRIu64 " MiB): some may be lost",
			 count, (int)(COPIES_STEPS * MONITOR_STEP_NS / 1000000), monitor->copies.capacity / each,
			 monitor->copies.capacity / MIB);
	return 0;
}

static bool admitted_in_scope(void *context, pid_t pid, pid_t parent)
{
	const struct monitor *monitor = context;

	return monitor->options.in_scope(monitor->options.context, pid, parent);
}

static int open_intake(struct monitor *monitor, struct asterism_diag *diag)
{
	const struct intake_options intake = {
		.wants = monitor->options.wants,
		.record_bytes = monitor->options.record_bytes,
		.hold_ns = monitor->options.hold_ns,
		.in_scope = admitted_in_scope,
		.on_type = check_rings,
		.follower = monitor,
		.on_element = monitor_on_element,
		.on_lost = monitor_on_lost,
		.evaluator = monitor,
		.diag = monitor->options.diag,
	};

	return intake_new(&intake, diag, &monitor->intake);
}

static int refuse_without_rate(const struct monitor *monitor, struct asterism_diag *diag)
{
	const struct stream_wants *wants = &monitor->options.wants;
	char hint[200];

	diag_error(diag, NULL, -EINVAL, "--strict and --policy need declared rates: no sensor has one");
	snprintf(hint, sizeof hint,
		 "write --sensor %s,rate=50000/s,burst=100, with its own figures%s; or leave --strict and --policy out",
		 wants->items[0].name, wants->count > 1 ? ", and one for each other sensor" : "");
	diag_hint(diag, hint);
	return -EINVAL;
}

int monitor_admit(struct monitor *monitor, struct asterism_diag *diag, struct monitor_promise *promise)
{
	struct monitor_promise *own = &monitor->promise;
	struct admission *admission = &monitor->admission;
	int result = find_costs(monitor, diag);

	*admission = (struct admission){
		.monitor = { monitor->options.period_ns, monitor->options.deadline_ns },
		.wanted_ns = monitor->options.latency_ns,
		.wake_ns = WAKE_NS,
		.is_best_effort = monitor->options.policy == SCHEDULE_BEST_EFFORT,
		.copy_ns = monitor->options.copies ? COPY_NS : 0,
		.sensors = monitor->sensors,
		.count = monitor->sensor_count,
	};
	if (!result)
		result = admission_decide(admission, diag);
	if (!result && !admission->declared && monitor->options.needs_rate)
		result = refuse_without_rate(monitor, diag);
	if (result)
		return result;
	*own = (struct monitor_promise){
		.policy = monitor->options.policy,
		.period_ns = admission->monitor.period,
		.deadline_ns = admission->monitor.deadline,
		.runtime_ns = admission->runtime_ns,
		.latency_ns = admission->latency_ns,
		.visible_ns = STREAM_VISIBLE_NS,
		.hold_ns = (monitor->options.hold_ns / admission->monitor.period + 1) * admission->monitor.period,
	};
	/* Without a rate there is nothing to reserve for. */
	if (!admission->declared)
		own->policy = SCHEDULE_BEST_EFFORT;
	result = make_copies(monitor, diag);
	if (!result)
		result = open_intake(monitor, diag);
	if (!result)
		result = enter_under_policy(monitor, diag);
	if (result)
		return result;
	test_system(monitor);
	if (admission->declared)
		own->bound_ns = own->latency_ns + own->visible_ns + own->hold_ns + own->system_ns;
	if (!own->no_guarantee)
		own->no_guarantee = why_none(monitor);
	own->is_guaranteed = !own->no_guarantee;
	prepare_watch(monitor);
	*promise = *own;
	return 0;
}
