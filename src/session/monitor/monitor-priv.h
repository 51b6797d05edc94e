/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_MONITOR_MONITOR_PRIV_H
#define SESSION_MONITOR_MONITOR_PRIV_H

/* What the files of a monitor share: evaluator.c is its thread, admit.c decides what it promises, monitor.c is for its
 * owner. */

#include "session/monitor/calibrate.h"
#include "session/monitor/loop.h"
#include "session/monitor/monitor.h"
#include "session/monitor/stolen.h"

#include <pthread.h>

enum phase {
	PHASE_NONE,
	PHASE_TEST, /* turns without elements: how late are they? */
	PHASE_RUN,
	PHASE_END,  /* until everything is evaluated */
	PHASE_STOP, /* at once */
};

struct monitor_row {
	int64_t name;
	struct calibrate_row row;
};

struct copied {
	uint32_t type;
	bool is_late;
	uint8_t record[] __attribute__((aligned(8)));
};

struct monitor {
	struct monitor_options options;
	struct admission admission;
	struct monitor_promise promise;
	struct admission_sensor *sensors; /* by number, as watched and bytes: of records */
	struct watch_sensor *watched;
	uint32_t *bytes;
	uint32_t sensor_count;
	struct monitor_evaluations *evaluations;
	struct monitor_row *rows; /* those that are there, for finding out what they cost */
	size_t row_count, row_capacity;
	struct intake *intake;
	struct monitor_queue told; /* violations */
	struct stolen stolen_last, stolen_late;

	pthread_t thread;
	pid_t tid;
	bool is_running;
	int entered; /* what the scheduler said */
	struct asterism_diag *entering;
	char no_policy[256]; /* why the scheduler said no */
	_Atomic bool has_entered, has_ended, is_demoted;
	_Atomic uint64_t overruns;
	_Atomic int phase, wanted;
	_Atomic uint64_t begin_ns;
	struct watch_options watch_options; /* for the next phase */
	struct watch watch;                 /* the evaluator's, as last_ns */
	uint64_t last_ns;                   /* end of the last evaluation, or beginning of the turn */

	/* --copy */
	struct monitor_queue copies;
	_Atomic uint64_t lost_before_copies, copied_until_ns;
	uint64_t overflow_told, copy_most_ns;
};

/* The evaluator, until it is to end. */
void monitor_evaluator_run(struct monitor *monitor);

/* As the evaluator's callbacks of the intake; context is the monitor. */
void monitor_on_element(void *context, const struct intake_element *element);
void monitor_on_lost(void *context, uint64_t lost);

/* Wants a phase, and waits until the evaluator is in it, or has ended. */
void monitor_want_phase(struct monitor *monitor, enum phase phase);

void monitor_evaluate_record(struct monitor *monitor, const struct event_header *record, uint32_t type, bool is_late);

#endif
