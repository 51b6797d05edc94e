// SPDX-License-Identifier: BSD-2-Clause
/*
 * The map of the processes in scope. The map's pages are shared with the kernel, so a bit that is set here holds at
 * once.
 */

#include "ebpf/source/scope.h"

#include "base/alloc.h"
#include "base/proc.h"
#include "ebpf/kernel/array.h"
#include "ebpf/kernel/attach.h"
#include "ebpf/kernel/load.h"
#include "ebpf/path/resolve.h"
#include "ebpf/path/value.h"
#include "ebpf/source/scope-children.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIRTH_PLACE "task:task_newtask"

enum {
	IDS_MAX = 4 * 1024 * 1024, /* the kernel's own limit, PID_MAX_LIMIT */
	IDS_MIN = 32768,
	WORD_BITS = 64,
};

/* Inode of the initial pid namespace, PROC_PID_INIT_INO: part of the kernel's interface. */
static const ino_t initial_namespace = 0xEFFFFFFC;

enum { PROGRAMS_MAX = 5 };

struct scope {
	enum ebpf_scope kind; /* with a filter over everything a tree whose roots the filter finds */
	const struct ebpf_scope_filter *filter;
	bool everywhere;        /* the filter is over everything */
	uint32_t own;           /* our process, as the initial namespace numbers it */
	bool can_name;          /* our ids are those of the initial namespace */
	uint32_t ids;           /* covered: 0 .. ids - 1 */
	struct ebpf_array sets; /* the observed; then, with a filter that is not over everything, those it is about */
	struct {
		int program, link;
		const char *place;
	} programs[PROGRAMS_MAX];
	size_t program_count;
};

/* A second set stands behind the first. */
static bool has_base(const struct scope *scope)
{
	return scope->filter && !scope->everywhere;
}

static uint32_t scope_base(const struct scope *scope)
{
	return has_base(scope) ? scope->ids / 8 : 0;
}

static uint32_t read_ids(void)
{
	char text[32];
	unsigned long limit = 0;

	if (proc_read("/proc/sys/kernel/pid_max", text, sizeof text) > 0)
		limit = strtoul(text, NULL, 10);
	if (!limit || limit > IDS_MAX)
		limit = IDS_MAX;
	if (limit < IDS_MIN)
		limit = IDS_MIN;
	return (uint32_t)((limit + WORD_BITS - 1) / WORD_BITS * WORD_BITS);
}

bool ebpf_ids_are_own(void)
{
	struct stat status;

	return stat("/proc/self/ns/pid", &status) == 0 && status.st_ino == initial_namespace;
}

/* Our process's id as the kernel's helpers see it, learned from one of them. */
static int ask_own_id(const struct ebpf_features *features, struct asterism_diag *diag, uint32_t *own)
{
	struct ebpf_load_options options = { .name = "own_id",
					     .type = BPF_PROG_TYPE_RAW_TRACEPOINT,
					     .features = features };
	LIBBPF_OPTS(bpf_test_run_opts, run);
	struct ebpf_asm *as = ebpf_asm_new();
	int result, fd;

	if (!as)
		return diag_no_memory(diag);
	ebpf_call(as, BPF_FUNC_get_current_pid_tgid);
	ebpf_alu_imm(as, BPF_RSH, R0, 32);
	ebpf_exit(as);
	fd = ebpf_load_program(as, &options, diag);
	ebpf_asm_free(as);
	if (fd < 0)
		return fd;
	result = bpf_prog_test_run_opts(fd, &run);
	close(fd);
	if (result)
		return diag_error(diag, NULL, -EOPNOTSUPP,
				  "this process cannot learn its own id outside the initial pid namespace: %s",
				  strerror(-result));
	*own = run.retval;
	return 0;
}

static int make_scope_map(struct scope *scope, struct asterism_diag *diag)
{
	scope->ids = read_ids();
	int result =
		ebpf_array_init(&scope->sets, "scope", scope->ids / 8 + scope_base(scope), 1, PROT_READ | PROT_WRITE);

	return result ? diag_error(diag, NULL, result, "cannot create the set of observed processes: %s",
				   strerror(-result))
		      : 0;
}

/* A set of processes in the map, by its place there, and which one of them. */
struct member {
	uint32_t set;
	uint8_t id; /* a register */
};

/* r1 = the address of the word with id's bit, r0 = that bit; goes to label for ids beyond the set. */
static void emit_bit(const struct scope *scope, struct ebpf_asm *as, struct member member, uint32_t label)
{
	uint8_t id = member.id;

	ebpf_jump_if_imm(as, BPF_JGE, id, (int32_t)scope->ids, label);
	ebpf_mov(as, R0, id);
	ebpf_alu_imm(as, BPF_RSH, R0, 6);
	ebpf_alu_imm(as, BPF_LSH, R0, 3);
	ebpf_load_value(as, R1, scope->sets.fd, member.set);
	ebpf_alu(as, BPF_ADD, R1, R0);
	ebpf_mov(as, R2, id);
	ebpf_alu_imm(as, BPF_AND, R2, WORD_BITS - 1);
	ebpf_mov_imm(as, R0, 1);
	ebpf_alu(as, BPF_LSH, R0, R2);
}

void scope_emit_own(const struct scope *scope, struct ebpf_asm *as, uint8_t id, uint32_t label)
{
	ebpf_jump_if_imm(as, BPF_JEQ, id, (int32_t)scope->own, label);
}

void scope_emit_foreign(const struct scope *scope, struct ebpf_asm *as, uint8_t id, uint32_t label)
{
	if (scope->kind == EBPF_SCOPE_ALL)
		scope_emit_own(scope, as, id, label);
}

/* Goes to label unless the process is in the set. */
static void emit_member_test(const struct scope *scope, struct ebpf_asm *as, struct member member, uint32_t label)
{
	uint8_t id = member.id;

	ebpf_jump_if_imm(as, BPF_JGE, id, (int32_t)scope->ids, label);
	ebpf_mov(as, R0, id);
	ebpf_alu_imm(as, BPF_RSH, R0, 3);
	ebpf_load_value(as, R1, scope->sets.fd, member.set);
	ebpf_alu(as, BPF_ADD, R1, R0);
	ebpf_load(as, BPF_B, R1, R1, 0);
	ebpf_mov(as, R0, id);
	ebpf_alu_imm(as, BPF_AND, R0, 7);
	ebpf_alu(as, BPF_RSH, R1, R0);
	ebpf_alu_imm(as, BPF_AND, R1, 1);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, label);
}

void scope_emit_test(const struct scope *scope, struct ebpf_asm *as, uint8_t id, uint32_t label)
{
	if (scope->kind == EBPF_SCOPE_ALL)
		scope_emit_foreign(scope, as, id, label);
	else
		emit_member_test(scope, as, (struct member){ 0, id }, label);
}

/* Emits a value of a task; paths are ours, so failing to parse one is a defect. */
static int emit_task_value(struct ebpf_asm *as, struct source_binding *binding, const char *path)
{
	static const struct source_style style = { 0 };
	struct source_node *node;
	int result = path_parse_path(path, binding->arena, &node, binding->reason, binding->size);

	if (!result)
		result = path_resolve_integer(binding, node);
	if (!result)
		path_emit_value(as, &style, node);
	return result;
}

static void memory_enter(const struct scope *scope, struct ebpf_asm *as, struct member member, uint32_t out)
{
	emit_bit(scope, as, member, out);
	ebpf_emit(as, insn_atomic(BPF_DW, BPF_OR, R1, 0, R0));
}

static void emit_leave(const struct scope *scope, struct ebpf_asm *as, struct member member, uint32_t out)
{
	emit_bit(scope, as, member, out);
	ebpf_alu_imm(as, BPF_XOR, R0, -1);
	ebpf_emit(as, insn_atomic(BPF_DW, BPF_AND, R1, 0, R0));
}

/* r7 gets the bit that its parent, r8, has in the set, or none. */
static void codegen_inherit(const struct scope *scope, struct ebpf_asm *as, uint32_t set, uint32_t out)
{
	uint32_t clear = ebpf_label(as), end = ebpf_label(as);

	if (scope->kind == EBPF_SCOPE_TREE) {
		ebpf_note(as, "in scope if its parent is");
		emit_member_test(scope, as, (struct member){ set, R8 }, clear);
		memory_enter(scope, as, (struct member){ set, R7 }, out);
		ebpf_jump(as, end);
	}
	ebpf_bind(as, clear);
	ebpf_note(as, "out of scope, whoever had the number before");
	emit_leave(scope, as, (struct member){ set, R7 }, out);
	ebpf_bind(as, end);
}

/* r7, which a filter is about, is observed if it passes. */
static int emit_judgement(const struct scope *scope, struct ebpf_asm *as, struct source_binding *binding,
			  const struct scope_filter_subject *subject, uint32_t out)
{
	ebpf_note(as, "in scope if it passes the filter");
	scope_emit_own(scope, as, R7, out);
	if (has_base(scope))
		emit_member_test(scope, as, (struct member){ scope_base(scope), R7 }, out);
	int result = scope_filter_emit(scope->filter, subject, as, binding, out);

	memory_enter(scope, as, (struct member){ 0, R7 }, out);
	return result;
}

/* r7 = the process of the task at path; goes to label unless the task leads it. */
static int emit_leader(struct ebpf_asm *as, struct source_binding *binding, const char *task, uint32_t label)
{
	char path[32];
	int result;

	snprintf(path, sizeof path, "%s->tgid", task);
	result = emit_task_value(as, binding, path);
	ebpf_mov(as, R7, R0);
	snprintf(path, sizeof path, "%s->pid", task);
	if (!result)
		result = emit_task_value(as, binding, path);
	ebpf_jump_if(as, BPF_JNE, R0, R7, label);
	return result;
}

/* A new process has its parent's bits, or none. New threads of a process change nothing. */
static int emit_birth(const struct scope *scope, struct ebpf_asm *as, struct source_binding *binding)
{
	static const struct scope_filter_subject child = { "arg0", "arg0->comm" };
	uint32_t out = ebpf_label(as);

	ebpf_note(as, "a new process, not a thread?");
	ebpf_mov(as, SOURCE_REG_CONTEXT, R1);
	int result = emit_leader(as, binding, child.task, out);

	if (scope->kind == EBPF_SCOPE_TREE) {
		ebpf_call(as, BPF_FUNC_get_current_pid_tgid);
		ebpf_mov(as, R8, R0);
		ebpf_alu_imm(as, BPF_RSH, R8, 32);
	}
	if (has_base(scope))
		codegen_inherit(scope, as, scope_base(scope), out);
	codegen_inherit(scope, as, 0, out);
	if (!result && scope->filter)
		result = emit_judgement(scope, as, binding, &child, out);
	ebpf_bind(as, out);
	ebpf_return(as, 0);
	return result;
}

/* Where a process may begin to pass a filter. */
struct change {
	const char *place;
	struct scope_filter_subject subject;
	bool for_users; /* only a change of the user, at the end of the calls that cause it */
};

static const struct change changes[] = {
	{ "task:task_rename", { "arg0", "arg1" }, false },
	{ "sched:sched_process_exec", { "arg0", "arg0->comm" }, false },
	{ "cgroup:cgroup_attach_task", { "arg2", "arg2->comm" }, false },
	{ "raw_syscalls:sys_exit", { "current", "current->comm" }, true },
};

_Static_assert(sizeof changes / sizeof *changes + 1 <= PROGRAMS_MAX, "there is room for all programs");

/* Goes to label unless a call that changes the user ends here. */
static int emit_user_calls(struct ebpf_asm *as, struct source_binding *binding, uint32_t label)
{
	static const int calls[] = { SYS_setuid, SYS_setreuid, SYS_setresuid };
	uint32_t meant = ebpf_label(as);
	int result = emit_task_value(as, binding, "arg0->orig_ax ? arg0->syscallno");

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		ebpf_jump_if_imm(as, BPF_JEQ, R0, calls[i], meant);
	ebpf_jump(as, label);
	ebpf_bind(as, meant);
	return result;
}

static int emit_change(const struct scope *scope, struct ebpf_asm *as, struct source_binding *binding,
		       const struct change *change)
{
	uint32_t out = ebpf_label(as);
	int result = 0;

	ebpf_mov(as, SOURCE_REG_CONTEXT, R1);
	if (change->for_users)
		result = emit_user_calls(as, binding, out);
	if (!result)
		result = emit_leader(as, binding, change->subject.task, out);
	if (!result)
		result = emit_judgement(scope, as, binding, &change->subject, out);
	ebpf_bind(as, out);
	ebpf_return(as, 0);
	return result;
}

static int complain_of_scope(struct asterism_diag *diag, const struct change *change, const char *reason)
{
	return diag_error(diag, NULL, -EOPNOTSUPP, "%s: %s",
			  change ? "cannot choose processes" : "cannot follow new processes", reason);
}

/* Emits and loads the program of a change, or of births: NULL. Returns its descriptor. */
static int load_scope_program(struct scope *scope, const struct scope_options *options, const struct change *change,
			      struct asterism_diag *diag)
{
	const char *place = change ? change->place : BIRTH_PLACE;
	char reason[256] = "";
	struct source_binding binding = { .btf = options->btf, .reason = reason, .size = sizeof reason };
	struct ebpf_load_options load = {
		.name = "scope",
		.type = BPF_PROG_TYPE_TRACING,
		.attach_type = BPF_TRACE_RAW_TP,
		.features = options->features,
	};

	snprintf(reason, sizeof reason, "the kernel has no tracepoint %s", place);
	if (btf_kernel_tracepoint(options->btf, strchr(place, ':') + 1, &binding.tracepoint))
		return complain_of_scope(diag, change, reason);
	struct ebpf_asm *as = ebpf_asm_new();

	binding.arena = arena_new();
	load.attach_btf_id = binding.tracepoint.id;
	int result = !as || !binding.arena ? -ENOMEM
		     : change              ? emit_change(scope, as, &binding, change)
					   : emit_birth(scope, as, &binding);

	if (!result)
		result = ebpf_load_program(as, &load, diag);
	else
		result = result == -ENOMEM ? diag_no_memory(diag) : complain_of_scope(diag, change, reason);
	arena_free(binding.arena);
	ebpf_asm_free(as);
	return result;
}

static int add_program(struct scope *scope, const struct scope_options *options, const struct change *change,
		       struct asterism_diag *diag)
{
	int fd = load_scope_program(scope, options, change, diag);

	if (fd < 0)
		return fd;
	scope->programs[scope->program_count].program = fd;
	scope->programs[scope->program_count].link = -1;
	scope->programs[scope->program_count++].place = change ? change->place : BIRTH_PLACE;
	return 0;
}

static int load_programs(struct scope *scope, const struct scope_options *options, struct asterism_diag *diag)
{
	int result = add_program(scope, options, NULL, diag);

	for (size_t i = 0; scope->filter && i < sizeof changes / sizeof *changes && !result; i++)
		if (!changes[i].for_users || scope->filter->user_count)
			result = add_program(scope, options, &changes[i], diag);
	return result;
}

int scope_new(const struct scope_options *options, struct asterism_diag *diag, struct scope **made)
{
	struct scope *scope = alloc_zero(1, sizeof *scope);
	int result = 0;

	if (!scope)
		return diag_no_memory(diag);
	scope->filter = options->filter;
	scope->everywhere = scope->filter && options->kind == EBPF_SCOPE_ALL;
	scope->kind = scope->everywhere ? EBPF_SCOPE_TREE : options->kind;
	scope->own = (uint32_t)getpid();
	scope->can_name = ebpf_ids_are_own();
	if (!scope->can_name && scope->filter)
		result = diag_error(diag, NULL, -EOPNOTSUPP,
				    "cannot choose processes outside the initial pid namespace");
	else if (!scope->can_name)
		result = ask_own_id(options->features, diag, &scope->own);
	if (!result && scope->kind != EBPF_SCOPE_ALL) {
		result = make_scope_map(scope, diag);
		if (!result)
			result = load_programs(scope, options, diag);
	}
	if (result)
		scope_free(scope);
	else
		*made = scope;
	return result;
}

void scope_free(struct scope *scope)
{
	if (!scope)
		return;
	for (size_t i = 0; i < scope->program_count; i++) {
		if (scope->programs[i].link >= 0)
			close(scope->programs[i].link);
		close(scope->programs[i].program);
	}
	ebpf_array_fini(&scope->sets);
	alloc_free(scope);
}

/* Sets a bit; true when it was not set before. */
static bool set_scope_bit(struct scope *scope, uint32_t set_at, uint32_t id)
{
	uint64_t bit = UINT64_C(1) << (id % WORD_BITS);
	uint64_t *word = (uint64_t *)scope->sets.memory + set_at / sizeof *word + id / WORD_BITS;

	return !(__atomic_fetch_or(word, bit, __ATOMIC_RELAXED) & bit);
}

static bool has_scope_pid(const struct scope *scope, uint32_t set_at, pid_t pid)
{
	const uint64_t *words = (const uint64_t *)scope->sets.memory + set_at / sizeof *words;

	if (pid <= 0 || (uint32_t)pid >= scope->ids)
		return false;
	return __atomic_load_n(&words[(uint32_t)pid / WORD_BITS], __ATOMIC_RELAXED) >> (pid % WORD_BITS) & 1;
}

bool scope_has(const struct scope *scope, pid_t pid)
{
	return scope->kind == EBPF_SCOPE_ALL ? (uint32_t)pid != scope->own : has_scope_pid(scope, 0, pid);
}

/* Processes whose children are still to be asked for. */
struct pending {
	struct scope *scope;
	uint32_t set;
	pid_t *pids;
	size_t count, capacity;
};

/*
 * A process enters the set before its children are listed: those born later inherit, those born before are in the
 * list. So whoever is in the set already needs no second look.
 */
static int enter_scope_pid(void *context, pid_t pid)
{
	struct pending *pending = context;

	if (pid <= 0 || (uint32_t)pid >= pending->scope->ids || (uint32_t)pid == pending->scope->own)
		return 0;
	if (!set_scope_bit(pending->scope, pending->set, (uint32_t)pid) || pending->scope->kind != EBPF_SCOPE_TREE)
		return 0;
	if (alloc_grow(&pending->pids, &pending->capacity, pending->count, sizeof *pending->pids))
		return -ENOMEM;
	pending->pids[pending->count++] = pid;
	return 0;
}

/* The process, and in a tree its descendants, enter the set. */
static int enter_all(struct scope *scope, uint32_t set_at, pid_t pid)
{
	struct pending pending = { .scope = scope, .set = set_at };
	int result = enter_scope_pid(&pending, pid);

	while (!result && pending.count > 0)
		result = scope_children(pending.pids[--pending.count], enter_scope_pid, &pending);
	alloc_free(pending.pids);
	return result;
}

/* A process that is there already is judged like one that changes. */
static int judge_process(void *context, int pid)
{
	struct scope *scope = context;

	if ((has_base(scope) && !has_scope_pid(scope, scope_base(scope), pid)) || has_scope_pid(scope, 0, pid) ||
	    !scope_filter_passes(scope->filter, pid))
		return 0;
	return enter_all(scope, 0, pid);
}

int scope_attach(struct scope *scope, struct asterism_diag *diag)
{
	for (size_t i = 0; i < scope->program_count; i++) {
		scope->programs[i].link = attach_raw(scope->programs[i].program, scope->programs[i].place, diag);
		if (scope->programs[i].link < 0)
			return scope->programs[i].link;
	}
	if (scope->everywhere && proc_each("/proc", judge_process, scope) == -ENOMEM)
		return diag_no_memory(diag);
	return 0;
}

int scope_add(struct scope *scope, pid_t pid)
{
	int result;

	if (scope->kind == EBPF_SCOPE_ALL || scope->everywhere)
		return 0;
	if (!scope->can_name)
		return -EOPNOTSUPP;
	if (pid <= 0 || (uint32_t)pid >= scope->ids || (uint32_t)pid == scope->own)
		return -EINVAL;
	if (kill(pid, 0) < 0 && errno == ESRCH)
		return -ESRCH;
	result = enter_all(scope, scope_base(scope), pid);
	if (!result && scope->filter)
		result = proc_each("/proc", judge_process, scope);
	return result;
}
