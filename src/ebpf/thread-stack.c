// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides what is read of a thread, and whether it stood still meanwhile: it was on no processor before and afterwards,
 * and has not been switched away from in between.
 */

#include "ebpf/thread-stack.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "ebpf/kernel/btf-path.h"
#include "ebpf/kernel/load.h"
#include "ebpf/memory/stack-copy.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TRIES = 3, CONTEXT_TASK = 8 /* of struct bpf_iter__task */, WORKER_STACK_BYTES = 64 * 1024 };

/* Whether, and how often, it has been on a processor. */
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
	pthread_t worker;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_working, is_ending;
	pid_t tid; /* whom is_working is about */
	int error; /* of the last look */
	int map, program;
	struct seen *seen;
};

/* What is read of struct task_struct, all of it less than 2^31. */
static const struct field {
	const char *member;
	uint32_t to, bytes;
	bool moves, is_optional;
} fields[] = {
	/* Where there is one processor only, we are on it. */
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
	uint32_t iterator;
	uint32_t offsets[FIELDS];
	bool are_there[FIELDS];
};

static int find_places(struct places *places, struct asterism_diag *diag)
{
	struct btf_kernel *btf;
	int result = btf_kernel_open(diag, &btf);

	if (result)
		return result;
	uint32_t task = btf_kernel_find(btf, BTF_KIND_STRUCT, "task_struct");

	places->iterator = btf_kernel_find(btf, BTF_KIND_FUNC, "bpf_iter_task");
	result = task && places->iterator ? 0 : -EOPNOTSUPP;
	for (size_t i = 0; i < FIELDS && !result; i++) {
		const struct event_path_step hop = { .member = fields[i].member };
		const struct btf_path path = { .type = task, .from_struct = true, .hops = &hop, .count = 1 };
		struct btf_access access;
		char reason[128];

		places->are_there[i] = btf_path_resolve(btf, &path, &access, reason, sizeof reason) == 0;
		if (places->are_there[i])
			places->offsets[i] = access.spot.offset;
		else if (!fields[i].is_optional)
			result = -EOPNOTSUPP;
	}
	btf_kernel_close(btf);
	return result ? diag_error(diag, NULL, result, "this kernel cannot go along its tasks") : 0;
}

/* Reads those fields of the task in r6 that move, or those that do not, to r8 + to. */
static void emit_fields(struct ebpf_asm *as, const struct places *places, bool moves, size_t to)
{
	for (size_t i = 0; i < FIELDS; i++) {
		if (!places->are_there[i] || fields[i].moves != moves)
			continue;
		ebpf_mov(as, R1, R8);
		ebpf_alu_imm(as, BPF_ADD, R1, (int32_t)(to + fields[i].to));
		ebpf_mov_imm(as, R2, fields[i].bytes);
		ebpf_mov(as, R3, R6);
		ebpf_alu_imm(as, BPF_ADD, R3, (int32_t)places->offsets[i]);
		ebpf_call(as, BPF_FUNC_probe_read_kernel);
	}
}

/* Before 6.1 the kernel goes along all tasks. */
static void emit(struct ebpf_asm *as, const struct places *places, int map)
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
	stack_image_emit(as, offsetof(struct seen, image), R6);
	emit_fields(as, places, true, offsetof(struct seen, after));
	ebpf_store_imm(as, BPF_DW, R8, offsetof(struct seen, is_met), 1);
	ebpf_bind(as, end);
	ebpf_mov_imm(as, R0, 0);
	ebpf_exit(as);
}

static int load(struct ebpf_thread_reader *reader, struct asterism_diag *diag)
{
	const struct ebpf_features features = { .loop = true };
	struct places places = { .iterator = 0 };
	int result = find_places(&places, diag);
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

	emit(as, &places, reader->map);
	reader->program = ebpf_load_program(as, &options, diag);
	ebpf_asm_free(as);
	return reader->program < 0 ? reader->program : 0;
}

static int make_memory(struct ebpf_thread_reader *reader, struct asterism_diag *diag)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);

	reader->map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "thread_stack", 4, sizeof *reader->seen, 1, &options);
	if (reader->map < 0)
		return diag_error(diag, NULL, reader->map, "memory for a stack cannot be had: %s",
				  strerror(-reader->map));
	void *mapped = mmap(NULL, sizeof *reader->seen, PROT_READ | PROT_WRITE, MAP_SHARED, reader->map, 0);

	if (mapped == MAP_FAILED)
		return diag_error(diag, NULL, -errno, "memory for a stack cannot be mapped: %s", strerror(errno));
	reader->seen = mapped;
	return 0;
}

/* Runs the program for the thread. */
static int look(struct ebpf_thread_reader *reader)
{
	union bpf_iter_link_info info = { .task = { .tid = (uint32_t)reader->tid } };
	LIBBPF_OPTS(bpf_link_create_opts, options, .iter_info = &info, .iter_info_len = sizeof info);
	char byte;
	int iterator, result = 0;

	reader->seen->wanted = (uint64_t)reader->tid;
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

static int look_until_still(struct ebpf_thread_reader *reader)
{
	for (int i = 0; i < TRIES; i++) {
		int result = look(reader);

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

static void dispose(struct ebpf_thread_reader *reader)
{
	if (reader->seen)
		munmap(reader->seen, sizeof *reader->seen);
	if (reader->map >= 0)
		close(reader->map);
	if (reader->program >= 0)
		close(reader->program);
	pthread_mutex_destroy(&reader->lock);
	pthread_cond_destroy(&reader->changed);
	alloc_free(reader);
}

/* The reader's own thread. Who was given up while it was at work disposes of everything. */
static void *work(void *context)
{
	struct ebpf_thread_reader *reader = context;
	bool is_alone = false;

	pthread_mutex_lock(&reader->lock);
	for (;;) {
		while (!reader->is_working && !reader->is_ending)
			pthread_cond_wait(&reader->changed, &reader->lock);
		if (!reader->is_working)
			break;
		pthread_mutex_unlock(&reader->lock);
		int error = look_until_still(reader);

		pthread_mutex_lock(&reader->lock);
		reader->error = error;
		reader->is_working = false;
		is_alone = reader->is_ending;
		if (is_alone)
			break;
		pthread_cond_broadcast(&reader->changed);
	}
	pthread_mutex_unlock(&reader->lock);
	if (is_alone)
		dispose(reader);
	return NULL;
}

static int start(struct ebpf_thread_reader *reader)
{
	pthread_attr_t attributes;
	sigset_t all, before;

	sigfillset(&all);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, WORKER_STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int result = pthread_create(&reader->worker, &attributes, work, reader);

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return -result;
}

int ebpf_thread_reader_new(struct asterism_diag *diag, struct ebpf_thread_reader **made)
{
	struct ebpf_thread_reader *reader = alloc_zero(1, sizeof *reader);
	pthread_condattr_t steady;
	int result;

	if (!reader)
		return diag_no_memory(diag);
	reader->map = reader->program = -1;
	pthread_mutex_init(&reader->lock, NULL);
	pthread_condattr_init(&steady);
	pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
	pthread_cond_init(&reader->changed, &steady);
	pthread_condattr_destroy(&steady);
	result = stack_image_is_known()
			 ? make_memory(reader, diag)
			 : diag_error(diag, NULL, -EOPNOTSUPP, "the registers of this architecture are not known");
	if (!result)
		result = load(reader, diag);
	if (!result && start(reader))
		result = diag_error(diag, NULL, -EAGAIN, "there is no thread for it");
	if (result)
		dispose(reader);
	else
		*made = reader;
	return result;
}

void ebpf_thread_reader_free(struct ebpf_thread_reader *reader)
{
	if (!reader)
		return;
	pthread_mutex_lock(&reader->lock);
	pthread_t worker = reader->worker;
	bool is_working = reader->is_working;

	reader->is_ending = true;
	pthread_cond_broadcast(&reader->changed);
	pthread_mutex_unlock(&reader->lock);
	if (is_working) {
		pthread_detach(worker);
		return;
	}
	pthread_join(worker, NULL);
	dispose(reader);
}

/* Has the worker look into tid, and waits for that, but not long. */
static int ask(struct ebpf_thread_reader *reader, pid_t tid)
{
	uint64_t until = clock_now_ns() + EBPF_THREAD_PATIENCE_NS;
	const struct timespec end = { (time_t)(until / 1000000000), (long)(until % 1000000000) };
	int result = 0;

	pthread_mutex_lock(&reader->lock);
	if (reader->is_working) {
		result = -EAGAIN;
	} else {
		reader->tid = tid;
		reader->is_working = true;
		pthread_cond_broadcast(&reader->changed);
		while (reader->is_working && !result)
			result = -pthread_cond_timedwait(&reader->changed, &reader->lock, &end);
		if (!reader->is_working)
			result = reader->error;
	}
	pthread_mutex_unlock(&reader->lock);
	return result;
}

int ebpf_thread_read(struct ebpf_thread_reader *reader, pid_t tid, struct ebpf_thread_stack *stack)
{
	const struct seen *seen = reader->seen;
	int result = ask(reader, tid);

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
