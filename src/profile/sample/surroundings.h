/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFILE_SAMPLE_SURROUNDINGS_H
#define PROFILE_SAMPLE_SURROUNDINGS_H

/*
 * What a run depends on beside its command: those variables of the environment that change what programs do, each one
 * thing more that is said of the run ("variable LANG"), and what its standard input is where that is a file ("input").
 */

#include "profile/profile.h"

#include <sys/types.h>

#define PROFILE_VARIABLE  "variable " /* begins a key of infos, before the name */
#define PROFILE_VARIABLES "variables" /* how many there are: without it, none were noted */
#define PROFILE_INPUT     "input"

/* Where the file is that standard input reads; -1: it is no file. Before the run, which moves it. */
off_t profile_input_begin(void);

/* What this process has, and so what it begins. 0 or -ENOMEM. */
int profile_note_surroundings(struct profile *profile, off_t input_begin);

#endif
