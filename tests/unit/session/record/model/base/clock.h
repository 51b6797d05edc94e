/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

/* Stands in for src/base/clock.h where schedules are explored: time passes when the model says so. */

#include <stdint.h>
#include <time.h>

uint64_t clock_now_ns(void);

#endif
