/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DAEMON_BUDGET_H
#define DAEMON_BUDGET_H

/* What the daemon takes for itself, and what it may take. */

#include <stdbool.h>
#include <stdint.h>

struct budget {
	uint64_t memory_max_bytes;  /* 0: no limit */
	uint32_t cpu_max_percent;   /* likewise */
	uint64_t looked_ns, cpu_ns; /* at the last look */
	uint32_t cpu_percent;       /* between the last two looks */
	uint32_t seconds_above;     /* looks in a row that found too much */
};

/* Resident memory but for files, as which the kernel's maps count that are mapped here, and what the kernel holds for
 * this process's maps and programs. */
uint64_t budget_resident_bytes(void);
uint64_t budget_kernel_bytes(void);

/* CPU time of this process so far. */
uint64_t budget_cpu_ns(void);

/* Whether there is room for rules that take more bytes; else false, with how much it would be in all. */
bool budget_has_room(const struct budget *budget, uint64_t more, uint64_t *bytes);

/* A look at the CPU time, about once a second. */
void budget_look(struct budget *budget, uint64_t now_ns);

/* Whether matches are only counted for now. */
static inline bool budget_is_above(const struct budget *budget)
{
	return budget->seconds_above != 0;
}

#endif
