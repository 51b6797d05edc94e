/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_OUTPUT_UNWINDER_H
#define SESSION_OUTPUT_UNWINDER_H

/*
 * Who called whom, worked out from the copy of a stack by what compilers say of each place in their code (.eh_frame,
 * .debug_frame), as elfutils (libdwfl) reads it. Programs need not have frame pointers for that.
 *
 * The copy is the observed program's, and so is what its files say: a walk takes at most PROGRAM_FRAMES_MAX steps, each
 * of bounded work, reads nothing but the copy and files that debug_info_is_trusted, and no file is mapped, which who
 * shortens it could end us by. What is known of UNWIND_PROCESSES_MAX processes is kept, of
 * each at most UNWIND_FILES_MAX files: libdwfl goes along all of them for each.
 */

#include "program/match.h"
#include "session/output/mappings.h"

struct unwinder;

enum { UNWIND_PROCESSES_MAX = 8, UNWIND_FILES_MAX = 1024, UNWIND_WHY_BYTES = 512 };

struct unwound {
	uint64_t addresses[PROGRAM_FRAMES_MAX]; /* innermost first */
	uint64_t exact;                         /* bit i: address i is where it is; else where it will return to */
	uint32_t count;
	char why[UNWIND_WHY_BYTES]; /* why it ends there; "": there is nobody else */
};

struct unwinder *unwinder_new(void);
void unwinder_free(struct unwinder *unwinder);

/* Unwinds match->stack_copy, of the process that mappings are of. */
void unwinder_walk(struct unwinder *unwinder, const struct program_match *match, const struct mappings *mappings,
		   struct unwound *found);

#endif
