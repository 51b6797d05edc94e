/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ASTERISM_MONITOR_H
#define ASTERISM_MONITOR_H

#include "asterism/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A monitor hands every element - an event of a sensor of the applications that its session observes - to functions of
 * the program, its *updates*, in the order of time, as `asterism monitor` does with rules (docs/monitors.md). Where
 * rates are declared it says before it starts within which time each will have been evaluated, and checks it.
 *
 * Threads: the functions below are for the thread that uses the session, whose dispatch looks after the monitor: it has
 * to be called as long as one runs. Updates are called by a thread of the monitor, one at a time; with copies, by the
 * dispatch. No privilege is needed to read sensors of own processes, and CAP_SYS_NICE for a guarantee.
 *
 * All times are in ns, of CLOCK_MONOTONIC where they are points.
 */
struct asterism_monitor;

/* Which promise of the kernel the monitor's thread has. */
enum asterism_monitor_policy {
	ASTERISM_MONITOR_USUAL,      /* DEADLINE where rates are declared and it is permitted, else BEST_EFFORT */
	ASTERISM_MONITOR_DEADLINE,   /* SCHED_DEADLINE: admitted and limited by the kernel */
	ASTERISM_MONITOR_FIFO,       /* SCHED_FIFO: limited by sched_rt_runtime_us and RLIMIT_RTTIME alone */
	ASTERISM_MONITOR_BEST_EFFORT /* none, so there is no guarantee */
};

/* What is known of a sensor, of all processes together. */
struct asterism_monitor_rate {
	const char *sensor;
	uint64_t count, time_ns; /* so many elements in so much time; count 0: no rate is declared */
	uint64_t burst;          /* so many of them may come at once; 0: one */
	uint64_t spacing_ns;     /* between two of a burst */
	uint64_t cost_ns;        /* of an evaluation at most; 0: it is tried, which needs twin of all its updates */
};

/* Zero what is of no interest, and set size. All of it may go when the call returns. */
struct asterism_monitor_options {
	size_t size; /* sizeof (struct asterism_monitor_options) */
	/*
	 * Which sensors, a list that NULL ends: "sensor:NAME" and "sensor:PROGRAM:NAME" of applications that run,
	 * "sensor:PATH" all that a program's file, or a catalog NAME.events, declares: that one need not run yet.
	 */
	const char *const *sensors;
	const struct asterism_monitor_rate *rates;
	size_t rate_count;
	enum asterism_monitor_policy policy;
	uint64_t period_ns;   /* the monitor looks for elements so often; 0: 1 ms */
	uint64_t deadline_ns; /* and has finished what it then takes by then; 0: the period */
	uint64_t latency_ns;  /* wanted at most, from an element to the end of its evaluation; 0: three periods */
	uint64_t hold_ns;     /* how long a writer in between is waited for; 0: half a period, 1 ms at most */
	int copies;           /* only copies are made in time; updates see them afterwards, in the dispatch */
};

/* An element, borrowed until the call returns. */
struct asterism_element {
	uint32_t sensor; /* as asterism_monitor_sensor has it */
	uint32_t pid, tid;
	int is_late; /* elements with later times have come before it */
	uint64_t at_ns;
	const void *data; /* for the functions below */
	uint32_t bytes;
};

/*
 * What is done with elements. All but twin and release are called in real time: they must not allocate, lock, print or
 * call the system, nor call any function of this library but asterism_element_*. What they find goes to others by
 * atomics or bounded queues.
 */
struct asterism_update {
	size_t size;      /* sizeof (struct asterism_update) */
	const char *name; /* in messages; NULL: "update" */
	/* Looks at the element. Whether there is something to commit. NULL: there always is. */
	int (*prepare)(void *context, const struct asterism_element *element);
	/* ok: prepare said yes, and what it saw was whole; else it is to be forgotten. Must be there. */
	void (*commit)(void *context, int ok, const struct asterism_element *element);
	/* So many elements, of whatever sensor, are missing before the next. NULL: does not matter. */
	void (*lost)(void *context, uint64_t lost);
	/* No element from before now_ns will come, but late ones. Once per period. NULL: does not matter. */
	void (*passed)(void *context, uint64_t now_ns);
	/*
	 * Makes another context that does the same work and whose results nobody sees, to find out what an element
	 * costs; it is released as the other. NULL from it: no memory. NULL: the cost has to be said.
	 */
	void *(*twin)(const void *context);
	/* No call will follow: what belongs to context can be freed. By the session's thread. NULL: nothing to do. */
	void (*release)(void *context);
	void *context;
};

/*
 * Prepares a monitor over sensors. Returns 0 and stores it, to be freed with asterism_monitor_stop; -EINVAL (a wrong
 * option, no such sensor, a rate that no producer has), -ENOENT (no sensor registry), -EOPNOTSUPP (the session
 * narrows its scope by cgroups or names), -ENOMEM, another -errno, with a sentence in asterism_session_diag.
 */
int asterism_monitor_open(struct asterism_session *session, const struct asterism_monitor_options *options,
			  struct asterism_monitor **monitor);

/* The number of a sensor, by its name as it is declared; -ENOENT. */
int asterism_monitor_sensor(const struct asterism_monitor *monitor, const char *sensor);

/* Where elements of a sensor have a field, for asterism_element_*; -ENOENT. */
int asterism_monitor_field(const struct asterism_monitor *monitor, const char *sensor, const char *field);

/*
 * A field of an element: integers, extended by their sign to 64 bits, booleans and times; floating point numbers;
 * texts, valid as long as the element. 0 and "" of what is no field. To be called by updates.
 */
uint64_t asterism_element_u64(const struct asterism_element *element, int field);
double asterism_element_f64(const struct asterism_element *element, int field);
const char *asterism_element_text(const struct asterism_element *element, int field);

/*
 * Adds an update (copied) for elements of sensor; NULL: of all. At any time: while the monitor runs it sees elements
 * from the next period on, without a gap for others, and is not in the figures of the promise. Returns its name, >= 0;
 * -ENOENT (no such sensor), -EINVAL, -ENOMEM: then it is not released.
 */
int64_t asterism_monitor_add_update(struct asterism_monitor *monitor, const char *sensor,
				    const struct asterism_update *update);

/*
 * Has the rules of a unit of the same session evaluated, as updates are, with all elements of the sensors that they
 * wait for: within the promise, whose costs they are part of. What they find is handed to on_match by the session's
 * dispatch, after the evaluation; what is found until asterism_monitor_finish by the first dispatch after it. The unit
 * need not be active, and several monitors may have it. Unloading it removes it here.
 * Returns its name for asterism_monitor_remove_update, >= 0; -EINVAL: a rule waits for a sensor that this monitor does
 * not read, or knows by other fields; -EOPNOTSUPP: a rule waits for the kernel, calls functions or has AGGREGATE;
 * -ENOMEM.
 */
int64_t asterism_monitor_add_rules(struct asterism_monitor *monitor, struct asterism_rules *rules);

/*
 * Removes an update. It sees no more elements from the next period on, and is released by a dispatch thereafter, or by
 * asterism_monitor_stop. Returns 0, -ENOENT, -ENOMEM.
 */
int asterism_monitor_remove_update(struct asterism_monitor *monitor, int64_t name);

/* What is promised: the response of an element is at most bound_ns, the sum of latency, visible, hold and system. */
struct asterism_monitor_promise {
	size_t size;              /* sizeof (struct asterism_monitor_promise), set by the caller */
	int is_guaranteed;        /* the kernel stands behind it */
	const char *no_guarantee; /* why not, valid as long as the monitor; NULL: it is */
	enum asterism_monitor_policy policy;
	uint64_t period_ns, deadline_ns;
	uint64_t runtime_ns; /* in each period */
	uint64_t latency_ns; /* from the analysis of the rates */
	uint64_t visible_ns; /* until a store of an application is seen */
	uint64_t hold_ns;    /* by how much a writer that stands still delays others */
	uint64_t system_ns;  /* how late the system wakes the monitor, by a test */
	uint64_t bound_ns;   /* 0: no rate is declared */
};

/*
 * Finds out what updates cost, has the kernel admit that, tests how late it wakes the monitor (a quarter of a second),
 * and starts. Elements that are raised from here on are evaluated; promise may be NULL. With another policy than
 * BEST_EFFORT the memory of the whole process is locked, as far as that is permitted.
 * Returns 0; -ERANGE, -EINVAL, -EBUSY (what is declared cannot be promised), -EPERM (a policy that was asked for),
 * -ENOTSUP (an update has no twin, and no cost is said), -ENOMEM, another -errno, with a sentence.
 */
int asterism_monitor_start(struct asterism_monitor *monitor, struct asterism_monitor_promise *promise);

/* What a monitor has counted since its start. */
struct asterism_monitor_stats {
	size_t size;         /* sizeof (struct asterism_monitor_stats), set by the caller */
	uint64_t elements;   /* evaluated; with copies, copied */
	uint64_t lost;       /* overwritten before they were read, or without a place */
	uint64_t violations; /* evaluated later than bound_ns */
	uint64_t most_ns;    /* the longest response, of all elements */
	uint64_t mean_ns;    /* of responses */
	uint64_t bound_ns;   /* what was promised; 0: nothing */
	uint64_t uncopied;   /* of copies: those that found no room, which updates were told of as lost */
	/* Known once the monitor has finished, before that 0. */
	uint64_t late;         /* came after younger ones */
	uint64_t unfinished;   /* begun and never committed, by processes that have ended */
	uint64_t processes;    /* that were read */
	uint64_t out_of_scope; /* that ended before it was known whether they are observed */
	uint64_t failed;       /* that could not be read */
	uint64_t untold;       /* at any time: matches of rules that came faster than dispatches take them */
};

/* Counts, at any time. Returns 0, or -EINVAL (stats->size is not one that this library knows). */
int asterism_monitor_stats(const struct asterism_monitor *monitor, struct asterism_monitor_stats *stats);

/*
 * Ends the monitor once all that was raised until now is evaluated; its counts can still be asked for. Takes some
 * periods, 10 s at most. Returns 0; -EINVAL: it does not run; -ETIMEDOUT: some elements were not evaluated.
 */
int asterism_monitor_finish(struct asterism_monitor *monitor);

/* Ends it at once where it still runs, releases all updates and frees it. Not to be called by release or
 * on_match. NULL is fine. */
void asterism_monitor_stop(struct asterism_monitor *monitor);

/* What happened to it since the last call: processes that cannot be read and the like. Valid until the next call. */
const struct asterism_diag *asterism_monitor_news(struct asterism_monitor *monitor);

#ifdef __cplusplus
}
#endif

#endif
