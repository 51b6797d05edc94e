/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFILE_SAMPLE_PLACES_H
#define PROFILE_SAMPLE_PLACES_H

/* Which spot of which function an address of a process is, by what it had mapped there at the time. One thread. */

#include "profile/profile.h"

struct places;
struct sample_record;

/* Functions and spots are added to profile, which lives as long. NULL: out of memory. */
struct places *places_new(struct profile *profile);
void places_free(struct places *places);

/* Something was mapped, a process forked, or began a program. 0 or -ENOMEM. */
int places_take(struct places *places, const struct sample_record *record);

/* 0, or -ENOMEM; *spot is HASH_NONE where no file is mapped there, or it is another one by now. */
int places_find(struct places *places, uint32_t pid, uint64_t address, uint32_t *spot);

#endif
