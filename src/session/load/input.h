/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_LOAD_INPUT_H
#define SESSION_LOAD_INPUT_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Opens the file, "-" for a duplicate of standard input. Directories and unreadable files give a message that names
 * them. Returns a descriptor or -EINVAL.
 */
int session_input_open(const char *file, struct asterism_diag *diag);

/*
 * Reads the whole file, "-" for standard input, into NUL-terminated memory that the caller frees with alloc_free.
 * Directories, unreadable files and files of more than limit bytes give a message that names them.
 * Returns 0, -EINVAL, -ENOMEM.
 */
int session_input_read(const char *file, size_t limit, struct asterism_diag *diag, char **text, size_t *length);

/*
 * Whether file holds events rather than rules: a directory, a file called .jsonl, or a file that begins as JSON does.
 * What cannot be looked at without taking something away (a pipe) is judged by its name.
 */
bool session_input_is_trace(const char *file);

/* What messages call the file. */
const char *session_input_name(const char *file);

#endif
