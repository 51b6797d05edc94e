/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_MEMORY_PLACES_H
#define EBPF_MEMORY_PLACES_H

/* Runs that give their places to newer ones: docs/internals/execution.md, "Places". */

#include "ebpf/memory/emit.h"

/*
 * places: lets the run number r8 in r7 wait in its bucket, which is locked, in place of another where the rule keeps
 * the latest. Makes room for the run in the frame's scratch, whose bucket, locked, is in r8, or leaves for none. After
 * an event that may have opened a run: the oldest goes where there are too many; before that, or NULL, deals with it,
 * the current one, in r7, its bucket locked, and leaves for gone where it has ended it.
 */
void memory_enter(struct emit *emit, uint32_t group);
void memory_find_place(struct emit *emit, uint32_t state, uint32_t none);
void memory_free_spare(struct emit *emit, void (*before)(struct emit *emit, uint32_t gone));

/*
 * loss: PER PROCESS; nothing where there is none. The event's process has its share: the run is refused, and it goes
 * on at none. The copy in r7, at full, and nothing is counted. The run in r7 is one more (1) or less (-1) of its
 * process. All overwrite r0-r2.
 */
void memory_check_opener(struct emit *emit, uint32_t none);
void memory_check_copy(struct emit *emit, uint32_t full);
void memory_count_opener(struct emit *emit, int32_t by);

/*
 * ages: where the rule replaces. begin: the run of this number, its `made` in r0, may be the first beside it;
 * overwrites r0-r3. A function: given a time that no run to come is made before, the number of the oldest; 0: none is
 * found.
 */
void memory_age_begin(struct emit *emit, uint8_t number);
uint32_t memory_function_oldest(struct emit *emit);

#endif
