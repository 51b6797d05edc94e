/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_USUAL_RING_H
#define BASE_USUAL_RING_H

/* How much memory a recording's ring has where nobody says. */

#include <stdint.h>

enum { USUAL_RING_BYTES_MIN = 512 * 1024, USUAL_RING_BYTES_MAX = 16 * 1024 * 1024 };

/*
 * Of each of so many CPUs: as much as a sixteenth of the available memory allows for all together, a power of
 * two between both limits.
 */
uint64_t usual_ring_bytes(uint64_t available_bytes, uint64_t processors);

/*
 * What can be had without swapping, as the kernel guesses, and at most what the control group of this process may have
 * in all; UINT64_MAX where nobody says.
 */
uint64_t usual_ring_available_bytes(void);

#endif
