// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the stack of a thread, and detects whether it stood still meanwhile: it was on no CPU before and
 * afterwards, and has not been switched away from in between.
 */

#include "ebpf/thread-stack.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/errand.h"
#include "ebpf/kernel/array.h"
#include "ebpf/kernel/btf-path.h"
#include "ebpf/kernel/load.h"
#include "ebpf/memory/stack-copy.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { TRIES = 3, CONTEXT_TASK = 8 /* of struct bpf_iter__task */ };

/* Whether, and how often, it has been on a CPU. */
struct movement {
	uint64_t is_running, waited, interrupted;
};

/* Shared with the program. */
struct seen {
	uint64_t wanted, is_met; /* the thread's id; it was there */
	uint64_t tid, pid, started_ns, memory;
	char comm[EVENT_COMM_BYTES];
	struct movement before, after;
	struct stack_image image;
};

struct ebpf_thread_reader {
	struct errand *errand; /* NULL: not begun yet */
	int program;
	struct ebpf_array map;
	struct seen *seen; /* in it */
};

/* What is read of struct task_struct, all of it less than 2^31. */
static const struct field {
	const char *member;
	uint32_t to, bytes;
	bool moves, is_optional;
} fields[] = {
	/* Where there is one CPU only, we are on it. */
	{ "on_cpu", offsetof(struct movement, is_running), 4, .moves = true, .is_optional = true },
	{ "nvcsw", offsetof(struct movement, waited), 8, .moves = true },
	{ "nivcsw", offsetof(struct movement, interrupted), 8, .moves = true },
	{ "pid", offsetof(struct seen, tid), 4 },
	{ "tgid", offsetof(struct seen, pid), 4 },
	{ "start_time", offsetof(struct seen, started_ns), 8 },
	{ "mm", offsetof(struct seen, memory), 8 },
	{ "comm", offsetof(struct seen, comm), EVENT_COMM_BYTES },
};

enum { FIELDS = sizeof fields / sizeof *fields };

/* Where they are in this kernel. */
struct places {
	uint32_t iterator, file; /* file: of struct vm_area_struct */
	uint32_t offsets[FIELDS];
	bool are_there[FIELDS];
};

/* Where the member of the struct is; false: nowhere. */
static bool find_member_offset(const struct btf_kernel *btf, const char *name, const char *member, uint32_t *offset)
{
	const struct event_path_step hop = { .member = member };
	const struct btf_path path = {
		.type = btf_kernel_find(btf, BTF_KIND_STRUCT, name), .from_struct = true, .hops = &hop, .count = 1
	};
	struct btf_access access;
	char reason[128];

	if (!path.type || btf_path_resolve(btf, &path, &access, reason, sizeof reason))
		return false;
	*offset = access.spot.offset;
	return true;
}

static int find_member_offsets(struct places *places, struct asterism_diag *diag)
{
	struct btf_kernel *btf;
	int result = btf_kernel_open(diag, &btf);

	if (result)
		return result;
	places->iterator = btf_kernel_find(btf, BTF_KIND_FUNC, "bpf_iter_task");
	bool is_complete = places->iterator && find_member_offset(btf, "vm_area_struct", "vm_file", &places->file);

	for (size_t i = 0; i < FIELDS; i++) {
		places->are_there[i] = find_member_offset(btf, "task_struct", fields[i].member, &places->offsets[i]);
		is_complete &= places->are_there[i] || fields[i].is_optional;
	}
	btf_kernel_close(btf);
	return is_complete ? 0 : diag_error(diag, NULL, -EOPNOTSUPP, "this kernel cannot iterate over tasks");
}

/* Reads those fields of the task in r6 that move, or those that do not, to r8 + to. */
static void emit_fields(struct ebpf_asm *as, const struct places *places, bool moves, size_t to)
{
	for (size_t i = 0; i < FIELDS; i++) {
		if (!places->are_there[i] || fields[i].moves != moves)
			continue;
		ebpf_address(as, R1, R8, (int32_t)(to + fields[i].to));
		ebpf_mov_imm(as, R2, fields[i].bytes);
		ebpf_address(as, R3, R6, (int32_t)places->offsets[i]);
		ebpf_call(as, BPF_FUNC_probe_read_kernel);
	}
}

/* Before 6.1 the kernel goes along all tasks. */
static void emit_thread_lookup(struct ebpf_asm *as, const struct places *places, int map)
{
	uint32_t end = ebpf_label(as);

	ebpf_note(as, "look into a thread");
	ebpf_load(as, BPF_DW, R6, R1, CONTEXT_TASK);
	ebpf_jump_if_imm(as, BPF_JEQ, R6, 0, end);
	ebpf_load_value(as, R8, map, 0);
	emit_fields(as, places, false, 0);
	ebpf_load(as, BPF_DW, R1, R8, offsetof(struct seen, tid));
	ebpf_load(as, BPF_DW, R2, R8, offsetof(struct seen, wanted));
	ebpf_jump_if(as, BPF_JNE, R1, R2, end);
	emit_fields(as, places, true, offsetof(struct seen, before));
	stack_image_emit(as, offsetof(struct seen, image), &(struct stack_owner){ R6, places->file });
	emit_fields(as, places, true, offsetof(struct seen, after));
	ebpf_store_imm(as, BPF_DW, R8, offsetof(struct seen, is_met), 1);
	ebpf_bind(as, end);
	ebpf_return(as, 0);
}

static int load_thread_reader(struct ebpf_thread_reader *reader, struct asterism_diag *diag)
{
	const struct ebpf_features features = { .loop = true };
	struct places places = { .iterator = 0 };
	int result = find_member_offsets(&places, diag);
	struct ebpf_asm *as = result ? NULL : ebpf_asm_new();

	if (!as)
		return result ? result : diag_no_memory(diag);
	const struct ebpf_load_options options = {
		.name = "thread_stack",
		.file = "thread_stack",
		.type = BPF_PROG_TYPE_TRACING,
		.attach_type = BPF_TRACE_ITER,
		.attach_btf_id = places.iterator,
		.may_wait = true,
		.features = &features,
	};

	emit_thread_lookup(as, &places, reader->map.fd);
	reader->program = ebpf_load_program(as, &options, diag);
	ebpf_asm_free(as);
	return reader->program < 0 ? reader->program : 0;
}

static int make_thread_memory(struct ebpf_thread_reader *reader, struct asterism_diag *diag)
{
	int result = ebpf_array_init(&reader->map, "thread_stack", sizeof *reader->seen, 1, PROT_READ | PROT_WRITE);

	if (result)
		return diag_error(diag, NULL, result, "cannot allocate memory for a stack: %s", strerror(-result));
	reader->seen = reader->map.memory;
	return 0;
}

/* Runs the program for the thread. */
static int look_at_thread(struct ebpf_thread_reader *reader, uint64_t tid)
{
	union bpf_iter_link_info info = { .task = { .tid = (uint32_t)tid } };
	LIBBPF_OPTS(bpf_link_create_opts, options, .iter_info = &info, .iter_info_len = sizeof info);
	char byte;
	int iterator, result = 0;

	reader->seen->wanted = tid;
	reader->seen->is_met = 0;
	int link = bpf_link_create(reader->program, 0, BPF_TRACE_ITER, &options);

	if (link < 0)
		return -errno;
	iterator = bpf_iter_create(link);
	if (iterator < 0)
		result = -errno;
	else if (read(iterator, &byte, sizeof byte) < 0)
		result = -errno;
	if (iterator >= 0)
		close(iterator);
	close(link);
	return result;
}

static bool stood_still(const struct seen *seen)
{
	return !seen->before.is_running && memcmp(&seen->before, &seen->after, sizeof seen->before) == 0;
}

static int look_until_still(void *context, uint64_t tid)
{
	struct ebpf_thread_reader *reader = context;

	for (int i = 0; i < TRIES; i++) {
		int result = look_at_thread(reader, tid);

		if (result)
			return result;
		if (!reader->seen->is_met)
			return -ESRCH;
		if (!reader->seen->memory)
			return -ENODATA;
		if (stood_still(reader->seen))
			return 0;
	}
	return -EBUSY;
}

static void dispose(void *context)
{
	struct ebpf_thread_reader *reader = context;

	ebpf_array_fini(&reader->map);
	if (reader->program >= 0)
		close(reader->program);
	alloc_free(reader);
}

int ebpf_thread_reader_new(struct asterism_diag *diag, struct ebpf_thread_reader **made)
{
	struct ebpf_thread_reader *reader = alloc_zero(1, sizeof *reader);
	int result;

	if (!reader)
		return diag_no_memory(diag);
	reader->program = -1;
	result = stack_image_is_known()
			 ? make_thread_memory(reader, diag)
			 : diag_error(diag, NULL, -EOPNOTSUPP, "the registers of this architecture are unknown");
	if (!result)
		result = load_thread_reader(reader, diag);
	if (!result && errand_new(look_until_still, dispose, reader, &reader->errand))
		result = diag_error(diag, NULL, -EAGAIN, "cannot create a thread to inspect other threads");
	if (result)
		dispose(reader);
	else
		*made = reader;
	return result;
}

void ebpf_thread_reader_free(struct ebpf_thread_reader *reader)
{
	if (reader)
		errand_free(reader->errand);
}

int ebpf_thread_read(struct ebpf_thread_reader *reader, pid_t tid, struct ebpf_thread_stack *stack)
{
	const struct seen *seen = reader->seen;
	int result = errand_do(reader->errand, (uint64_t)tid, EBPF_THREAD_PATIENCE_NS);

	if (result)
		return result;
	*stack = (struct ebpf_thread_stack){
		.pid = (uint32_t)seen->pid,
		.tid = (uint32_t)seen->tid,
		.started_ns = seen->started_ns,
		.taken_ns = clock_now_ns(),
		.copy = stack_image_describe(&seen->image),
	};
	memcpy(stack->comm, seen->comm, sizeof stack->comm);
	stack->comm[sizeof stack->comm - 1] = '\0';
	return 0;
}
