/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_TEXT_OUTPUT_H
#define CMD_TEXT_OUTPUT_H

#include "cmd/options/options.h"

/*
 * Opens the file that results go to, for those whom --mode lets read it. What the command reads is refused. Returns a
 * descriptor, or -1 after saying why.
 */
int cmd_output_open(const struct cli_arguments *arguments, const char *file);

/*
 * Writes the bytes to the file, "-" for standard output, and leaves no half-written one behind. Returns STATUS_FINE, or
 * STATUS_USAGE after saying why.
 */
int cmd_output_write(const struct cli_arguments *arguments, const char *file, const void *bytes, size_t length);

/* Whether both are there, and are one file or folder, however they are called; not for terminals and /dev/null. */
bool cmd_is_same_file(const char *one, const char *other);

#endif
