/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_OUTPUT_ADDRESSES_H
#define SESSION_OUTPUT_ADDRESSES_H

/* What single addresses in the memory of a match's process are called, data and code. */

#include "session/output/frames.h"

struct addresses;

/* frames, which outlives it, knows files and what processes had mapped. NULL: memory is short. */
struct addresses *addresses_new(struct frames *frames);
void addresses_free(struct addresses *addresses);

/*
 * "account+0x8 (bank)", "[heap]+0x1c0", "deposit+0x12 (bank) bank.c:31". Valid until the next call; NULL: nothing is
 * known to be there, or so many processes have been looked at lately that it would hold others up.
 */
const char *addresses_name(struct addresses *addresses, const struct program_match *match, uint64_t address);

#endif
