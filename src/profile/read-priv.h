/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFILE_READ_PRIV_H
#define PROFILE_READ_PRIV_H

/* What readers of lines share: where they are, and what is wrong there. */

#include "base/diag.h"
#include "profile/profile.h"

enum { PROFILE_PACKED_BYTES_MAX = 1 << 28 };

struct reading {
	const struct diag_source *source;
	struct asterism_diag *diag;
	struct profile *profile;
	const char *line, *at, *end; /* of the line, without its newline */
	uint32_t number;             /* of the line */
	bool without_places;         /* of costs within functions */
};

/* Goes to the next line; false after the last. */
bool read_next_line(struct reading *reading);

/* Says what is wrong at the place reached; returns -EINVAL. */
int read_wrong(const struct reading *reading, const char *hint, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same for the results of adding to a profile. */
int read_failed(const struct reading *reading, int result);

void read_skip_blanks(struct reading *reading);
bool read_is_digit(const struct reading *reading);

/* A decimal number or, after 0x, a hexadecimal one. Returns 0 or -EINVAL after a message. */
int read_whole(struct reading *reading, uint64_t *value);

/* A cost: not negative, finite; with a fraction only where that is allowed. */
int read_cost(struct reading *reading, bool may_be_real, double *value);

int profile_read_callgrind(struct reading *reading, bool is_own);
int profile_read_csv(struct reading *reading);

/* Whether its first line is one of perf script. */
bool profile_is_perf(const struct diag_source *source);
int profile_read_perf(struct reading *reading);

/* Whether gzip has packed it; unpacks it. Free unpacked->text. */
bool profile_is_packed(const struct diag_source *source);
int profile_unpack(struct reading *reading, struct diag_source *unpacked);

int profile_read_pprof(struct reading *reading);

#endif
