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

#if defined(__x86_64__) /* whose numbers the names are of */
enum { KNOWS_NAMES = true, WAITS_OF_EPOLL = SYS_epoll_wait };
#else
enum { KNOWS_NAMES = false, WAITS_OF_EPOLL = SYS_epoll_pwait };
#endif

/* What tracefs has: the number of the call (4 bytes) at 8; of an exit, its result at 16. */
enum { WORD = 8, NUMBER_OFFSET = 8, RESULT_OFFSET = 16 };

static const char begins[] = "raw_syscalls:sys_enter", ends[] = "raw_syscalls:sys_exit";

/* Those that a busy program may make more often than all others together. */
static bool is_frequent(uint64_t call)
{
	static const uint16_t calls[] = { SYS_read,  SYS_write,  SYS_futex, SYS_recvfrom, SYS_sendto,  WAITS_OF_EPOLL,
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

/* What a call is called. */
struct call_name {
	char text[MEANING_NAME_BYTES];
};

static struct call_name name_of(uint64_t call)
{
	struct call_name name;
	struct text_buffer text;

	text_init_fixed(&text, name.text, sizeof name.text);
	meaning_show(&text, meaning_find("syscall"), (struct meaning_number){ call, false });
	return name;
}

/* What is decided of a tracepoint. */
struct decision {
	struct source_plan *plan;
	const char *tracepoint;
	bool asks;                       /* tracefs; else what is closed to us is taken to be there */
	const struct source_unit *stays; /* the first that does not qualify; NULL: there is none at this tracepoint */
	const char *why;                 /* not: a clause */
};

/* Takes why not, a text of the arena or a lasting one; NULL: there was no memory for it. Returns 0, -ENOMEM. */
static int refuse(struct decision *decision, const char *why)
{
	decision->why = why;
	return why ? 0 : -ENOMEM;
}

/* Stores the call's own tracepoint. Returns 1; 0 (it has none), -ENOMEM. */
static int find_tracepoint(struct decision *decision, uint64_t call, struct source_call *found)
{
	struct arena *arena = decision->plan->arena;

	found->tracepoint = arena_format(arena, "syscalls:%s_%s",
					 strcmp(decision->tracepoint, begins) == 0 ? "sys_enter" : "sys_exit",
					 tracepoint_name(name_of(call).text));
	if (!found->tracepoint)
		return -ENOMEM;
	int result = attach_tracefs_id(found->tracepoint, &found->attach_id);

	if (result == -ENOENT)
		return refuse(decision, arena_format(arena, "this kernel has no tracepoint %s", found->tracepoint));
	if (!result || (!decision->asks && (result == -EACCES || result == -EPERM)))
		return 1;
	return refuse(decision, arena_format(arena, "tracefs does not give the number of %s: %s", found->tracepoint,
					     strerror(-result)));
}

/* Whether the unit is at the tracepoint that raw programs share. */
static bool is_at(const struct source_unit *unit, const char *tracepoint)
{
	return !unit->classic && strcmp(unit->tracepoint, tracepoint) == 0;
}

/* The calls that are wanted, the first APART_MAX of which are stored. Returns how many, and one that is frequent or
 * SOURCE_CALLS. */
static size_t count_calls(const uint8_t wanted[SOURCE_CALLS], uint64_t first[APART_MAX], uint64_t *frequent)
{
	size_t count = 0;

	*frequent = SOURCE_CALLS;
	for (uint64_t call = 0; call < SOURCE_CALLS; call++) {
		if (!wanted[call])
			continue;
		if (count < APART_MAX)
			first[count] = call;
		if (*frequent == SOURCE_CALLS && is_frequent(call))
			*frequent = call;
		count++;
	}
	return count;
}

/* Gives the unit its calls. Returns whether it qualifies, or -ENOMEM. */
static int find_calls(struct decision *decision, struct source_unit *unit)
{
	uint8_t wanted[SOURCE_CALLS];
	uint64_t calls[APART_MAX], frequent;
	struct arena *arena = decision->plan->arena;
	int result = 1;

	if (unit->awaits)
		return refuse(decision,
			      "strings of calls that cannot be read where they begin are read where they end");
	if (!source_calls_are_all(unit) || !source_calls_find(unit, wanted).number)
		return refuse(decision, "it is not about certain calls alone");
	size_t count = count_calls(wanted, calls, &frequent);

	if (count == 0)
		return refuse(decision, "no call can be one of its events");
	if (count > APART_MAX)
		return refuse(decision, arena_format(arena, "its calls are %zu, more than %d", count, APART_MAX));
	if (frequent < SOURCE_CALLS)
		return refuse(decision,
			      arena_format(arena, "%s, one of its calls, is among those that programs make most",
					   name_of(frequent).text));
	unit->apart = arena_zero(arena, count, sizeof *unit->apart);
	if (!unit->apart)
		return -ENOMEM;
	for (size_t i = 0; i < count && result > 0; i++)
		result = find_tracepoint(decision, calls[i], &unit->apart[i]);
	unit->apart_count = result > 0 ? count : 0;
	if (result > 0 && unit->counts_others && ebpf_runs_32bit())
		return refuse(decision, "it counts calls of 32-bit code, which tracepoints of single calls leave out");
	return result;
}

/* Whether all units at the tracepoint qualify, or -ENOMEM. */
static int all_qualify(struct decision *decision)
{
	struct source_plan *plan = decision->plan;
	int qualifies = 1;

	for (size_t i = 0; i < plan->unit_count && qualifies > 0; i++) {
		struct source_unit *unit = &plan->units[i];

		/* What a unit awaits is given back at each end of a call. */
		if (unit->awaits && strcmp(decision->tracepoint, ends) == 0) {
			qualifies = refuse(decision, "what could not be read where calls begin is read here");
		} else if (is_at(unit, decision->tracepoint)) {
			qualifies = find_calls(decision, unit);
			decision->stays = qualifies > 0 ? NULL : unit;
		}
	}
	return qualifies;
}

/* What the unit does not say of itself: where one program has to stay, the others cost little beside it. */
static const char *why_of(const struct decision *decision, const struct source_unit *unit, bool is_apart)
{
	struct arena *arena = decision->plan->arena;

	if (is_apart)
		return arena_format(arena,
				    "its calls are %zu, at most %d and none that programs make most: others "
				    "cost nothing",
				    unit->apart_count, APART_MAX);
	if (decision->stays == unit)
		return decision->why;
	if (!decision->stays)
		return arena_format(arena, "another program has to be there: %s", decision->why);
	return arena_format(arena, "it stands with the other programs there, of which that of %s has to: %s",
			    decision->stays->entries[0].want->type->name, decision->why);
}

static int plan_tracepoint(struct source_plan *plan, const char *tracepoint, bool asks)
{
	struct decision decision = { .plan = plan, .tracepoint = tracepoint, .asks = asks };
	int qualifies = all_qualify(&decision);

	for (size_t i = 0; i < plan->unit_count && qualifies >= 0; i++) {
		struct source_unit *unit = &plan->units[i];

		if (!is_at(unit, tracepoint))
			continue;
		unit->why = why_of(&decision, unit, qualifies > 0);
		if (!unit->why)
			qualifies = -ENOMEM;
		if (qualifies > 0)
			unit->counts_others = false;
		else
			unit->apart_count = 0;
	}
	return qualifies < 0 ? qualifies : 0;
}

/* No program is apart. */
static void keep_all(struct source_plan *plan, const char *why)
{
	for (size_t i = 0; i < plan->unit_count; i++)
		if (is_at(&plan->units[i], begins) || is_at(&plan->units[i], ends))
			plan->units[i].why = why;
}

int source_apart_plan(struct source_plan *plan, const struct ebpf_features *features)
{
	int result = 0;

	if (!KNOWS_NAMES) {
		keep_all(plan, "programs are attached to tracepoints of single calls on x86-64 only");
	} else if (features ? !features->counts_misses : !ebpf_counts_misses()) {
		keep_all(plan, "this kernel does not count misses at tracepoints of single calls (Linux 6.7 does)");
	} else {
		result = plan_tracepoint(plan, begins, features);
		result = result ? result : plan_tracepoint(plan, ends, features);
	}
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
	ebpf_address(as, SOURCE_REG_CONTEXT, R10, arguments);
}
