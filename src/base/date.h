/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_DATE_H
#define BASE_DATE_H

/* How a moment of CLOCK_REALTIME is written: as RFC 3339 has it, with nine digits behind the point. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DATE_BYTES = 112 };

/* ns since the epoch: in UTC, "2026-11-22T20:14:05.123456789Z", or in the local time zone, with its offset. */
void date_print(uint64_t ns, bool utc, char text[DATE_BYTES]);

/* The moment that the first length bytes of text write so, with any fraction; without a zone it is UTC. */
bool date_read(const char *text, size_t length, uint64_t *ns);

#endif
