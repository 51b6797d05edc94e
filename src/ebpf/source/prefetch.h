/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_SOURCE_PREFETCH_H
#define EBPF_SOURCE_PREFETCH_H

/*
 * A probe in user code may wait for memory, but what steps rules may not. So a program of its own, which is met first,
 * sees to it that the memory is there that the unit's fields are read from.
 */

#include "ebpf/path/value.h"
#include "ebpf/source/plan.h"

/* Whether the unit has use for such a program. */
bool source_prefetch_pays(const struct source_unit *unit);

/* Of the scratch value of the program's memory; no field is longer. */
uint32_t source_prefetch_bytes(const struct source_unit *unit);

/* Its code behind the scope test: r9 is the context. scratch: where in the value of the array map memory there is room.
 */
void source_prefetch_emit(struct ebpf_asm *as, const struct source_unit *unit, const struct source_style *style,
			  int memory, uint32_t scratch);

#endif
