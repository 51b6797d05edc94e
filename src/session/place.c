// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides where a rule runs: in the kernel whenever it can; in user space when its author says ASYNCHRONOUS or the
 * kernel cannot; nowhere when it is SYNCHRONOUS and the kernel cannot.
 */

#include "session/rules.h"

#include "ebpf/ebpf.h"

#include <stdio.h>

void session_place(const struct program *program, uint32_t rule, struct session_placement *placement)
{
	enum program_mode mode = program->rules[rule].mode;

	*placement = (struct session_placement){ .place = SESSION_KERNEL };
	if (mode == PROGRAM_ASYNCHRONOUS) {
		placement->place = SESSION_USER;
		snprintf(placement->reason, sizeof placement->reason, "the rule says ASYNCHRONOUS");
	} else if (!ebpf_can_run(program, rule, placement->reason, sizeof placement->reason)) {
		placement->place = mode == PROGRAM_SYNCHRONOUS ? SESSION_NOWHERE : SESSION_USER;
	}
}
