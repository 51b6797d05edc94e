/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFILE_WRITE_H
#define PROFILE_WRITE_H

#include "profile/profile.h"

#include <stdio.h>

/* All: 0, -ENOMEM, or the -errno of the stream. */

/* The project's own format, which keeps everything but contexts. */
int profile_write(FILE *stream, const struct profile *profile);

/*
 * Callgrind's format, by lines where the profile has them. Its costs are whole numbers: small ones are written times a
 * power of ten, which the name of the event type says.
 */
int profile_write_callgrind(FILE *stream, const struct profile *profile);

/* Rows of function, object and, for each event type, self and inclusive cost. */
int profile_write_csv(FILE *stream, const struct profile *profile);

#endif
