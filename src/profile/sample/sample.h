/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFILE_SAMPLE_SAMPLE_H
#define PROFILE_SAMPLE_SAMPLE_H

/*
 * Runs a command and samples it and all that it begins: a flat profile of functions. Where a function has no name it is
 * called by its address in its object, 0x..., as programs without symbols are.
 */

#include "base/diag.h"
#include "profile/profile.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct sample_options {
	char *const *command;
	const char *event;                 /* NULL: cycles where the processor counts them for us, else task-clock */
	uint64_t period;                   /* of events or nanoseconds between samples; 0: by frequency */
	uint64_t frequency;                /* samples per second */
	bool has_jitter;                   /* the period varies by a quarter, so that no loop is in step with it */
	const volatile sig_atomic_t *stop; /* SIGTERM is passed on to the command */
};

struct sample_outcome {
	int status; /* of the command, as a shell has it */
	uint64_t samples, lost;
	uint64_t elsewhere; /* in memory that no file is mapped to, or in a file that is another one by now */
	double kernel;      /* the share of what was counted that was in the kernel, and is left out; 0: not known */
	double seconds;
};

/* Returns 0, or -errno after a message. The profile is there also where some was lost. */
int sample_command(const struct sample_options *options, struct asterism_diag *diag, struct profile **profile,
		   struct sample_outcome *outcome);

#endif
