// SPDX-License-Identifier: BSD-2-Clause
/* Creates the emitter of a rule's code, with the slots at those of the run in r7. */

#include "ebpf/memory/emit.h"

struct emit emit_of(const struct emit_context *context, struct ebpf_asm *as, const struct plan_event *event)
{
	const struct plan *plan = context->plan;
	const struct program_rule *rule = &plan->program->rules[event->rule];
	const struct memory *memory = context->memory;

	return (struct emit){
		.context = context,
		.as = as,
		.program = plan->program,
		.rule = rule,
		.plan = &plan->rules[event->rule],
		.event = event,
		.acts = event->type == PROGRAM_NONE ? &plan->rules[event->rule].at_deadline
						    : &plan->rules[event->rule].at_event,
		.at = &memory->rules[event->rule],
		.lower = { .as = as,
			   .program = plan->program,
			   .rule = rule,
			   .info = plan->nodes,
			   .slots = R7,
			   .slots_off = sizeof(struct matcher_run),
			   .patterns_fd = memory->maps[memory->patterns.map].fd,
			   .patterns_off = memory->patterns.off,
			   .irqs_off = plan->rules[event->rule].locks_out_interrupts },
	};
}
