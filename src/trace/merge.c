// SPDX-License-Identifier: BSD-2-Clause
/*
 * Merges sources by time. Each source that is not at its end has one event in hand; the heap holds these sources, the
 * earliest first. The source whose event was given last is asked for its next one only when the reader comes back,
 * because until then the reader owns that event's record.
 */

#include "trace/merge.h"

#include "base/alloc.h"
#include "base/heap.h"

#include <errno.h>

struct input {
	struct event_source *source;
	struct event event; /* in hand */
	uint32_t *numbers;  /* per type number of the source: the merged one + 1; 0: not known yet */
	size_t number_count, number_capacity;
	uint64_t lost; /* of the source, as far as it has been told */
};

struct merge {
	struct event_source source; /* first */
	struct asterism_diag *diag;
	struct input *inputs;
	size_t input_count;
	struct input **heap;
	size_t heap_count;
	size_t started; /* inputs that have been asked for their first event */
	bool given;     /* the first of the heap has given its event away */
	uint64_t seq;
	const struct event_type **types; /* by their merged number */
	size_t type_count, type_capacity;
};

static bool is_input_before(const void *left, const void *right)
{
	const struct input *a = *(struct input *const *)left, *b = *(struct input *const *)right;
	uint64_t at_a = a->event.record->ts, at_b = b->event.record->ts;

	return at_a != at_b ? at_a < at_b : a < b;
}

static struct heap inputs_heap(struct merge *merge)
{
	return (struct heap){
		.items = merge->heap,
		.count = merge->heap_count,
		.item_bytes = sizeof(struct input *),
		.children = 2,
		.is_before = is_input_before,
	};
}

static void push_input(struct merge *merge, struct input *input)
{
	size_t at = merge->heap_count++;
	struct heap heap = inputs_heap(merge);

	heap_up(&heap, at, &input);
}

/*
 * The clock of the first input that says what it is stands for all, and so does its host.
 *
 * Losses are told with the next event to be given, which is not after the one that the input has told them with.
 */
static void take_clock_state(struct merge *merge, struct input *input)
{
	const struct event_source *source = input->source;

	if (!merge->source.machine.wall_ns)
		merge->source.machine = source->machine;
	merge->source.lost += source->lost - input->lost;
	input->lost = source->lost;
	if (source->lossy_until_ns > merge->source.lossy_until_ns)
		merge->source.lossy_until_ns = source->lossy_until_ns;
	if (source->until_ns > merge->source.until_ns)
		merge->source.until_ns = source->until_ns;
}

/* As next of a source, into the input's hand. */
static int take_input_event(struct merge *merge, struct input *input)
{
	int result = event_source_next(input->source, &input->event);

	if (result >= 0)
		take_clock_state(merge, input);
	return result;
}

/* Asks the inputs for their first events. One that was interrupted is asked again by the next call. */
static int start_inputs(struct merge *merge)
{
	while (merge->started < merge->input_count) {
		struct input *input = &merge->inputs[merge->started];
		int result = take_input_event(merge, input);

		if (result < 0)
			return result;
		if (result > 0)
			push_input(merge, input);
		merge->started++;
	}
	return 0;
}

/* The next event of the input that gave the last one takes its place in the heap. */
static int replace_first_input(struct merge *merge)
{
	struct input *input = merge->heap[0];
	struct heap heap;
	int result = take_input_event(merge, input);

	if (result < 0)
		return result;
	if (result == 0)
		input = merge->heap[--merge->heap_count];
	heap = inputs_heap(merge);
	if (heap.count)
		heap_down(&heap, 0, &input);
	return 0;
}

/* The number that type has here; a type is known by its address, as all are of one catalog. */
static int number_type(struct merge *merge, const struct event_type *type, uint32_t *number)
{
	size_t at = 0;

	while (at < merge->type_count && merge->types[at] != type)
		at++;
	if (at == merge->type_count) {
		if (alloc_grow(&merge->types, &merge->type_capacity, at, sizeof(const struct event_type *)))
			return diag_no_memory(merge->diag);
		merge->types[merge->type_count++] = type;
	}
	*number = (uint32_t)at + 1;
	return 0;
}

static int renumber(struct merge *merge, struct input *input)
{
	uint32_t number = input->event.record->type;

	while (input->number_count <= number) {
		if (alloc_grow(&input->numbers, &input->number_capacity, input->number_count, sizeof *input->numbers))
			return diag_no_memory(merge->diag);
		input->numbers[input->number_count++] = 0;
	}
	if (!input->numbers[number]) {
		int result = number_type(merge, input->event.type, &input->numbers[number]);

		if (result)
			return result;
	}
	input->event.record->type = input->numbers[number] - 1;
	return 0;
}

static int merge_next(struct event_source *source, struct event *event)
{
	struct merge *merge = (struct merge *)source;
	int result = start_inputs(merge);

	if (!result && merge->given)
		result = replace_first_input(merge);
	if (result)
		return result;
	merge->given = false;
	if (merge->heap_count == 0)
		return 0;
	result = renumber(merge, merge->heap[0]);
	if (result)
		return result;
	merge->given = true;
	*event = merge->heap[0]->event;
	event->record->seq = ++merge->seq;
	return 1;
}

static uint64_t merge_position(const struct event_source *source)
{
	const struct merge *merge = (const struct merge *)source;
	uint64_t position = 0;

	for (size_t i = 0; i < merge->input_count; i++)
		position += event_source_position(merge->inputs[i].source);
	return position;
}

static void merge_want(struct event_source *source, const struct event_want *want)
{
	struct merge *merge = (struct merge *)source;
	struct event_want all = *want;

	/* What an input left out could not be counted here: it is unknown before which event of another it was. */
	all.drops = want->drops && merge->input_count == 1;
	for (size_t i = 0; i < merge->input_count; i++)
		event_source_want(merge->inputs[i].source, &all);
}

static bool merge_holds(struct event_source *source, const struct event_type *type, uint32_t field)
{
	struct merge *merge = (struct merge *)source;

	for (size_t i = 0; i < merge->input_count; i++) {
		if (event_source_holds(merge->inputs[i].source, type, field))
			return true;
	}
	return false;
}

static void release_merge(struct merge *merge)
{
	for (size_t i = 0; merge->inputs && i < merge->input_count; i++)
		alloc_free(merge->inputs[i].numbers);
	alloc_free(merge->inputs);
	alloc_free(merge->heap);
	alloc_free(merge->types);
	alloc_free(merge);
}

static void merge_free(struct event_source *source)
{
	struct merge *merge = (struct merge *)source;

	for (size_t i = 0; i < merge->input_count; i++)
		event_source_free(merge->inputs[i].source);
	release_merge(merge);
}

static const struct event_source_kind kind = {
	.name = "several inputs",
	.next = merge_next,
	.free = merge_free,
	.position = merge_position,
	.want = merge_want,
	.holds = merge_holds,
};

int trace_merge_new(struct event_source *const *sources, size_t count, struct asterism_diag *diag,
		    struct event_source **made)
{
	struct merge *merge = alloc_zero(1, sizeof *merge);

	if (!merge)
		return diag_no_memory(diag);
	merge->source.kind = &kind;
	merge->diag = diag;
	merge->input_count = count;
	merge->inputs = alloc_zero(count, sizeof *merge->inputs);
	merge->heap = alloc_zero(count, sizeof(struct input *));
	if (!merge->inputs || !merge->heap) {
		release_merge(merge);
		return diag_no_memory(diag);
	}
	for (size_t i = 0; i < count; i++)
		merge->inputs[i].source = sources[i];
	*made = &merge->source;
	return 0;
}
