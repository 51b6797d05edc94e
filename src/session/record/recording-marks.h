/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_RECORD_RECORDING_MARKS_H
#define SESSION_RECORD_RECORDING_MARKS_H

/* The newest marks, kept with texts of their own until a snapshot takes them. They belong to one thread at a time. */

#include "session/record/recording.h"
#include "trace/ctf/write.h"

struct recording_marks;

/* Returns NULL where there is no memory. */
struct recording_marks *recording_marks_new(void);
void recording_marks_free(struct recording_marks *marks);

/* Returns 0 or -ENOMEM. */
int recording_marks_keep(struct recording_marks *marks, const struct recording_mark *mark);

/* Writes those that are not older than since_ns, oldest first. Results as ctf_writer_match. */
int recording_marks_write(const struct recording_marks *marks, struct ctf_writer *writer, uint64_t since_ns);

/* Writes one. */
int recording_mark_write(const struct recording_mark *mark, struct ctf_writer *writer);

#endif
