// SPDX-License-Identifier: BSD-2-Clause
/*
 * Adds up the time of threads by process, thread, state, reason and waker, and writes the sums as stacks: folded (a
 * line each, as flamegraph.pl reads them) and for speedscope (https://www.speedscope.app/file-format-schema.json).
 * Weights are ns.
 */

#include "report/export/export.h"

#include "base/alloc.h"
#include "report/names.h"
#include "report/table.h"
#include "report/tally.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { STACKS_MAX = 1 << 20, FRAMES_MOST = 5 };

struct stack {
	uint64_t key[4]; /* thread, state, reason, waker */
	uint64_t ns;
};

struct folded {
	struct report_export base;
	struct report_tally stacks;
};

static int folded_open(const struct report_view *view, struct report **made)
{
	struct folded *folded = alloc_zero(1, sizeof *folded);

	(void)view;
	if (!folded)
		return -ENOMEM;
	folded->stacks = REPORT_TALLY(struct stack, STACKS_MAX);
	*made = &folded->base.report;
	return 0;
}

static void folded_free(struct report *report)
{
	report_tally_fini(&((struct folded *)report)->stacks);
	alloc_free(report);
}

static int folded_slice(struct report *report, const struct report_slice *slice)
{
	struct folded *folded = (struct folded *)report;
	bool is_ready = slice->state == REPORT_READY;
	struct stack *stack;

	if (slice->thread == REPORT_NONE || !slice->thread)
		return 0;
	stack = report_tally_at(&folded->stacks, (uint64_t[]){ slice->thread, slice->state, slice->reason,
							       is_ready ? slice->waker : REPORT_NONE });
	if (stack)
		stack->ns += slice->end - slice->begin;
	return folded->stacks.failure;
}

static int by_key(const void *left, const void *right)
{
	const struct stack *a = left, *b = right;

	for (unsigned i = 0; i < 4; i++) {
		if (a->key[i] != b->key[i])
			return a->key[i] < b->key[i] ? -1 : 1;
	}
	return 0;
}

/* The frames of a stack, the outermost first, each a text of the buffer's, ended by NUL. Returns how many. */
static unsigned put_frames(const struct report_view *view, const struct stack *stack, struct text_buffer *text)
{
	uint32_t thread = (uint32_t)stack->key[0];
	unsigned count = 3;

	text->length = 0;
	text_printf(text, "process %u", report_export_pid(view, thread));
	text_append_bytes(text, "", 1);
	report_thread_name(text, view, thread);
	text_append_bytes(text, "", 1);
	text_append(text, report_state_name((unsigned)stack->key[1]));
	text_append_bytes(text, "", 1);
	if (stack->key[2]) {
		text_append(text, report_name(view, (uint32_t)stack->key[2]));
		text_append_bytes(text, "", 1);
		count++;
	}
	if (stack->key[3] != REPORT_NONE) {
		text_append(text, "by ");
		report_thread_name(text, view, (uint32_t)stack->key[3]);
		text_append_bytes(text, "", 1);
		count++;
	}
	return count;
}

/* A frame ends with ';', a stack with a blank and its weight: a name has neither a ';' nor a line's end. */
static void put_folded_frame(FILE *stream, const char *frame)
{
	struct text_buffer text = { 0 };

	text_append_as(&text, frame, TEXT_WORDS);
	for (size_t i = 0; i < text.length; i++)
		fputc(text.bytes[i] == ';' ? ':' : text.bytes[i], stream);
	text_fini(&text);
}

static int folded_finish(struct report *report)
{
	struct folded *folded = (struct folded *)report;
	FILE *stream = folded->base.stream;
	struct text_buffer text = { 0 };
	const struct stack *stacks;
	int failure;

	folded->base.left_out = folded->stacks.left_out;
	report_tally_sort(&folded->stacks, by_key);
	stacks = folded->stacks.items;
	for (size_t i = 0; i < folded->stacks.count; i++) {
		unsigned count = put_frames(report->view, &stacks[i], &text);
		const char *frame = text.bytes;

		if (report->view->threads[stacks[i].key[0]].is_stranger || text.failure)
			continue;
		for (unsigned j = 0; j < count; j++, frame += strlen(frame) + 1) {
			fputs(j ? ";" : "", stream);
			put_folded_frame(stream, frame);
		}
		fprintf(stream, " %" PRIu64 "\n", stacks[i].ns);
	}
	failure = text.failure;
	text_fini(&text);
	return failure ? -ENOMEM : 0;
}

/* A stack of speedscope's: numbers of names, which stand in a table. */
struct sample {
	uint32_t frames[FRAMES_MOST];
	unsigned count;
	uint64_t ns;
};

static int make_samples(const struct folded *folded, struct sample *samples, size_t *count, struct report_names *names)
{
	const struct report_view *view = folded->base.report.view;
	const struct stack *stacks = folded->stacks.items;
	struct text_buffer text = { 0 };
	int result = 0;

	for (size_t i = 0; i < folded->stacks.count && !result; i++) {
		struct sample *sample = &samples[*count];
		const char *frame;

		if (view->threads[stacks[i].key[0]].is_stranger)
			continue;
		*sample = (struct sample){ .count = put_frames(view, &stacks[i], &text), .ns = stacks[i].ns };
		result = text.failure;
		frame = text.bytes;
		for (unsigned j = 0; j < sample->count && !result; j++, frame += strlen(frame) + 1)
			result = report_names_add(names, frame, &sample->frames[j]);
		++*count;
	}
	text_fini(&text);
	return result;
}

static void put_samples(FILE *stream, const struct sample *samples, size_t count)
{
	uint64_t total = 0;

	fputs("\"samples\":[", stream);
	for (size_t i = 0; i < count; i++) {
		for (unsigned j = 0; j < samples[i].count; j++)
			fprintf(stream, "%s%u", j ? "," : i ? ",[" : "[", samples[i].frames[j] - 1);
		fputc(']', stream);
		total += samples[i].ns;
	}
	fputs("],\"weights\":[", stream);
	for (size_t i = 0; i < count; i++)
		fprintf(stream, "%s%" PRIu64, i ? "," : "", samples[i].ns);
	fprintf(stream, "],\"startValue\":0,\"endValue\":%" PRIu64, total);
}

static int speedscope_finish(struct report *report)
{
	struct folded *folded = (struct folded *)report;
	struct sample *samples = alloc_zero(folded->stacks.count + 1, sizeof *samples);
	struct report_names names = { 0 };
	FILE *stream = folded->base.stream;
	size_t count = 0;
	int result;

	folded->base.left_out = folded->stacks.left_out;
	report_tally_sort(&folded->stacks, by_key);
	result = samples ? make_samples(folded, samples, &count, &names) : -ENOMEM;
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"asterism\","
	      "\"shared\":{\"frames\":[",
	      stream);
	for (size_t i = 0; i < names.count; i++) {
		fputs(i ? ",{\"name\":\"" : "{\"name\":\"", stream);
		text_write(stream, names.texts[i], TEXT_JSON);
		fputs("\"}", stream);
	}
	fputs("]},\"profiles\":[{\"type\":\"sampled\",\"name\":\"time of threads\",\"unit\":\"nanoseconds\",", stream);
	put_samples(stream, samples, count);
	fputs("}]}\n", stream);
	alloc_free(samples);
	report_names_fini(&names);
	return result;
}

const struct report_kind report_export_folded = {
	.name = "folded",
	.open = folded_open,
	.slice = folded_slice,
	.finish = folded_finish,
	.free = folded_free,
};

const struct report_kind report_export_speedscope = {
	.name = "speedscope",
	.open = folded_open,
	.slice = folded_slice,
	.finish = speedscope_finish,
	.free = folded_free,
};
