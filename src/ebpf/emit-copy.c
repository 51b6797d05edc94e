// SPDX-License-Identifier: BSD-2-Clause
/* Decides how SKIPTILLANY takes both ways: a copy of the run goes on, the original waits for another such event. */

#include "ebpf/emit-priv.h"

#include <errno.h>

/* Whether the transition makes a copy that waits on. */
bool emit_copies(const struct emit *emit, const struct program_transition *transition)
{
	return emit->rule->semantics == PROGRAM_SKIP_TILL_ANY &&
	       !(transition->flags & (PROGRAM_FORBID | PROGRAM_IN_PLACE)) && transition->target != PROGRAM_TARGET_END &&
	       transition->target != PROGRAM_TARGET_MATCH;
}

void emit_copy(struct emit *emit, uint32_t state, const struct program_transition *transition)
{
	(void)state;
	(void)transition;
	ebpf_asm_fail(emit->as, -EOPNOTSUPP);
}
