// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides where a rule runs: in the kernel whenever it can, also when it says ASYNCHRONOUS, which allows user space but
 * gains nothing by it (docs/decisions/0003); else in user space, unless it is SYNCHRONOUS. Rules that EMIT
 * connects run in one place (ebpf_can_run sees to it). A rule that may refuse system calls runs where they are held
 * (docs/veto.md).
 */

#include "session/executor/placement.h"

#include "ebpf/ebpf.h"

#include <stdio.h>

void session_placement_of(const struct program *program, uint32_t rule, struct session_placement *placement)
{
	enum program_mode mode = program->rules[rule].mode;

	*placement = (struct session_placement){ .place = SESSION_KERNEL };
	if (!ebpf_can_run(program, rule, placement->reason, sizeof placement->reason))
		placement->place = mode == PROGRAM_SYNCHRONOUS ? SESSION_NOWHERE : SESSION_USER;
}
