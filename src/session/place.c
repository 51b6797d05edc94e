// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides where a rule runs: in the kernel whenever it can, also when it says ASYNCHRONOUS, which allows user space but
 * gains nothing by it (docs/decisions/0003); else in user space, unless it is SYNCHRONOUS. Rules that EMIT
 * connects run in one place (ebpf_can_run sees to it).
 */

#include "session/rules.h"

#include "ebpf/ebpf.h"

bool session_is_emitted(const struct program *program, uint32_t type)
{
	for (uint32_t i = 0; i < program->rule_count; i++) {
		const struct program_rule *rule = &program->rules[i];

		for (uint32_t j = 0; j < rule->statement_count; j++) {
			if (program->statements[rule->first_statement + j].type == type)
				return true;
		}
	}
	return false;
}

void session_place(const struct program *program, uint32_t rule, struct session_placement *placement)
{
	enum program_mode mode = program->rules[rule].mode;

	*placement = (struct session_placement){ .place = SESSION_KERNEL };
	if (!ebpf_can_run(program, rule, placement->reason, sizeof placement->reason))
		placement->place = mode == PROGRAM_SYNCHRONOUS ? SESSION_NOWHERE : SESSION_USER;
}
