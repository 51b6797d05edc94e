/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_OUTPUT_FRAMES_H
#define SESSION_OUTPUT_FRAMES_H

/*
 * What the addresses of a stack mean: "function+0x12 (/path/of/file)"; "0x1234 (/path/of/file)", a place in the file,
 * where no function is known there; "0x7f0012345678", where nothing is known to be. What is known of files is kept, as
 * much as FRAMES_BYTES_MAX. A thread of our own reads their symbols. It is waited for no longer than
 * FRAMES_PATIENCE_NS at a stretch, and an eighth of all time: functions of a file that takes longer have names from
 * when it was read.
 */

#include "program/match.h"

#include <sys/types.h>

struct frames;

enum {
	FRAMES_FILES_MAX = 64,
	FRAMES_BYTES_MAX = 1 << 27,
	FRAMES_THREADS_MAX = 8,
	FRAMES_PATIENCE_NS = 250 * 1000 * 1000
};

/* live: processes may end before their stacks are looked at, and what they have mapped is logged from now on. */
struct frames *frames_new(bool live);
/* Process pid is observed from now on, and what it begins. */
void frames_follow(struct frames *frames, pid_t pid);
void frames_free(struct frames *frames);

/*
 * The stack of match, whose process may have ended since; foreign: its id is not one of our pid namespace. Where a copy
 * of the stack can be unwound, it is named by that; what is told of it is valid until the next call. Returns 0 or
 * -ENOMEM.
 */
int frames_name(struct frames *frames, struct program_match *match, bool foreign);

/* The same of a thread (pid, tid, comm), by a copy as of taken_ns: the names are kept under index. */
int frames_name_thread(struct frames *frames, const struct program_stack_copy *copy, uint64_t taken_ns, uint32_t index,
		       struct program_thread *thread);

#endif
