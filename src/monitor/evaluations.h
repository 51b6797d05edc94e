/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MONITOR_EVALUATIONS_H
#define MONITOR_EVALUATIONS_H

/*
 * The evaluations of a monitor, which come and go while it runs. Two threads: the *owner*, who adds and removes and may
 * wait for memory, and the *evaluator*, who takes over what is there by the beginning of its next turn, in one load,
 * and never waits. What the owner has removed is released once the evaluator has begun a turn without it.
 *
 * Several rows may have one context; it is released with the last of them.
 */

#include "monitor/evaluation.h"

#include <stddef.h>

enum { MONITOR_ANY_SENSOR = -1 };

struct monitor_evaluations;

struct monitor_evaluations *monitor_evaluations_new(void);
/* Neither thread is in it any more. Releases all. */
void monitor_evaluations_free(struct monitor_evaluations *evaluations);

/* ---- the owner's */

/* sensor: its number, or MONITOR_ANY_SENSOR. Takes the context on success. Returns a row's name (>= 0), or -ENOMEM. */
int64_t monitor_evaluations_add(struct monitor_evaluations *evaluations, int64_t sensor,
				const struct monitor_evaluation_kind *kind, void *context);

/* Returns 0; -ENOENT: there is no such row; -ENOMEM. */
int monitor_evaluations_remove(struct monitor_evaluations *evaluations, int64_t name);

/* Releases what can be by now. Returns how many contexts still wait for the evaluator. */
size_t monitor_evaluations_collect(struct monitor_evaluations *evaluations);

/* ---- the evaluator's */

/* A turn begins. */
void monitor_evaluations_begin(struct monitor_evaluations *evaluations);

void monitor_evaluations_element(struct monitor_evaluations *evaluations, const struct monitor_element *element);
void monitor_evaluations_lose(struct monitor_evaluations *evaluations, uint64_t lost);
void monitor_evaluations_pass(struct monitor_evaluations *evaluations, uint64_t now_ns);

#endif
