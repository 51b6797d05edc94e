// SPDX-License-Identifier: BSD-2-Clause
/* Completes a transition of a machine's instance: it is told of, it ends, its timer is noted. */

#include "ebpf/codegen/machine.h"

/* What became of the instance in r7, number in the frame's current, that a transition was taken by. */
void codegen_leave_instance(struct emit *emit, const struct emit_exits *exits, void (*fill)(struct emit *emit))
{
	struct ebpf_asm *as = emit->as;
	const char *name = program_text(emit->program, emit->rule->name);
	uint32_t no_timer = ebpf_label(as);

	ebpf_bind(as, exits->match);
	ebpf_note(as, "machine %s: tell and end", name);
	codegen_match_run(emit, fill);
	ebpf_bind(as, exits->end);
	ebpf_note(as, "machine %s: the instance ends", name);
	emit_remove_run(emit);
	memory_frame_set(as, FRAME(current), 0);
	ebpf_jump(as, exits->stay);
	ebpf_bind(as, exits->report);
	ebpf_note(as, "machine %s: tell", name);
	if (emit->event->type == PROGRAM_TIMER)
		codegen_clear_timer(emit);
	codegen_match_run(emit, fill);
	ebpf_bind(as, exits->timed);
	codegen_note_timer(emit, no_timer);
	ebpf_bind(as, no_timer);
}
