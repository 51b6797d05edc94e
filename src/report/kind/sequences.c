// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sequences: how often an event of a type follows one or two others, in the whole stream, in a process, in a thread.
 * The stream model of M. Schöbel, "Processing of event streams in the OS kernel" (2010), chapter 5: P(next | those
 * before).
 */

#include "report/kind/kinds.h"

#include "base/alloc.h"
#include "report/table.h"
#include "report/tally.h"

#include <errno.h>
#include <string.h>

enum { SEQUENCES_MAX = 1 << 20, STREAMS_MAX = 1 << 20, BEFORE = 2 };

enum level { GLOBAL, PROCESS, THREAD, LEVELS };

static const char *const levels[LEVELS] = { "global", "process", "thread" };

struct sequence {
	uint64_t key[4]; /* level, the types before (and 1; 0: none), the first first, then the type and 1 */
	uint64_t count;
};

struct context {
	uint64_t key[3];
	uint64_t count;
};

struct stream {
	uint64_t key[2];       /* level, the process or thread */
	uint64_t last[BEFORE]; /* types and 1, the newest last; 0: none yet */
};

struct sequences {
	struct report report;
	struct report_tally sequences, contexts, streams;
	const char **names; /* by type */
	size_t name_capacity;
};

static int sequences_open(const struct report_view *view, struct report **made)
{
	struct sequences *sequences = alloc_zero(1, sizeof *sequences);

	(void)view;
	if (!sequences)
		return -ENOMEM;
	sequences->sequences = REPORT_TALLY(struct sequence, SEQUENCES_MAX);
	sequences->contexts = REPORT_TALLY(struct context, SEQUENCES_MAX);
	sequences->streams = REPORT_TALLY(struct stream, STREAMS_MAX);
	*made = &sequences->report;
	return 0;
}

static void sequences_free(struct report *report)
{
	struct sequences *sequences = (struct sequences *)report;

	report_tally_fini(&sequences->sequences);
	report_tally_fini(&sequences->contexts);
	report_tally_fini(&sequences->streams);
	alloc_free(sequences->names);
	alloc_free(sequences);
}

static void count_sequence(struct sequences *sequences, const uint64_t key[4])
{
	struct sequence *sequence = report_tally_at(&sequences->sequences, key);
	struct context *context = report_tally_at(&sequences->contexts, key);

	if (sequence)
		sequence->count++;
	if (context)
		context->count++;
}

/* The event alone, after the one before, and after the two before. */
static void follow_sequence(struct sequences *sequences, enum level level, uint64_t who, uint64_t type)
{
	struct stream *stream = report_tally_at(&sequences->streams, (uint64_t[]){ level, who });

	if (!stream)
		return;
	count_sequence(sequences, (uint64_t[]){ level, 0, 0, type });
	if (stream->last[1])
		count_sequence(sequences, (uint64_t[]){ level, 0, stream->last[1], type });
	if (stream->last[0])
		count_sequence(sequences, (uint64_t[]){ level, stream->last[0], stream->last[1], type });
	stream->last[0] = stream->last[1];
	stream->last[1] = type;
}

static int sequences_event(struct report *report, const struct report_event *event)
{
	struct sequences *sequences = (struct sequences *)report;
	uint32_t type = event_type_of(event->event->record);

	if (alloc_grow(&sequences->names, &sequences->name_capacity, type, sizeof *sequences->names))
		return -ENOMEM;
	sequences->names[type] = event->event->type->name;
	follow_sequence(sequences, GLOBAL, 0, type + 1);
	if (event->thread != REPORT_NONE) {
		follow_sequence(sequences, PROCESS, report_process(report->view, event->thread), type + 1);
		follow_sequence(sequences, THREAD, event->thread, type + 1);
	}
	return sequences->sequences.failure | sequences->contexts.failure | sequences->streams.failure ? -ENOMEM : 0;
}

/* What comes after a gap does not follow what came before it. */
static int sequences_loss(struct report *report, const struct report_loss *loss)
{
	struct sequences *sequences = (struct sequences *)report;
	struct stream *streams = sequences->streams.items;

	(void)loss;
	for (size_t i = 0; i < sequences->streams.count; i++)
		memset(streams[i].last, 0, sizeof streams[i].last);
	return 0;
}

static int by_context(const void *left, const void *right)
{
	const struct sequence *a = left, *b = right;
	int order = 0;

	for (unsigned i = 0; i < 3 && !order; i++)
		order = a->key[i] < b->key[i] ? -1 : a->key[i] > b->key[i];
	if (order)
		return order;
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return a->key[3] < b->key[3] ? -1 : 1;
}

static const char *type_name_of(const struct sequences *sequences, uint64_t type)
{
	return type ? sequences->names[type - 1] : NULL;
}

static void sequences_write(struct report *report, struct report_tables *tables)
{
	static const struct report_column columns[] = {
		{ "level", "in", CELL_TEXT, false },     { "first", "after", CELL_TEXT, false },
		{ "second", "and", CELL_TEXT, false },   { "event", "event", CELL_TEXT, false },
		{ "count", "count", CELL_COUNT, false }, { "share", "share", CELL_SHARE, false },
	};
	struct sequences *sequences = (struct sequences *)report;
	const struct sequence *items;

	report_tally_sort(&sequences->sequences, by_context);
	items = sequences->sequences.items;
	report_table(tables, "sequences", "", columns, 6);
	for (size_t i = 0; i < sequences->sequences.count; i++) {
		const struct context *context = report_tally_find(&sequences->contexts, items[i].key);

		report_row(tables,
			   (struct report_cell[]){
				   report_cell_text(levels[items[i].key[0]]),
				   report_cell_text(type_name_of(sequences, items[i].key[1])),
				   report_cell_text(type_name_of(sequences, items[i].key[2])),
				   report_cell_text(type_name_of(sequences, items[i].key[3])),
				   report_cell_number(items[i].count),
				   context ? report_cell_real((double)items[i].count / (double)context->count)
					   : CELL_NONE },
			   0);
	}
	report_table_end(tables);
	report_note_left_out(tables, sequences->sequences.left_out + sequences->contexts.left_out +
					     sequences->streams.left_out);
}

const struct report_kind report_sequences = {
	.name = "sequences",
	.title = "Sequences",
	.question = "which event follows which, and how often",
	.open = sequences_open,
	.event = sequences_event,
	.loss = sequences_loss,
	.write = sequences_write,
	.free = sequences_free,
	.is_asked = true,
	.roles = REPORT_ALL,
};
