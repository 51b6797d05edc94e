// SPDX-License-Identifier: BSD-2-Clause
/* Decides what a recorder is: a set of sources whose programs write to rings. */

#include "ebpf/recorder/record.h"

#include "base/alloc.h"
#include "ebpf/kernel/probe.h"
#include "ebpf/path/resolve.h"
#include "ebpf/recorder/record-priv.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A type as it is recorded. */
struct recorded {
	struct record_form form;
	struct ebpf_needs needs;
};

struct ebpf_recorder {
	struct btf_kernel *btf; /* until the programs are loaded */
	struct ebpf_features features;
	struct record_rings rings;
	struct ring *views; /* per processor */
	struct recorded *recorded;
	struct source_want *wants;
	size_t count;
	struct record_code code;
	struct arena *arena;
	struct source_set *sources;
	uint64_t missed, calls_32bit;
};

void record_body(void *context, struct ebpf_asm *as, const struct source_entry *entry, const struct source_style *style,
		 const struct scope *scope)
{
	(void)scope;
	struct ebpf_recorder *recorder = context;
	const struct recorded *recorded = &recorder->recorded[entry->want->index];

	record_emit(&recorder->code, as, entry, style, &recorded->form);
}

/* What cannot be read cannot be written: it is dropped, and counted by itself as well. */
void record_unread(void *context, struct ebpf_asm *as, const struct source_entry *entry,
		   const struct source_style *style, const struct scope *scope)
{
	(void)entry, (void)style, (void)scope;
	record_emit_unread(((struct ebpf_recorder *)context)->code.rings, as);
}

static int make_views(struct ebpf_recorder *recorder, const struct ebpf_recorder_options *options,
		      struct asterism_diag *diag)
{
	int result =
		record_rings_init(&recorder->rings, options->sub_bytes ? options->sub_bytes : EBPF_RECORD_SUB_BYTES,
				  options->sub_count ? options->sub_count : EBPF_RECORD_SUB_COUNT, diag);

	if (result)
		return result;
	recorder->views = alloc_zero(recorder->rings.cpu_count, sizeof *recorder->views);
	if (!recorder->views)
		return diag_no_memory(diag);
	for (uint32_t cpu = 0; cpu < recorder->rings.cpu_count; cpu++)
		recorder->views[cpu] = record_ring_view(&recorder->rings, cpu);
	return 0;
}

static int make_wants(struct ebpf_recorder *recorder, const struct ebpf_recorder_options *options,
		      struct asterism_diag *diag)
{
	recorder->recorded = alloc_zero(options->count, sizeof *recorder->recorded);
	recorder->wants = alloc_zero(options->count, sizeof *recorder->wants);
	if (!recorder->recorded || !recorder->wants)
		return diag_no_memory(diag);
	for (size_t i = 0; i < options->count; i++) {
		const struct ebpf_record_type *wanted = &options->types[i];
		struct recorded *recorded = &recorder->recorded[i];

		event_packed_init(&recorded->form.layout, wanted->type, wanted->recorded);
		recorded->form.id = wanted->id;
		for (uint32_t j = 0; j < wanted->type->field_count; j++)
			recorded->needs.body[j] = !wanted->recorded || wanted->recorded[j];
		if (RING_HEADER_UNITS + RECORD_LATE_UNITS + record_units_max(&recorded->form.layout) >=
		    recorder->rings.sub_units)
			return diag_error(diag, NULL, -EINVAL, "sub-buffers of %u bytes are too small for the event %s",
					  recorder->rings.sub_units * RING_UNIT_BYTES, wanted->type->name);
		recorder->wants[i] = (struct source_want){
			.type = wanted->type, .index = (uint32_t)i, .needs = &recorded->needs, .packed = true
		};
	}
	recorder->count = options->count;
	return 0;
}

/* A path over the current task, or NULL where this kernel has no such thing. */
static const struct source_node *task_path(struct ebpf_recorder *recorder, const char *text)
{
	char reason[256];
	struct source_binding binding = {
		.btf = recorder->btf, .arena = recorder->arena, .reason = reason, .size = sizeof reason
	};
	struct source_node *node;

	if (source_parse_path(text, binding.arena, &node, reason, sizeof reason) || source_resolve(&binding, node))
		return NULL;
	return node;
}

static int make_code(struct ebpf_recorder *recorder, struct asterism_diag *diag)
{
	recorder->arena = arena_new();
	if (!recorder->arena)
		return diag_no_memory(diag);
	recorder->code.rings = &recorder->rings;
	recorder->code.tid = task_path(recorder, "current->pid");
	recorder->code.tgid = task_path(recorder, "current->tgid");
	const struct source_node *comm = task_path(recorder, "current->comm");

	if (comm && comm->op == SOURCE_ACCESS && comm->access.end == BTF_END_CHARS && comm->access.pointer_count == 0 &&
	    comm->access.spot.is_plain && comm->access.bytes == RING_COMM_BYTES)
		recorder->code.comm = comm;
	return 0;
}

int ebpf_recorder_new(const struct ebpf_recorder_options *options, struct asterism_diag *diag,
		      struct ebpf_recorder **made)
{
	struct ebpf_recorder *recorder = alloc_zero(1, sizeof *recorder);
	struct source_set_options sources = {
		.scope = options->scope,
		.filter = options->filter,
		.log_level = options->verifier_log,
		.cautious = options->cautious,
		.past_exec = options->past_exec,
		.body = record_body,
		.unread = record_unread,
		.body_context = recorder,
	};

	if (!recorder)
		return diag_no_memory(diag);
	recorder->rings.control_map = recorder->rings.data_map = -1;
	int result = probe_features(&recorder->features, diag);

	if (!result)
		result = btf_kernel_open(diag, &recorder->btf);
	if (!result)
		result = make_views(recorder, options, diag);
	if (!result)
		result = make_wants(recorder, options, diag);
	if (!result)
		result = make_code(recorder, diag);
	if (!result && !options->is_guest) {
		sources.wants = recorder->wants;
		sources.count = recorder->count;
		sources.btf = recorder->btf;
		sources.features = &recorder->features;
		result = source_set_new(&sources, diag, &recorder->sources);
	}
	btf_kernel_close(recorder->btf);
	recorder->btf = NULL;
	if (result)
		ebpf_recorder_free(recorder);
	else
		*made = recorder;
	return result;
}

void ebpf_recorder_free(struct ebpf_recorder *recorder)
{
	if (!recorder)
		return;
	source_set_free(recorder->sources);
	record_rings_fini(&recorder->rings);
	arena_free(recorder->arena);
	alloc_free(recorder->views);
	alloc_free(recorder->recorded);
	alloc_free(recorder->wants);
	alloc_free(recorder);
}

int ebpf_recorder_attach(struct ebpf_recorder *recorder, struct asterism_diag *diag)
{
	return recorder->sources ? source_set_attach(recorder->sources, diag) : 0;
}

void ebpf_recorder_detach(struct ebpf_recorder *recorder)
{
	uint64_t missed, wait_ns;

	ebpf_recorder_poll(recorder, &missed, &wait_ns);
	source_set_free(recorder->sources);
	recorder->sources = NULL;
	/* Programs that still run on other processors come to their end: this waits for a grace period. */
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

int ebpf_recorder_add(struct ebpf_recorder *recorder, pid_t pid)
{
	return recorder->sources ? source_set_add(recorder->sources, pid) : 0;
}

bool ebpf_recorder_has(const struct ebpf_recorder *recorder, pid_t pid)
{
	return recorder->sources && source_set_has(recorder->sources, pid);
}

int ebpf_recorder_poll(struct ebpf_recorder *recorder, uint64_t *missed_now, uint64_t *wait_ns)
{
	*missed_now = 0;
	*wait_ns = UINT64_MAX;
	int result = recorder->sources ? source_set_poll(recorder->sources, missed_now, wait_ns) : 0;

	recorder->missed += *missed_now;
	if (recorder->sources)
		record_calls_32bit(recorder, source_set_calls_32bit(recorder->sources));
	return result;
}

const struct source_want *record_wants(const struct ebpf_recorder *recorder, size_t *count)
{
	*count = recorder->count;
	return recorder->wants;
}

void record_missed(struct ebpf_recorder *recorder, uint64_t missed)
{
	recorder->missed += missed;
}

void record_calls_32bit(struct ebpf_recorder *recorder, uint64_t calls)
{
	for (size_t i = 0; i < recorder->count && calls != recorder->calls_32bit; i++)
		if (source_is_of_calls(recorder->wants[i].type))
			recorder->calls_32bit = calls;
}

uint32_t ebpf_recorder_cpu_count(const struct ebpf_recorder *recorder)
{
	return recorder->rings.cpu_count;
}

const struct ring *ebpf_recorder_ring(const struct ebpf_recorder *recorder, uint32_t cpu)
{
	return &recorder->views[cpu];
}

uint64_t ebpf_recorder_written(const struct ebpf_recorder *recorder)
{
	uint64_t written = 0;

	for (uint32_t cpu = 0; cpu < recorder->rings.cpu_count; cpu++)
		written += ring_written(&recorder->views[cpu]);
	return written;
}

uint64_t ebpf_recorder_dropped(const struct ebpf_recorder *recorder)
{
	uint64_t dropped = 0;

	for (uint32_t cpu = 0; cpu < recorder->rings.cpu_count; cpu++)
		dropped += ring_dropped(&recorder->views[cpu]);
	return dropped;
}

uint64_t ebpf_recorder_unread(const struct ebpf_recorder *recorder)
{
	uint64_t unread = 0;

	for (uint32_t cpu = 0; cpu < recorder->rings.cpu_count; cpu++)
		unread += ring_unread(&recorder->views[cpu]);
	return unread;
}

uint64_t ebpf_recorder_calls_32bit(const struct ebpf_recorder *recorder)
{
	return recorder->calls_32bit;
}

uint64_t ebpf_recorder_missed(const struct ebpf_recorder *recorder)
{
	return recorder->missed;
}

size_t ebpf_recorder_programs(const struct ebpf_recorder *recorder)
{
	return recorder->sources ? source_set_programs(recorder->sources) : 0;
}
