/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_SCRATCH_H
#define REPORT_SCRATCH_H

/*
 * Files without names, for what memory has no room for: in $TMPDIR or, if that is not set, in /var/tmp or /tmp. They
 * end with their descriptors and mappings, however the process ends.
 */

#include <stddef.h>
#include <stdint.h>

/* What takes no more than that stays in memory. */
enum { SCRATCH_BYTES_MIN = 1 << 20 };

/* A new file: its descriptor, or -errno. */
int scratch_open(void);

/* All of the bytes, or none that count. Return 0 or -errno; -EFBIG, and no signal, beyond RLIMIT_FSIZE. */
int scratch_write(int fd, const void *bytes, size_t count, uint64_t at);
int scratch_read(int fd, void *bytes, size_t count, uint64_t at);

/*
 * Zeros that a file of their own is behind, which has room for all of them; NULL: there is none. They take memory only
 * from when they are looked at to the next rest.
 */
void *scratch_map(size_t count);
void scratch_unmap(void *map, size_t count);
void scratch_rest(void *map, size_t count);

#endif
