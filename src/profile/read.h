/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFILE_READ_H
#define PROFILE_READ_H

/*
 * Reads profiles from files: callgrind's format, the project's own (the same with costs that are no whole numbers and
 * lines for what was completed), the text of perf script, files for pprof, and CSV with a function and its cost in each
 * line; also packed by gzip. Memory is bounded by the size of the file, and that by PROFILE_BYTES_MAX.
 */

#include "base/diag.h"
#include "profile/profile.h"

#define PROFILE_BYTES_MAX (UINT64_C(1) << 30)

/* The whole file, NUL-terminated, for alloc_free. 0, or -errno after a message. */
int profile_read_text(int fd, const char *file, struct asterism_diag *diag, char **text, size_t *length);

/*
 * Reads the text of a file whose name is for messages. Returns 0, or -EINVAL or -ENOMEM after one message. Costs that
 * the file's own sums have and its lines have not are a warning, and profile->missing.
 */
int profile_read(const struct diag_source *source, struct asterism_diag *diag, struct profile **profile);

/* The same without where in functions costs are, which most of the time of a callgrind file goes to. */
int profile_read_functions(const struct diag_source *source, struct asterism_diag *diag, struct profile **profile);

/* Whether it is one of these formats but CSV, which many files are that are no profiles, or gmon.out. */
bool profile_is_known(const struct diag_source *source);

/*
 * gmon.out, as programs built with -pg write it, has no names: they are those of the program, an ELF file open at
 * program_fd. Calls have numbers and no costs. The same otherwise.
 */
bool profile_is_gmon(const struct diag_source *source);
int profile_read_gmon(const struct diag_source *source, int program_fd, const char *program, struct asterism_diag *diag,
		      struct profile **profile);

#endif
