// SPDX-License-Identifier: BSD-2-Clause
/* A recorder: a set of sources whose programs write to rings. */

#include "ebpf/recorder/record.h"

#include "base/alloc.h"
#include "ebpf/kernel/probe.h"
#include "ebpf/path/resolve.h"
#include "ebpf/recorder/record-priv.h"
#include "ebpf/source/io-uring.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A type as it is recorded. */
struct recorded {
	struct record_form form;
	struct ebpf_needs needs;
};

/* Types that came together, and their programs. */
struct layer {
	struct recorded *recorded;
	struct source_want *wants; /* with the number of the type in the whole recorder as index */
	size_t first, count;
	uint64_t io_uring;          /* opcodes of operations that stand for calls of which the types tell */
	struct source_set *sources; /* NULL: a guest's */
	bool is_attached;
};

struct ebpf_recorder {
	struct btf_kernel *btf; /* until the programs are loaded */
	struct ebpf_features features;
	struct record_rings rings;
	struct record_gates gates;
	struct ring *views; /* per CPU */
	struct layer *layers;
	size_t layer_count, layer_capacity;
	struct recorded **recorded; /* per type */
	size_t count, capacity;
	struct record_code code;
	struct arena *arena; /* of the code's paths */
	struct source_set_options sources;
	bool is_guest;
	uint64_t missed, calls_32bit, io_uring;
};

void record_body(void *context, struct ebpf_asm *as, const struct source_entry *entry, const struct source_style *style,
		 const struct scope *scope)
{
	(void)scope;
	struct ebpf_recorder *recorder = context;
	const struct recorded *recorded = recorder->recorded[entry->want->index];

	record_emit(&recorder->code, as, entry, style, &recorded->form);
}

/* What cannot be read cannot be written: it is dropped, and counted by itself as well. */
void record_unread(void *context, struct ebpf_asm *as, const struct source_entry *entry,
		   const struct source_style *style, const struct scope *scope)
{
	(void)style, (void)scope;
	const struct record_code *code = &((struct ebpf_recorder *)context)->code;
	uint32_t closed = ebpf_label(as);

	record_emit_gate(code->gates, as, entry->want->index, closed);
	record_emit_unread(code->rings, as);
	ebpf_bind(as, closed);
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

/* Room for so many types more, and their forms. */
static int describe_layer(struct ebpf_recorder *recorder, struct layer *layer, const struct ebpf_record_type *types,
			  struct asterism_diag *diag)
{
	for (size_t i = 0; i < layer->count; i++) {
		const struct ebpf_record_type *wanted = &types[i];
		struct recorded *recorded = &layer->recorded[i];

		event_packed_init(&recorded->form.layout, wanted->type, wanted->recorded);
		recorded->form.id = wanted->id;
		for (uint32_t j = 0; j < wanted->type->field_count; j++)
			recorded->needs.body[j] = !wanted->recorded || wanted->recorded[j];
		if (RING_HEADER_UNITS + RECORD_LATE_UNITS + record_units_max(&recorded->form.layout) >=
		    recorder->rings.sub_units)
			return diag_error(diag, NULL, -EINVAL, "sub-buffers of %u bytes are too small for the event %s",
					  recorder->rings.sub_units * RING_UNIT_BYTES, wanted->type->name);
		layer->wants[i] = (struct source_want){
			.type = wanted->type,
			.index = (uint32_t)(layer->first + i),
			.needs = &recorded->needs,
			.packed = true,
		};
		if (io_uring_opcodes(wanted->type, &layer->io_uring))
			return diag_no_memory(diag);
		if (alloc_grow(&recorder->recorded, &recorder->capacity, recorder->count, sizeof *recorder->recorded))
			return diag_no_memory(diag);
		recorder->recorded[recorder->count++] = recorded;
	}
	return 0;
}

static void drop_layer(struct ebpf_recorder *recorder)
{
	struct layer *layer = &recorder->layers[--recorder->layer_count];

	source_set_free(layer->sources);
	alloc_free(layer->recorded);
	alloc_free(layer->wants);
	recorder->count = layer->first;
}

/* The types as one more layer; their programs are not there yet. */
static int make_layer(struct ebpf_recorder *recorder, const struct ebpf_record_type *types, size_t count,
		      struct asterism_diag *diag)
{
	struct layer *layer;

	if (recorder->gates.open.memory && recorder->count + count > RECORD_GATES)
		return diag_error(diag, NULL, -E2BIG, "too many event types to record: the limit is %d", RECORD_GATES);
	if (alloc_grow(&recorder->layers, &recorder->layer_capacity, recorder->layer_count, sizeof *recorder->layers))
		return diag_no_memory(diag);
	layer = &recorder->layers[recorder->layer_count++];
	*layer = (struct layer){
		.recorded = alloc_zero(count, sizeof *layer->recorded),
		.wants = alloc_zero(count, sizeof *layer->wants),
		.first = recorder->count,
		.count = count,
	};
	if (!layer->recorded || !layer->wants)
		return diag_no_memory(diag);
	return describe_layer(recorder, layer, types, diag);
}

/* A path over the current task, or NULL where this kernel has no such thing. */
static const struct source_node *task_path(struct ebpf_recorder *recorder, const char *text)
{
	char reason[256];
	struct source_binding binding = {
		.btf = recorder->btf, .arena = recorder->arena, .reason = reason, .size = sizeof reason
	};
	struct source_node *node;

	if (path_parse_path(text, binding.arena, &node, reason, sizeof reason) || path_resolve(&binding, node))
		return NULL;
	return node;
}

static int make_code(struct ebpf_recorder *recorder, struct asterism_diag *diag)
{
	arena_free(recorder->arena);
	recorder->arena = arena_new();
	if (!recorder->arena)
		return diag_no_memory(diag);
	recorder->code.rings = &recorder->rings;
	recorder->code.gates = &recorder->gates;
	recorder->code.tid = task_path(recorder, "current->pid");
	recorder->code.tgid = task_path(recorder, "current->tgid");
	const struct source_node *comm = task_path(recorder, "current->comm");

	if (comm && comm->op == SOURCE_ACCESS && comm->access.end == BTF_END_CHARS && comm->access.pointer_count == 0 &&
	    comm->access.spot.is_plain && comm->access.bytes == RING_COMM_BYTES)
		recorder->code.comm = comm;
	return 0;
}

/* The programs of the last layer. */
static int load_layer_programs(struct ebpf_recorder *recorder, struct asterism_diag *diag)
{
	struct layer *layer = &recorder->layers[recorder->layer_count - 1];
	struct source_set_options options = recorder->sources;
	int result = btf_kernel_open(diag, &recorder->btf);

	if (!result)
		result = make_code(recorder, diag);
	options.wants = layer->wants;
	options.count = layer->count;
	options.btf = recorder->btf;
	if (!result && !recorder->is_guest)
		result = source_set_new(&options, diag, &layer->sources);
	btf_kernel_close(recorder->btf);
	recorder->btf = NULL;
	return result;
}

static int open_recorder(struct ebpf_recorder *recorder, const struct ebpf_recorder_options *options,
			 struct asterism_diag *diag)
{
	int result = probe_features(&recorder->features, diag);

	recorder->sources = (struct source_set_options){
		.scope = options->scope,
		.filter = options->filter,
		.features = &recorder->features,
		.log_level = options->verifier_log,
		.cautious = options->cautious,
		.past_exec = options->past_exec,
		.body = record_body,
		.unread = record_unread,
		.body_context = recorder,
		.news = diag,
	};
	if (!result)
		result = make_views(recorder, options, diag);
	if (!result && options->is_gated)
		result = record_gates_init(&recorder->gates, diag);
	if (!result)
		result = make_layer(recorder, options->types, options->count, diag);
	for (size_t i = 0; i < options->count && !result && options->is_gated; i++)
		record_gates_set(&recorder->gates, i, true);
	return result ? result : load_layer_programs(recorder, diag);
}

int ebpf_recorder_new(const struct ebpf_recorder_options *options, struct asterism_diag *diag,
		      struct ebpf_recorder **made)
{
	struct ebpf_recorder *recorder = alloc_zero(1, sizeof *recorder);
	int result;

	if (!recorder)
		return diag_no_memory(diag);
	recorder->is_guest = options->is_guest;
	result = open_recorder(recorder, options, diag);
	if (result)
		ebpf_recorder_free(recorder);
	else
		*made = recorder;
	return result;
}

int ebpf_recorder_extend(struct ebpf_recorder *recorder, const struct ebpf_record_type *types, size_t count,
			 struct asterism_diag *diag)
{
	size_t before = recorder->layer_count;
	int result = make_layer(recorder, types, count, diag);

	if (!result)
		result = load_layer_programs(recorder, diag);
	if (result && recorder->layer_count > before)
		drop_layer(recorder);
	return result;
}

void ebpf_recorder_shorten(struct ebpf_recorder *recorder)
{
	drop_layer(recorder);
}

void ebpf_recorder_free(struct ebpf_recorder *recorder)
{
	if (!recorder)
		return;
	while (recorder->layer_count)
		drop_layer(recorder);
	record_rings_fini(&recorder->rings);
	record_gates_fini(&recorder->gates);
	arena_free(recorder->arena);
	alloc_free(recorder->views);
	alloc_free(recorder->layers);
	alloc_free(recorder->recorded);
	alloc_free(recorder);
}

void ebpf_recorder_take(struct ebpf_recorder *recorder, size_t index, bool take)
{
	record_gates_set(&recorder->gates, index, take);
}

bool ebpf_recorder_takes(const struct ebpf_recorder *recorder, size_t index)
{
	return !recorder->gates.open.memory || record_gates_has(&recorder->gates, index);
}

static bool is_want_taken(void *context, const struct source_want *want)
{
	return ebpf_recorder_takes(context, want->index);
}

int ebpf_recorder_adjust(struct ebpf_recorder *recorder, struct asterism_diag *diag)
{
	int result = 0;

	for (size_t i = 0; i < recorder->layer_count && !result; i++)
		if (recorder->layers[i].is_attached)
			result = source_set_adjust(recorder->layers[i].sources, is_want_taken, recorder, diag);
	return result;
}

int ebpf_recorder_attach(struct ebpf_recorder *recorder, struct asterism_diag *diag)
{
	int result = 0;

	for (size_t i = 0; i < recorder->layer_count && !result; i++) {
		struct layer *layer = &recorder->layers[i];

		if (!layer->sources || layer->is_attached)
			continue;
		result = source_set_attach(layer->sources, diag);
		if (result)
			source_set_detach(layer->sources);
		layer->is_attached = !result;
	}
	return result;
}

void ebpf_recorder_detach(struct ebpf_recorder *recorder)
{
	uint64_t missed, wait_ns;

	ebpf_recorder_poll(recorder, &missed, &wait_ns);
	for (size_t i = 0; i < recorder->layer_count; i++)
		if (recorder->layers[i].sources)
			source_set_detach(recorder->layers[i].sources);
	for (size_t i = 0; i < recorder->layer_count; i++) {
		source_set_free(recorder->layers[i].sources);
		recorder->layers[i].sources = NULL;
	}
	/* Programs that still run on other CPUs come to their end: this waits for a grace period. */
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

int ebpf_recorder_add(struct ebpf_recorder *recorder, pid_t pid)
{
	int result = 0;

	for (size_t i = 0; i < recorder->layer_count && !result; i++)
		if (recorder->layers[i].sources)
			result = source_set_add(recorder->layers[i].sources, pid);
	return result;
}

bool ebpf_recorder_has(const struct ebpf_recorder *recorder, pid_t pid)
{
	const struct source_set *sources = recorder->layers[0].sources;

	return sources && source_set_has(sources, pid);
}

int ebpf_recorder_poll(struct ebpf_recorder *recorder, uint64_t *missed_now, uint64_t *wait_ns)
{
	int result = 0;

	*missed_now = 0;
	*wait_ns = UINT64_MAX;
	for (size_t i = 0; i < recorder->layer_count && !result; i++) {
		struct source_set *sources = recorder->layers[i].sources;
		uint64_t missed = 0;

		if (!sources)
			continue;
		result = source_set_poll(sources, true, &missed, wait_ns);
		*missed_now += missed;
		record_bypassed(recorder, sources);
	}
	recorder->missed += *missed_now;
	return result;
}

const struct source_want *record_wants(const struct ebpf_recorder *recorder, size_t *count)
{
	*count = recorder->count;
	return recorder->layers[0].wants;
}

void record_missed(struct ebpf_recorder *recorder, uint64_t missed)
{
	recorder->missed += missed;
}

/* Each layer that looks for calls counts the same. */
void record_bypassed(struct ebpf_recorder *recorder, const struct source_set *sources)
{
	uint64_t calls = source_set_calls_32bit(sources), opcodes = 0;
	bool is_of_calls = false;

	for (size_t i = 0; i < recorder->layer_count; i++) {
		const struct layer *layer = &recorder->layers[i];

		opcodes |= layer->io_uring;
		for (size_t j = 0; j < layer->count && !is_of_calls; j++)
			is_of_calls = source_is_of_calls(layer->wants[j].type);
	}
	uint64_t operations = source_set_io_uring(sources, opcodes);

	if (is_of_calls && calls > recorder->calls_32bit)
		recorder->calls_32bit = calls;
	if (operations > recorder->io_uring)
		recorder->io_uring = operations;
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

uint64_t ebpf_recorder_io_uring(const struct ebpf_recorder *recorder)
{
	return recorder->io_uring;
}

uint64_t ebpf_recorder_missed(const struct ebpf_recorder *recorder)
{
	return recorder->missed;
}

size_t ebpf_recorder_programs(const struct ebpf_recorder *recorder)
{
	size_t programs = 0;

	for (size_t i = 0; i < recorder->layer_count; i++)
		programs += recorder->layers[i].sources ? source_set_programs(recorder->layers[i].sources) : 0;
	return programs;
}
