// SPDX-License-Identifier: BSD-2-Clause
/* Decides who is in scope. The map's pages are shared with the kernel, so a bit that is set here holds at once. */

#include "ebpf/source/scope.h"

#include "base/alloc.h"
#include "base/proc.h"
#include "ebpf/kernel/attach.h"
#include "ebpf/kernel/load.h"
#include "ebpf/path/resolve.h"
#include "ebpf/path/value.h"
#include "ebpf/source/scope-children.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BIRTH_TRACEPOINT "task_newtask"

enum {
	IDS_MAX = 4 * 1024 * 1024, /* the kernel's own limit, PID_MAX_LIMIT */
	IDS_MIN = 32768,
	WORD_BITS = 64,
};

/* Inode of the initial pid namespace, PROC_PID_INIT_INO: part of the kernel's interface. */
static const ino_t initial_namespace = 0xEFFFFFFC;

struct scope {
	enum ebpf_scope kind;
	uint32_t own;  /* our process, as the initial namespace numbers it */
	bool can_name; /* our ids are those of the initial namespace */
	uint32_t ids;  /* covered: 0 .. ids - 1 */
	int map, program, link;
	uint64_t *words;
	size_t bytes;
};

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

static int make_map(struct scope *scope, struct asterism_diag *diag)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	scope->ids = read_ids();
	scope->map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "scope", 4, scope->ids / 8, 1, &options);
	if (scope->map < 0)
		return diag_error(diag, NULL, scope->map, "the set of observed processes cannot be made: %s",
				  strerror(-scope->map));
	scope->bytes = (scope->ids / 8 + page - 1) / page * page;
	scope->words = mmap(NULL, scope->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, scope->map, 0);
	if (scope->words == MAP_FAILED) {
		scope->words = NULL;
		return diag_error(diag, NULL, -errno, "the set of observed processes cannot be mapped: %s",
				  strerror(errno));
	}
	return 0;
}

/* r1 = the address of the word with id's bit, r0 = that bit; goes to label for ids beyond the set. */
static void emit_bit(const struct scope *scope, struct ebpf_asm *as, uint8_t id, uint32_t label)
{
	ebpf_jump_if_imm(as, BPF_JGE, id, (int32_t)scope->ids, label);
	ebpf_mov(as, R0, id);
	ebpf_alu_imm(as, BPF_RSH, R0, 6);
	ebpf_alu_imm(as, BPF_LSH, R0, 3);
	ebpf_load_value(as, R1, scope->map, 0);
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

void scope_emit_test(const struct scope *scope, struct ebpf_asm *as, uint8_t id, uint32_t label)
{
	if (scope->kind == EBPF_SCOPE_ALL) {
		scope_emit_foreign(scope, as, id, label);
		return;
	}
	ebpf_jump_if_imm(as, BPF_JGE, id, (int32_t)scope->ids, label);
	ebpf_mov(as, R0, id);
	ebpf_alu_imm(as, BPF_RSH, R0, 3);
	ebpf_load_value(as, R1, scope->map, 0);
	ebpf_alu(as, BPF_ADD, R1, R0);
	ebpf_load(as, BPF_B, R1, R1, 0);
	ebpf_mov(as, R0, id);
	ebpf_alu_imm(as, BPF_AND, R0, 7);
	ebpf_alu(as, BPF_RSH, R1, R0);
	ebpf_alu_imm(as, BPF_AND, R1, 1);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, 0, label);
}

/* Emits a value of the new task; paths are ours, so failing to parse one is a defect. */
static int emit_task_value(struct ebpf_asm *as, struct source_binding *binding, const char *path)
{
	static const struct source_style style = { 0 };
	struct source_node *node;
	int result = source_parse_path(path, binding->arena, &node, binding->reason, binding->size);

	if (!result)
		result = source_resolve_integer(binding, node);
	if (!result)
		source_emit_value(as, &style, node);
	return result;
}

/* A new process has its parent's bit, or none. New threads of a process change nothing. */
static int emit_birth(const struct scope *scope, struct ebpf_asm *as, struct source_binding *binding)
{
	uint32_t out = ebpf_label(as), clear = ebpf_label(as);

	ebpf_note(as, "a new process, not a thread?");
	ebpf_mov(as, SOURCE_REG_CONTEXT, R1);
	int result = emit_task_value(as, binding, "arg0->tgid");

	ebpf_mov(as, R7, R0);
	if (!result)
		result = emit_task_value(as, binding, "arg0->pid");
	ebpf_jump_if(as, BPF_JNE, R0, R7, out);
	if (scope->kind == EBPF_SCOPE_TREE) {
		ebpf_note(as, "in scope if its parent is");
		ebpf_call(as, BPF_FUNC_get_current_pid_tgid);
		ebpf_mov(as, R8, R0);
		ebpf_alu_imm(as, BPF_RSH, R8, 32);
		scope_emit_test(scope, as, R8, clear);
		emit_bit(scope, as, R7, out);
		ebpf_emit(as, insn_atomic(BPF_DW, BPF_OR, R1, 0, R0));
		ebpf_jump(as, out);
	}
	ebpf_bind(as, clear);
	ebpf_note(as, "out of scope, whichever process had the number before");
	emit_bit(scope, as, R7, out);
	ebpf_alu_imm(as, BPF_XOR, R0, -1);
	ebpf_emit(as, insn_atomic(BPF_DW, BPF_AND, R1, 0, R0));
	ebpf_bind(as, out);
	ebpf_mov_imm(as, R0, 0);
	ebpf_exit(as);
	return result;
}

static int load_birth(struct scope *scope, const struct scope_options *options, struct asterism_diag *diag)
{
	char reason[256];
	struct source_binding binding = { .btf = options->btf, .reason = reason, .size = sizeof reason };
	struct ebpf_load_options load = {
		.name = "scope",
		.type = BPF_PROG_TYPE_TRACING,
		.attach_type = BPF_TRACE_RAW_TP,
		.features = options->features,
	};

	if (btf_kernel_tracepoint(options->btf, BIRTH_TRACEPOINT, &binding.tracepoint))
		return diag_error(
			diag, NULL, -EOPNOTSUPP,
			"new processes cannot be followed: the kernel has no tracepoint task:" BIRTH_TRACEPOINT);
	struct ebpf_asm *as = ebpf_asm_new();

	binding.arena = arena_new();
	load.attach_btf_id = binding.tracepoint.id;
	int result = as && binding.arena ? emit_birth(scope, as, &binding) : -ENOMEM;

	if (!result) {
		scope->program = ebpf_load_program(as, &load, diag);
		result = scope->program < 0 ? scope->program : 0;
	} else if (result == -ENOMEM) {
		diag_no_memory(diag);
	} else {
		result = diag_error(diag, NULL, -EOPNOTSUPP, "new processes cannot be followed: %s", reason);
	}
	arena_free(binding.arena);
	ebpf_asm_free(as);
	return result;
}

int scope_new(const struct scope_options *options, struct asterism_diag *diag, struct scope **made)
{
	struct scope *scope = alloc_zero(1, sizeof *scope);
	int result = 0;

	if (!scope)
		return diag_no_memory(diag);
	scope->kind = options->kind;
	scope->map = scope->program = scope->link = -1;
	scope->own = (uint32_t)getpid();
	scope->can_name = ebpf_ids_are_own();
	if (!scope->can_name)
		result = ask_own_id(options->features, diag, &scope->own);
	if (!result && scope->kind != EBPF_SCOPE_ALL) {
		result = make_map(scope, diag);
		if (!result)
			result = load_birth(scope, options, diag);
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
	if (scope->link >= 0)
		close(scope->link);
	if (scope->program >= 0)
		close(scope->program);
	if (scope->words)
		munmap(scope->words, scope->bytes);
	if (scope->map >= 0)
		close(scope->map);
	alloc_free(scope);
}

int scope_attach(struct scope *scope, struct asterism_diag *diag)
{
	if (scope->kind == EBPF_SCOPE_ALL)
		return 0;
	scope->link = attach_raw(scope->program, "task:" BIRTH_TRACEPOINT, diag);
	return scope->link < 0 ? scope->link : 0;
}

/* Sets a bit; true when it was not set before. */
static bool set(struct scope *scope, uint32_t id)
{
	uint64_t bit = UINT64_C(1) << (id % WORD_BITS);

	return !(__atomic_fetch_or(&scope->words[id / WORD_BITS], bit, __ATOMIC_RELAXED) & bit);
}

bool scope_has(const struct scope *scope, pid_t pid)
{
	if (scope->kind == EBPF_SCOPE_ALL)
		return (uint32_t)pid != scope->own;
	if (pid <= 0 || (uint32_t)pid >= scope->ids)
		return false;
	return __atomic_load_n(&scope->words[(uint32_t)pid / WORD_BITS], __ATOMIC_RELAXED) >> (pid % WORD_BITS) & 1;
}

/* Processes whose children are still to be asked for. */
struct pending {
	struct scope *scope;
	pid_t *pids;
	size_t count, capacity;
};

/*
 * A process enters the set before its children are listed: those born later inherit, those born before are in the
 * list. So a process that is in the set already needs no second look.
 */
static int enter(void *context, pid_t pid)
{
	struct pending *pending = context;

	if (pid <= 0 || (uint32_t)pid >= pending->scope->ids || (uint32_t)pid == pending->scope->own)
		return 0;
	if (!set(pending->scope, (uint32_t)pid))
		return 0;
	if (alloc_grow(&pending->pids, &pending->capacity, pending->count, sizeof *pending->pids))
		return -ENOMEM;
	pending->pids[pending->count++] = pid;
	return 0;
}

int scope_add(struct scope *scope, pid_t pid)
{
	struct pending pending = { .scope = scope };
	int result = 0;

	if (scope->kind == EBPF_SCOPE_ALL)
		return 0;
	if (!scope->can_name)
		return -EOPNOTSUPP;
	if (pid <= 0 || (uint32_t)pid >= scope->ids || (uint32_t)pid == scope->own)
		return -EINVAL;
	if (kill(pid, 0) < 0 && errno == ESRCH)
		return -ESRCH;
	if (scope->kind == EBPF_SCOPE_PIDS) {
		set(scope, (uint32_t)pid);
		return 0;
	}
	result = enter(&pending, pid);
	while (!result && pending.count > 0)
		result = scope_children(pending.pids[--pending.count], enter, &pending);
	alloc_free(pending.pids);
	return result;
}
