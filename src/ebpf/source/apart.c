// SPDX-License-Identifier: BSD-2-Clause
/* Finds the units that are about a few calls, and attaches them to these calls' own tracepoints. */

#include "ebpf/source/apart.h"

#include "ebpf/kernel/attach-tracefs.h"
#include "ebpf/path/value.h"
#include "ebpf/source/calls.h"
#include "meaning/meaning.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

/* Detaching takes the kernel some 30 ms for each. */
enum { APART_MAX = 4 };

/* What tracefs has: the number of the call (4 bytes) at 8; of an exit, its result at 16. */
enum { WORD = 8, NUMBER_OFFSET = 8, RESULT_OFFSET = 16 };

static const char begins[] = "raw_syscalls:sys_enter", ends[] = "raw_syscalls:sys_exit";

/* Those that a busy program may make more often than all others together. */
static bool is_frequent(uint64_t call)
{
	static const uint16_t calls[] = { SYS_read,  SYS_write,  SYS_futex, SYS_recvfrom, SYS_sendto,  SYS_epoll_wait,
					  SYS_readv, SYS_writev, SYS_ioctl, SYS_lseek,    SYS_recvmsg, SYS_sendmsg };

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (call == calls[i])
			return true;
	return false;
}

/* Tracepoints have the names of the kernel's functions. */
static const char *tracepoint_name(const char *call)
{
	static const char *const others[][2] = { { "stat", "newstat" },        { "fstat", "newfstat" },
						 { "lstat", "newlstat" },      { "uname", "newuname" },
						 { "sendfile", "sendfile64" }, { "umount2", "umount" } };

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (strcmp(others[i][0], call) == 0)
			return others[i][1];
	return call;
}

/* Stores the call's own tracepoint. Returns 0, -ENOENT (it has none), -ENOMEM. */
static int find_tracepoint(struct source_plan *plan, const struct source_unit *unit, uint64_t call,
			   struct source_call *found)
{
	char name[MEANING_NAME_BYTES];
	struct text_buffer text;

	text_init_fixed(&text, name, sizeof name);
	meaning_show(&text, meaning_find("syscall"), (struct meaning_number){ call, false });
	found->tracepoint =
		arena_format(plan->arena, "syscalls:%s_%s",
			     strcmp(unit->tracepoint, begins) == 0 ? "sys_enter" : "sys_exit", tracepoint_name(name));
	if (!found->tracepoint)
		return -ENOMEM;
	return attach_tracefs_id(found->tracepoint, &found->attach_id) ? -ENOENT : 0;
}

/* Whether the unit is at the tracepoint that raw programs share. */
static bool is_at(const struct source_unit *unit, const char *tracepoint)
{
	return !unit->classic && strcmp(unit->tracepoint, tracepoint) == 0;
}

/* Gives the unit its calls. Returns whether it qualifies, or -ENOMEM. */
static int find_calls(struct source_plan *plan, struct source_unit *unit)
{
	uint8_t wanted[SOURCE_CALLS];
	struct source_call calls[APART_MAX];
	size_t count = 0;

	if (unit->awaits || !source_calls_are_all(unit) || !source_calls_find(unit, wanted).number)
		return 0;
	for (uint64_t call = 0; call < SOURCE_CALLS; call++) {
		if (!wanted[call])
			continue;
		if (count == APART_MAX || is_frequent(call))
			return 0;
		int result = find_tracepoint(plan, unit, call, &calls[count++]);

		if (result)
			return result == -ENOMEM ? result : 0;
	}
	unit->apart = count ? arena_zero(plan->arena, count, sizeof *unit->apart) : NULL;
	if (!unit->apart)
		return count ? -ENOMEM : 0;
	memcpy(unit->apart, calls, count * sizeof *calls);
	unit->apart_count = count;
	return 1;
}

/* Where one program has to stay, the others cost little beside it. */
static int plan_tracepoint(struct source_plan *plan, const char *tracepoint)
{
	int qualifies = 1;

	for (size_t i = 0; i < plan->unit_count && qualifies > 0; i++) {
		struct source_unit *unit = &plan->units[i];

		/* What a unit awaits is given back at each end of a call. */
		if (unit->awaits && strcmp(tracepoint, ends) == 0)
			qualifies = 0;
		else if (is_at(unit, tracepoint))
			qualifies = find_calls(plan, unit);
		if (qualifies > 0 && unit->apart_count && unit->counts_others && ebpf_runs_32bit())
			qualifies = 0;
	}
	for (size_t i = 0; i < plan->unit_count; i++) {
		struct source_unit *unit = &plan->units[i];

		if (!is_at(unit, tracepoint))
			continue;
		if (qualifies > 0)
			unit->counts_others = false;
		else
			unit->apart_count = 0;
	}
	return qualifies < 0 ? qualifies : 0;
}

int source_apart_plan(struct source_plan *plan, const struct ebpf_features *features)
{
	int result = 0;

#if defined(__x86_64__) /* whose numbers the names are of */
	if (features->counts_misses)
		result = plan_tracepoint(plan, begins);
	if (features->counts_misses && !result)
		result = plan_tracepoint(plan, ends);
#endif
	return result;
}

void source_apart_emit(struct ebpf_asm *as, const struct source_unit *unit)
{
	int16_t arguments = ebpf_stack_take(as, 2 * WORD);

	ebpf_note(as, "the arguments, as raw_syscalls: has them");
	ebpf_call(as, BPF_FUNC_get_current_task_btf);
	ebpf_mov(as, R1, R0);
	ebpf_call(as, BPF_FUNC_task_pt_regs);
	ebpf_store(as, BPF_DW, R10, arguments, R0);
	if (strcmp(unit->tracepoint, begins) == 0)
		ebpf_load(as, BPF_W, R0, SOURCE_REG_CONTEXT, NUMBER_OFFSET);
	else
		ebpf_load(as, BPF_DW, R0, SOURCE_REG_CONTEXT, RESULT_OFFSET);
	ebpf_store(as, BPF_DW, R10, arguments + WORD, R0);
	ebpf_mov(as, SOURCE_REG_CONTEXT, R10);
	ebpf_alu_imm(as, BPF_ADD, SOURCE_REG_CONTEXT, arguments);
}
