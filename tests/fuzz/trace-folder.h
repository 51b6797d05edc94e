/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FUZZ_TRACE_FOLDER_H
#define FUZZ_TRACE_FOLDER_H

/* A trace of one file, in memory as far as the file system is: its metadata and its first stream are what is given. */

#include <stddef.h>
#include <stdint.h>

/* The folder, made at the first call. */
const char *trace_folder(void);

/* Writes the file called name in it. */
void trace_folder_write(const char *name, const void *bytes, size_t size);

/* The metadata of a sound trace, whose UUID is all zeros. */
const char *trace_folder_metadata(size_t *size);

/* Opens the folder and reads it to its end, checking what every reader may rely on. Returns the result of opening. */
int trace_folder_read(void);

#endif
