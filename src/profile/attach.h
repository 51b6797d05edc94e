/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFILE_ATTACH_H
#define PROFILE_ATTACH_H

#include "profile/profile.h"

/*
 * For each function of sampled the one of simulated that it is, or HASH_NONE: of its name and object; of its name
 * alone; of its address (0x...) in its object; of the name that variants of it and its stub share. to has room for all.
 * 0 or -ENOMEM.
 */
int profile_attach(const struct profile *sampled, const struct profile *simulated, uint32_t *to);

enum { PROFILE_CANONICAL_BYTES = 256 };

/* The name without what the dynamic linker, the compiler and the choice of a variant for the processor add to it. */
void profile_canonical(const char *name, char canonical[PROFILE_CANONICAL_BYTES]);

#endif
