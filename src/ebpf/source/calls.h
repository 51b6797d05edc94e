/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_SOURCE_CALLS_H
#define EBPF_SOURCE_CALLS_H

/*
 * Which system calls a unit's entries can be, as far as conditions on the call's number and its result tell. Most calls
 * are none of them, so a program asks this before anything else: a byte for each number, in the program's memory, with
 * a bit for each kind of results.
 */

#include "ebpf/path/value.h"
#include "ebpf/source/plan.h"

enum { SOURCE_CALLS = 512 };

/* Kinds of results: EBADF, any other error, zero, more. At the beginning of a call all of them are still possible. */
enum source_result {
	SOURCE_RESULT_NO_FILE = 1,
	SOURCE_RESULT_ERROR = 2,
	SOURCE_RESULT_ZERO = 4,
	SOURCE_RESULT_MORE = 8,
	SOURCE_RESULT_ANY = 15
};

/* The paths by which a unit's program tells unwanted calls. */
struct source_calls {
	const struct source_node *number; /* NULL: it cannot */
	const struct source_node *result; /* NULL: it tells nothing */
};

/*
 * How the unit's program can tell unwanted calls. Of each number wanted has the kinds of results (enum source_result)
 * with which its calls may be an entry.
 */
struct source_calls source_calls_find(const struct source_unit *unit, uint8_t wanted[SOURCE_CALLS]);

/* Whether each entry is about numbers below SOURCE_CALLS alone. */
bool source_calls_are_all(const struct source_unit *unit);

/* Whether path is the call's number, at raw_syscalls: where it begins `id`, where it ends `regs->orig_ax`. */
bool source_is_call(const struct source_node *path);

/*
 * Goes to label if the call is not wanted, else goes on with its number in r0. The bytes lie in memory behind the parts
 * of all CPUs. Numbers beyond them pass. r1-r5 and r8 are lost.
 */
void source_calls_emit(struct ebpf_asm *as, const struct source_style *style, const struct source_calls *calls,
		       const struct source_memory *memory, uint32_t label);

#endif
