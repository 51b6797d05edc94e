/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_SOURCE_CALLS_H
#define EBPF_SOURCE_CALLS_H

/*
 * Which system calls a unit's entries can be, as far as conditions on the call's number tell. Most calls are none of
 * them, so a program asks this before anything else: a byte for each number, in the program's memory.
 */

#include "ebpf/path/value.h"
#include "ebpf/source/plan.h"

enum { SOURCE_CALLS = 512 };

/*
 * The path of the number by which the unit's program can tell unwanted calls; NULL: it cannot. wanted becomes 0 for
 * numbers whose calls are no entry, whatever else holds.
 */
const struct source_node *source_calls_find(const struct source_unit *unit, uint8_t wanted[SOURCE_CALLS]);

/* Whether path is the call's number, at raw_syscalls: where it begins `id`, where it ends `regs->orig_ax`. */
bool source_is_call(const struct source_node *path);

/*
 * Goes to label if number says that the call is not wanted, else goes on with it in r0. The bytes lie in memory behind
 * the parts of all CPUs. Numbers beyond them pass.
 */
void source_calls_emit(struct ebpf_asm *as, const struct source_style *style, const struct source_node *number,
		       const struct source_memory *memory, uint32_t label);

#endif
