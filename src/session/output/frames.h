/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_OUTPUT_FRAMES_H
#define SESSION_OUTPUT_FRAMES_H

/*
 * What the addresses of a stack mean: "function+0x12 (/path/of/file)"; "0x1234 (/path/of/file)", a place in the file,
 * where no function is known there; "0x7f0012345678", where nothing is, as of a process that has ended. What is known
 * of files is kept, as much as FRAMES_BYTES_MAX.
 */

#include "program/match.h"

struct frames;

enum { FRAMES_FILES_MAX = 64, FRAMES_BYTES_MAX = 1 << 27 };

struct frames *frames_new(void);
void frames_free(struct frames *frames);

/*
 * The stack of match, whose process may have ended since; foreign: its id is not one of our pid namespace. Returns the
 * texts, match->stack_count of them, valid until the next call, or NULL: memory is short.
 */
const char *const *frames_name(struct frames *frames, const struct program_match *match, bool foreign);

#endif
