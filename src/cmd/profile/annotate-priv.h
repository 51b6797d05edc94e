/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_PROFILE_ANNOTATE_PRIV_H
#define CMD_PROFILE_ANNOTATE_PRIV_H

/* What `asterism profile annotate` is made of: lines of addresses, and texts of sources. */

#include "profile/profile.h"

/*
 * Gives spots of the functions that are wanted (by number) their file and line where they have an address alone and the
 * object, which has to be the very build, has debugging information. What kept it from that is a note, once for each
 * object, with what is done otherwise. 0 or -ENOMEM.
 */
int annotate_locate(struct profile *profile, const bool *is_wanted, const char *otherwise);

struct sources;

struct sources *sources_new(void); /* NULL: out of memory */
void sources_free(struct sources *sources);

/*
 * The line of the file, without the blanks that it begins with; valid until the next call. NULL where it cannot be
 * read. object: of which it is a source; where the source is newer than it, that is counted.
 */
const char *sources_line(struct sources *sources, const char *file, const char *object, uint32_t line);

/* Says which could not be read, or are not those that the program was made from. */
void sources_tell(const struct sources *sources);

#endif
