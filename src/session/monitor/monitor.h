/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_MONITOR_MONITOR_H
#define SESSION_MONITOR_MONITOR_H

/*
 * A monitor: evaluates every element of some sensors, in the order of their times, in periods. Where rates are declared
 * it says before it begins within which time each element will have been evaluated, and holds itself to that.
 *
 * Two threads: the *owner's*, which makes all calls, and the *evaluator*, which is the monitor's. In this order:
 * monitor_new, monitor_add, monitor_admit, monitor_begin, monitor_step while it runs, monitor_end, monitor_count,
 * monitor_free. Evaluations can be added and removed at any time.
 */

#include "base/diag.h"
#include "monitor/admission.h"
#include "monitor/evaluations.h"
#include "monitor/watch.h"
#include "sensor/stream/process.h"
#include "session/monitor/intake.h"
#include "session/monitor/schedule.h"
#include "session/monitor/stolen.h"

struct monitor;

/* What is known of a sensor: "x", or "app:x" for the sensor that is asked for so. */
struct monitor_declared {
	const char *name;
	struct jcs_rate rate; /* count 0: none; of all processes together */
	uint64_t cost_ns;     /* of an evaluation; 0: to be found by trying */
};

struct monitor_options {
	struct stream_wants wants; /* borrowed; number: below MONITOR_SENSORS_MAX */
	uint32_t record_bytes;     /* of the largest */
	const struct monitor_declared *declared;
	size_t declared_count;
	uint64_t period_ns, deadline_ns; /* 0: usual; deadline: the period */
	uint64_t latency_ns;             /* 0: the shortest that there is */
	uint64_t hold_ns;                /* how long a writer is waited for; 0: half a period, 1 ms at most */
	enum schedule_policy policy;
	bool policy_is_demanded; /* else without the privilege there is no guarantee, and it is said so */
	bool needs_rate;         /* without a declared one it is refused: a promise is demanded */
	bool keeps_signals;      /* the process's own: none says that the evaluator has taken more than it may */
	bool copies;             /* elements are copied in time, and evaluated in the owner's calls */
	bool (*in_scope)(void *context, pid_t pid, pid_t parent); /* parent: when it registered */
	/* An element was not evaluated in time. In the owner's thread. NULL: no need. */
	void (*on_violation)(void *context, const struct watch_violation *violation);
	void *context;
	struct asterism_diag *diag; /* what is told while it runs; may be NULL */
};

enum {
	MONITOR_SENSORS_MAX = 4096,
	MONITOR_PERIOD_NS = 1000 * 1000, /* usual */
	MONITOR_STEP_NS = 20 * 1000 * 1000,
};

/* Returns 0, -EINVAL, -ENOMEM, and as intake_new, with a sentence. */
int monitor_new(const struct monitor_options *options, struct asterism_diag *diag, struct monitor **made);
void monitor_free(struct monitor *monitor);

/* As monitor_evaluations_add and _remove. What is added after monitor_admit is not in its figures. */
int64_t monitor_add(struct monitor *monitor, int64_t sensor, const struct monitor_evaluation_kind *kind, void *context);
int monitor_remove(struct monitor *monitor, int64_t name);

/* While the evaluator does not run: what has been removed is released. */
void monitor_idle(struct monitor *monitor);

/* Whether there is no evaluation. */
bool monitor_is_empty(const struct monitor *monitor);

/* What was wanted, with its numbers. */
const struct stream_wants *monitor_wants(const struct monitor *monitor);

/* The number by which elements of a type are known that is among the wanted ones; -ENOENT: it is not. */
int64_t monitor_sensor_find(const struct monitor *monitor, const struct event_type *type);

/* What was promised, in ns. */
struct monitor_promise {
	bool is_guaranteed;       /* a policy of the kernel stands behind it */
	const char *no_guarantee; /* why not; NULL: it is */
	enum schedule_policy policy;
	uint64_t period_ns, deadline_ns, runtime_ns;
	uint64_t latency_ns;   /* l(R) */
	uint64_t visible_ns;   /* delta: until a store is seen */
	uint64_t hold_ns;      /* h: by how much a writer that stands still delays others: in whole periods */
	uint64_t system_ns;    /* omega: how late the system wakes, by the test at the start */
	uint64_t woken;        /* of which so many wake-ups were the ground */
	uint64_t bound_ns;     /* the sum; 0: nothing is declared, so there is none */
	uint64_t copies_bytes; /* where copies wait for their evaluation; 0: none are made */
};

/*
 * Finds what evaluations cost, whether that fits, and whether the kernel takes it; starts the evaluator, and tests how
 * late it is woken. Returns 0; as admission_decide and schedule_enter; -ENOTSUP: an evaluation's cost has to be said.
 */
int monitor_admit(struct monitor *monitor, struct asterism_diag *diag, struct monitor_promise *promise);

/* The sensors, by number, as they were admitted. */
const struct admission_sensor *monitor_sensors(const struct monitor *monitor, size_t *count);

/* Elements count from here on. */
void monitor_begin(struct monitor *monitor);

/*
 * Polls readable when monitor_step has something to do; it is to be called every MONITOR_STEP_NS besides. Returns 0,
 * -errno.
 */
int monitor_fd(const struct monitor *monitor);
int monitor_step(struct monitor *monitor);

/* Elements that were raised until now are evaluated, and the evaluator ends. False: that took too long, and there are
 * some left. */
bool monitor_end(struct monitor *monitor);

/* What others took of the evaluator's time around elements that were late, within some MONITOR_STEP_NS. */
void monitor_stolen(const struct monitor *monitor, struct stolen *stolen);

/* Counts, at any time; what is not atomic in it, and the second, after monitor_end only. */
const struct watch *monitor_watch(const struct monitor *monitor);
void monitor_count(const struct monitor *monitor, struct intake_counts *counts);

/* --copy: how many copies found no room, and the longest time from an element to its evaluation. */
void monitor_count_copies(const struct monitor *monitor, uint64_t *unevaluated, uint64_t *most_ns);

/* How many sensors no observed process has announced; the first count of them into names. */
size_t monitor_unannounced(const struct monitor *monitor, const char **names, size_t count);

/* Violations whose telling found no room; they are counted all the same. */
uint64_t monitor_untold(const struct monitor *monitor);

/* A signal says that the evaluator has taken more time than it may: it is counted, and unless the kernel limits it, it
 * is made an ordinary thread. May be called by a signal handler. */
void monitor_overrun(struct monitor *monitor);
uint64_t monitor_overruns(const struct monitor *monitor, bool *is_demoted);

#endif
