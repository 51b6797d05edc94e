/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_SUMS_SUMS_H
#define EBPF_SUMS_SUMS_H

/*
 * Matches that the programs add up themselves, for rules with AGGREGATE that plan/sums.c lets them: the code that does
 * so where a match is found, and how this process takes what has come of it. Where it lies says memory/sums.c.
 *
 * What the tables have no room for is delivered like any other match, and added up in user space: so whatever their
 * size, nothing is missing. A key beyond the rule's POOL is counted as other, by the programs where all keys are
 * theirs.
 *
 * With EVERY there are two halves. Matches up to the end of an interval go to the one, those of the next to the other;
 * what is later still is delivered until the first was taken. A half is closed before it is read, and the programs
 * that had found it open have come to their end by then. So a match is in one interval with all that it adds, the one
 * that its time is in.
 *
 * It may touch: the plan and the layout, which it only reads, the sums, and the assembler.
 */

#include "ebpf/memory/emit.h"
#include "program/aggregate/aggregate.h"

/*
 * The map for what a match of the program's rules comes to before it is added, for every CPU: the context's room.
 * keeps: it is made; else the code is only measured. 0 or -errno.
 */
int sums_make_room(struct emit_context *context, bool keeps);

/* Adds up the match of the run in r7; leaves for deliver where that is not possible. Overwrites r0-r5, r8. */
void sums_emit_match(struct emit *emit, uint32_t deliver);

/* As the functions of aggregate_source. */
void sums_expect(const struct memory *memory, uint32_t rule, uint64_t due);
int sums_share(const struct memory *memory, uint32_t rule, uint64_t due, struct aggregate_table *table);
int sums_take(const struct memory *memory, uint32_t rule, uint64_t until, struct aggregate_table *table);

#endif
