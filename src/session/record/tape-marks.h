/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_RECORD_TAPE_MARKS_H
#define SESSION_RECORD_TAPE_MARKS_H

/* The newest marks, kept with texts of their own until a snapshot takes them. They belong to one thread at a time. */

#include "session/record/tape.h"
#include "trace/ctf/write.h"

struct tape_marks;

/* Returns NULL where there is no memory. */
struct tape_marks *tape_marks_new(void);
void tape_marks_free(struct tape_marks *marks);

/* Returns 0 or -ENOMEM. */
int tape_marks_keep(struct tape_marks *marks, const struct tape_mark *mark);

/* Writes those that are not older than since_ns, oldest first. Results as ctf_writer_match. */
int tape_marks_write(const struct tape_marks *marks, struct ctf_writer *writer, uint64_t since_ns);

/* Writes one. */
int tape_mark_write(const struct tape_mark *mark, struct ctf_writer *writer);

#endif
