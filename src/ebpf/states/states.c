// SPDX-License-Identifier: BSD-2-Clause
/*
 * Loads the programs that add up the states of threads, and makes rows of their maps: all CPUs' sums, and what is
 * open.
 */

#include "ebpf/states/states.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "ebpf/kernel/attach.h"
#include "ebpf/kernel/btf-path.h"
#include "ebpf/kernel/cpus.h"
#include "ebpf/kernel/load.h"
#include "ebpf/states/states-priv.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SWITCH, WAKING, PROGRAMS };

struct states {
	struct states_maps maps;
	int programs[PROGRAMS], links[PROGRAMS];
	int cpus;
	struct states_sums *per_cpu; /* room for one process */
	uint64_t *current;           /* per CPU, who runs there */
	struct states_process *rows;
	size_t count, capacity;
	uint64_t read_ns;
};

static int find_task_member(const struct btf_kernel *btf, const char *member, uint32_t *offset)
{
	const struct event_path_step hop = { .member = member };
	const struct btf_path path = {
		.type = btf_kernel_find(btf, BTF_KIND_STRUCT, "task_struct"),
		.from_struct = true,
		.hops = &hop,
		.count = 1,
	};
	struct btf_access access;
	char reason[128];
	int result = path.type ? btf_path_resolve(btf, &path, &access, reason, sizeof reason) : -ENOENT;

	if (!result && (access.pointer_count || access.end != BTF_END_LOAD || access.bytes != 4 || access.bits))
		result = -ENOENT;
	if (!result)
		*offset = access.spot.offset;
	return result;
}

static int ask_kernel(const struct btf_kernel *btf, struct states_kernel *kernel, struct asterism_diag *diag)
{
	struct btf_tracepoint tracepoint;
	int result = btf_kernel_tracepoint(btf, "sched_switch", &tracepoint);

	if (!result)
		result = find_task_member(btf, "pid", &kernel->pid);
	if (!result)
		result = find_task_member(btf, "tgid", &kernel->tgid);
	if (!result)
		result = find_task_member(btf, "__state", &kernel->state);
	if (result)
		return diag_error(diag, NULL, -EOPNOTSUPP, "this kernel describes threads in an unknown layout");
	kernel->has_argument = tracepoint.param_count > 3;
	return 0;
}

static int make_states_map(const char *name, enum bpf_map_type type, uint32_t bytes, uint32_t count,
			   struct asterism_diag *diag)
{
	int fd = bpf_map_create(type, name, 4, bytes, count, NULL);

	return fd >= 0 ? fd
		       : diag_error(diag, NULL, fd, "cannot allocate memory for the states of threads: %s",
				    strerror(-fd));
}

static int make_maps(struct states_maps *maps, struct asterism_diag *diag)
{
	maps->threads =
		make_states_map("threads", BPF_MAP_TYPE_HASH, sizeof(struct states_thread), STATES_THREADS_MAX, diag);
	if (maps->threads < 0)
		return maps->threads;
	maps->sums = make_states_map("sums", BPF_MAP_TYPE_PERCPU_HASH, sizeof(struct states_sums), STATES_PROCESSES_MAX,
				     diag);
	if (maps->sums < 0)
		return maps->sums;
	maps->missed = make_states_map("missed", BPF_MAP_TYPE_ARRAY, sizeof(uint64_t), 1, diag);
	if (maps->missed < 0)
		return maps->missed;
	maps->current = make_states_map("current", BPF_MAP_TYPE_PERCPU_ARRAY, sizeof(uint64_t), 1, diag);
	return maps->current < 0 ? maps->current : 0;
}

struct states_program {
	const char *tracepoint;
	void (*emit)(struct ebpf_asm *as, const struct states_maps *maps, const struct states_kernel *kernel);
};

static const struct states_program programs[PROGRAMS] = {
	[SWITCH] = { "sched_switch", states_emit_switch },
	[WAKING] = { "sched_waking", states_emit_waking },
};

static int load_states_program(struct states *states, unsigned which, const struct btf_kernel *btf,
			       const struct states_kernel *kernel, struct asterism_diag *diag)
{
	const struct states_program *program = &programs[which];
	struct ebpf_load_options options = { .name = program->tracepoint,
					     .file = "states",
					     .type = BPF_PROG_TYPE_TRACING,
					     .attach_type = BPF_TRACE_RAW_TP };
	struct ebpf_features features;
	struct btf_tracepoint tracepoint;
	struct ebpf_asm *as;
	int result = btf_kernel_tracepoint(btf, program->tracepoint, &tracepoint);

	if (result)
		return diag_error(diag, NULL, -EOPNOTSUPP, "this kernel has no tracepoint %s", program->tracepoint);
	result = ebpf_features_probe(&features);
	if (result)
		return diag_error(diag, NULL, result, "cannot load programs into this kernel: %s",
				  result == -EPERM ? "this needs root, or CAP_BPF and CAP_PERFMON" : strerror(-result));
	options.features = &features;
	options.attach_btf_id = tracepoint.id;
	as = ebpf_asm_new();
	if (!as)
		return diag_no_memory(diag);
	program->emit(as, &states->maps, kernel);
	states->programs[which] = ebpf_load_program(as, &options, diag);
	ebpf_asm_free(as);
	return states->programs[which] < 0 ? states->programs[which] : 0;
}

static int open_states(struct states *states, struct asterism_diag *diag)
{
	struct states_kernel kernel;
	struct btf_kernel *btf;
	int result = btf_kernel_open(diag, &btf);

	if (result)
		return result;
	result = ask_kernel(btf, &kernel, diag);
	if (!result)
		result = make_maps(&states->maps, diag);
	for (unsigned i = 0; i < PROGRAMS && !result; i++)
		result = load_states_program(states, i, btf, &kernel, diag);
	btf_kernel_close(btf);
	states->cpus = result ? result : ebpf_possible_cpus(diag);
	if (states->cpus < 0)
		return states->cpus;
	states->per_cpu = alloc_zero((size_t)states->cpus, sizeof *states->per_cpu);
	states->current = alloc_zero((size_t)states->cpus, sizeof *states->current);
	if (!states->per_cpu || !states->current)
		return diag_no_memory(diag);
	for (unsigned i = 0; i < PROGRAMS && !result; i++) {
		states->links[i] = attach_raw(states->programs[i], programs[i].tracepoint, diag);
		result = states->links[i] < 0 ? states->links[i] : 0;
	}
	return result;
}

int states_new(struct asterism_diag *diag, struct states **made)
{
	struct states *states = alloc_zero(1, sizeof *states);
	int result;

	if (!states)
		return diag_no_memory(diag);
	states->maps = (struct states_maps){ -1, -1, -1, -1 };
	for (unsigned i = 0; i < PROGRAMS; i++)
		states->programs[i] = states->links[i] = -1;
	result = open_states(states, diag);
	if (result)
		states_free(states);
	else
		*made = states;
	return result;
}

void states_free(struct states *states)
{
	if (!states)
		return;

	const int fds[] = { states->links[SWITCH],    states->links[WAKING], states->programs[SWITCH],
			    states->programs[WAKING], states->maps.threads,  states->maps.sums,
			    states->maps.missed,      states->maps.current };

	for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	alloc_free(states->per_cpu);
	alloc_free(states->current);
	alloc_free(states->rows);
	alloc_free(states);
}

/* The sums of process pid, which may be gone by now. */
static int take_process_sums(struct states *states, uint32_t pid)
{
	struct states_process row = { .pid = (pid_t)pid };

	if (bpf_map_lookup_elem(states->maps.sums, &pid, states->per_cpu))
		return 0;
	for (int cpu = 0; cpu < states->cpus; cpu++) {
		const struct states_sums *sums = &states->per_cpu[cpu];

		for (unsigned i = 0; i < STATES_COUNT; i++)
			row.ns[i] += sums->ns[i];
		row.switches += sums->switches;
		if (sums->comm[0])
			memcpy(row.comm, sums->comm, sizeof row.comm);
	}
	row.comm[STATES_COMM_BYTES - 1] = 0;
	if (alloc_grow(&states->rows, &states->capacity, states->count, sizeof *states->rows))
		return -ENOMEM;
	states->rows[states->count++] = row;
	return 0;
}

static int compare_states(const void *left, const void *right)
{
	const struct states_process *a = left, *b = right;

	return (a->pid > b->pid) - (a->pid < b->pid);
}

static bool has_processor(const struct states *states, uint32_t tid)
{
	for (int cpu = 0; cpu < states->cpus; cpu++) {
		if (states->current[cpu] == tid)
			return true;
	}
	return false;
}

/* What a thread is in now has no sum yet. Who runs without a CPU has left it unseen. */
static void add_open_thread(struct states *states, uint32_t tid, uint64_t now)
{
	struct states_process key = { 0 }, *row = NULL;
	struct states_thread thread;

	if (bpf_map_lookup_elem(states->maps.threads, &tid, &thread) || thread.state >= STATES_COUNT ||
	    thread.since >= now || (thread.state == STATES_RUNNING && !has_processor(states, tid)))
		return;
	key.pid = (pid_t)thread.pid;
	if (states->count)
		row = bsearch(&key, states->rows, states->count, sizeof *states->rows, compare_states);
	if (row)
		row->ns[thread.state] += now - thread.since;
}

static void add_current_states(struct states *states)
{
	uint64_t now = clock_now_ns();
	uint32_t tid = 0, zero = 0;
	int more = bpf_map_get_next_key(states->maps.threads, NULL, &tid);

	if (bpf_map_lookup_elem(states->maps.current, &zero, states->current))
		memset(states->current, 0, (size_t)states->cpus * sizeof *states->current);
	for (unsigned seen = 0; !more && seen < STATES_THREADS_MAX; seen++) {
		add_open_thread(states, tid, now);
		more = bpf_map_get_next_key(states->maps.threads, &tid, &tid);
	}
	states->read_ns = now;
}

static void forget_ended(struct states *states)
{
	for (size_t i = 0; i < states->count; i++) {
		uint32_t pid = (uint32_t)states->rows[i].pid;

		if (kill((pid_t)pid, 0) && errno == ESRCH)
			bpf_map_delete_elem(states->maps.sums, &pid);
	}
}

int states_read(struct states *states, const struct states_process **rows, size_t *count, uint64_t *at_ns)
{
	uint32_t pid = 0;
	int result = 0, more = bpf_map_get_next_key(states->maps.sums, NULL, &pid);

	states->count = 0;
	for (unsigned seen = 0; !more && !result && seen < STATES_PROCESSES_MAX; seen++) {
		result = take_process_sums(states, pid);
		more = bpf_map_get_next_key(states->maps.sums, &pid, &pid);
	}
	if (result)
		return result;
	if (states->count)
		qsort(states->rows, states->count, sizeof *states->rows, compare_states);
	add_current_states(states);
	forget_ended(states);
	*rows = states->rows;
	*count = states->count;
	*at_ns = states->read_ns;
	return 0;
}

uint64_t states_missed(const struct states *states)
{
	uint64_t missed = 0;

	bpf_map_lookup_elem(states->maps.missed, &(uint32_t){ 0 }, &missed);
	return missed;
}
