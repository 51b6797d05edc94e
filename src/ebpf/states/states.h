/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_STATES_STATES_H
#define EBPF_STATES_STATES_H

/*
 * How long the threads of each process have been running, ready and blocked: added up by two programs at the
 * scheduler's tracepoints in maps, per CPU, so that no event leaves the kernel however many there are.
 *
 * A thread is known from the first time on that it gets or leaves a CPU, or is woken, after states_new. What it
 * has been in since its last change counts too. Idle threads of CPUs have no time.
 */

#include "base/diag.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum states_state { STATES_RUNNING, STATES_READY, STATES_BLOCKED, STATES_COUNT };

enum { STATES_COMM_BYTES = 16 };

/* All threads of a process together, since states_new. */
struct states_process {
	pid_t pid;
	uint64_t ns[STATES_COUNT];
	uint64_t switches;            /* how often one of its threads got a CPU */
	char comm[STATES_COMM_BYTES]; /* of a thread of it that ran; may hold anything */
};

struct states;

/* Returns 0; -EPERM (no privilege), -EOPNOTSUPP (this kernel cannot), -ENOMEM, another -errno, with a sentence. */
int states_new(struct asterism_diag *diag, struct states **made);
void states_free(struct states *states);

/*
 * Reads all processes into memory of states, valid until the next call: *count of them at *rows, by pid, as of *at_ns
 * (CLOCK_MONOTONIC). Those that have ended are given once more and then forgotten. Returns 0, -ENOMEM, another -errno.
 */
int states_read(struct states *states, const struct states_process **rows, size_t *count, uint64_t *at_ns);

/* How often time could not be counted as there were more threads or processes than there is room for. */
uint64_t states_missed(const struct states *states);

#endif
