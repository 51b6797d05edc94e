// SPDX-License-Identifier: BSD-2-Clause
/*
 * Chooses where a rule runs: in the kernel whenever it can, also when it says ASYNCHRONOUS, which allows user space but
 * gains nothing by it (docs/internals/decisions/0003); else in user space, unless it is SYNCHRONOUS. Rules that EMIT
 * connects run in one place (ebpf_can_run sees to it). A rule that may refuse system calls runs where they are held
 * (docs/veto.md).
 */

#include "session/executor/placement.h"

#include "base/alloc.h"
#include "base/text.h"
#include "ebpf/ebpf.h"

#include <stdio.h>

enum {
	EACH_MAX = 3,  /* rules that have a note each */
	NAMED_MAX = 8, /* rules that are named where they have one together */
};

void session_placement_of(const struct program *program, uint32_t rule, struct session_placement *placement)
{
	enum program_mode mode = program->rules[rule].mode;

	*placement = (struct session_placement){ .place = SESSION_KERNEL };
	if (!ebpf_can_run(program, rule, placement->reason, sizeof placement->reason))
		placement->place = mode == PROGRAM_SYNCHRONOUS ? SESSION_NOWHERE : SESSION_USER;
}

static uint32_t count_chosen(const struct program *program, const bool *chosen)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < program->rule_count; i++)
		count += chosen[i];
	return count;
}

/* What all of them have in common, with their names; why: of each of them, or NULL. */
static void note_together(const struct program *program, const bool *chosen, const char *what, const char *why,
			  struct asterism_diag *diag)
{
	uint32_t count = count_chosen(program, chosen), named = 0;
	struct text_buffer names = { 0 };

	for (uint32_t i = 0; i < program->rule_count && named < NAMED_MAX; i++)
		if (chosen[i])
			text_printf(&names, "%s%s", named++ ? ", " : "", program_text(program, program->rules[i].name));
	if (count > named)
		text_printf(&names, " and %u more", count - named);
	if (why)
		text_printf(&names, "; the reason for each: %s", why);
	diag_add(diag, ASTERISM_NOTE, NULL, why ? NULL : "'asterism check' says why, and what to write instead",
		 "%u rules and machines %s: %s", count, what, names.failure ? "" : names.bytes);
	text_fini(&names);
}

void session_note_user_space(const struct program *program, const bool *chosen, const char *why,
			     struct asterism_diag *diag)
{
	struct session_placement placement;

	if (count_chosen(program, chosen) > EACH_MAX) {
		note_together(program, chosen, "run in user space", why, diag);
		return;
	}
	for (uint32_t i = 0; i < program->rule_count; i++) {
		if (!chosen[i])
			continue;
		session_placement_of(program, i, &placement);
		diag_add(diag, ASTERISM_NOTE, NULL, NULL, "%s %s runs in user space: %s",
			 program_sort(&program->rules[i]), program_text(program, program->rules[i].name),
			 why ? why : placement.reason);
	}
}

void session_note_delivered(const struct program *program, const bool *chosen, struct asterism_diag *diag)
{
	bool *delivered = alloc_zero(program->rule_count, sizeof *delivered);
	const char *why_not;

	for (uint32_t i = 0; i < program->rule_count && delivered; i++)
		delivered[i] = chosen[i] && ebpf_must_deliver(program, i, &why_not);
	if (delivered && count_chosen(program, delivered) > EACH_MAX) {
		note_together(program, delivered, "send their matches to user space, where they are aggregated", NULL,
			      diag);
		alloc_free(delivered);
		return;
	}
	for (uint32_t i = 0; i < program->rule_count && delivered; i++)
		if (delivered[i] && ebpf_must_deliver(program, i, &why_not))
			diag_add(diag, ASTERISM_NOTE, NULL, NULL,
				 "%s %s sends its matches to user space, where they are aggregated: %s",
				 program_sort(&program->rules[i]), program_text(program, program->rules[i].name),
				 why_not);
	alloc_free(delivered);
}
