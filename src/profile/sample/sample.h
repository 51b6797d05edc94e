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
#include <stdio.h>

struct session_rules;

struct sample_options {
	char *const *command;
	const char *event;                 /* NULL: cycles where the processor counts them for us, else task-clock */
	const char *label;                 /* what its costs are called; NULL: as the event is */
	uint64_t period;                   /* of events or nanoseconds between samples; 0: by frequency */
	uint64_t frequency;                /* samples per second */
	bool has_jitter;                   /* the period varies by a quarter, so that no loop is in step with it */
	unsigned precise;                  /* how near to its event a sample has to be, from 0 to 3 */
	FILE *samples;                     /* each sample is a line of CSV there; NULL: none is kept */
	bool has_registers;                /* with the registers of user code */
	const volatile sig_atomic_t *stop; /* SIGTERM is passed on to the command */
	const struct session_rules
		*rules; /* what does not lie between events of their matches is left out; NULL: all */
};

/* What came of the rules. */
struct sample_between {
	uint64_t matches, lost; /* events or matches that were lost: each may be an interval */
	uint64_t tainted;       /* of the matches, those that may be wrong for what was lost */
	uint64_t unusable;      /* whose end is before the begin, or that have none */
	uint64_t late;          /* that began before samples for which there was no more room */
	uint64_t outside;       /* samples */
	double seconds;         /* of all matches together */
	bool is_cut;            /* the rules could not run to the end */
};

struct sample_outcome {
	int status; /* of the command, as a shell has it */
	uint64_t samples, lost;
	uint64_t elsewhere; /* in memory that no file is mapped to, or in a file that is another one by now */
	double kernel;      /* the share of what was counted that was in the kernel, and is left out; 0: not known */
	double seconds;
	struct sample_between between;
};

/* Returns 0, or -errno after a message. The profile is there also where some was lost. */
int sample_command(const struct sample_options *options, struct asterism_diag *diag, struct profile **profile,
		   struct sample_outcome *outcome);

#endif
