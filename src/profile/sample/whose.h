/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFILE_SAMPLE_WHOSE_H
#define PROFILE_SAMPLE_WHOSE_H

/* Which threads there were while a command was sampled, what they were called, and what each cost. One thread. */

#include "profile/profile.h"
#include "profile/sample/rings.h"

struct whose;

/* Threads are added to profile, which lives as long. NULL: out of memory. */
struct whose *whose_new(struct profile *profile);
void whose_free(struct whose *whose);

/* A thread was made, named, or sampled. 0 or -ENOMEM. */
int whose_take(struct whose *whose, const struct sample_record *record);

/* A sample that counts, of a thread that was taken. 0 or -ENOMEM. */
int whose_count(struct whose *whose, uint32_t tid, uint32_t function, double weight);

#endif
