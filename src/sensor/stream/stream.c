// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the sensors of all processes. What the directory tells (follow.h) is taken before any ring is looked at; as it
 * tells of a process before that process may write, an event of one that it has not told of is younger than that look,
 * which is what the input `news` stands for in the merge.
 */

#include "sensor/stream/stream.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/proc.h"
#include "sensor/stream/follow.h"
#include "sensor/stream/pace.h"
#include "sensor/stream/queue.h"
#include "sensor/stream/unread.h"

#include <errno.h>
#include <string.h>

enum {
	TURN_EVENTS = 65536,  /* of one turn */
	SCOPE_NS = 200000000, /* between two looks at who is in scope */
	PROCESSES_MAX = 4096,
	ENDED_MAX = 32, /* processes that are kept for who looks back */
};

struct stream {
	struct stream_options options;
	struct merge merge;
	struct queue queue; /* what is handed over */
	struct merge_input news;
	struct stream_reading reading;
	struct follow *follow;
	struct stream_process **processes;
	size_t process_count, process_capacity;
	struct stream_counts counts; /* of processes that are gone */
	struct unread unread;
	uint64_t next_scope_ns;
	uint64_t wait_ns; /* to the next turn */
	int failed;
	bool keeps; /* somebody looks back now and then */
};

static void look_for_news(struct merge_input *input)
{
	(void)input; /* the floor is raised where the news are taken */
}

static struct stream_process *find_numbered_process(const struct stream *stream, uint64_t number)
{
	for (size_t i = 0; i < stream->process_count; i++)
		if (stream->processes[i]->number == number)
			return stream->processes[i];
	return NULL;
}

/* One that has registered with the next directory: its memory is that of before. After exec it is not. */
static struct stream_process *find_again(const struct stream *stream, const struct sensor_notice *notice)
{
	const struct sensor_process *told = notice->process;

	for (size_t i = 0; i < stream->process_count; i++) {
		struct stream_process *process = stream->processes[i];

		if (process->pid == told->pid && process->birth_ticks == told->birth_ticks &&
		    process->area->inode == notice->area->inode)
			return process;
	}
	return NULL;
}

static bool is_stream_there(const struct stream_process *process)
{
	uint64_t birth;

	return proc_birth((pid_t)process->pid, &birth) == 0 && birth == process->birth_ticks;
}

/* Reads the process, if it is in scope by now. */
static int join_stream_process(struct stream *stream, struct stream_process *process)
{
	const struct stream_options *options = &stream->options;
	int result = 0;

	if (process->is_in)
		return 0;
	if (!options->in_scope(options->context, (pid_t)process->pid, (pid_t)process->parent)) {
		process->was_judged |= is_stream_there(process);
		return 0;
	}
	stream_process_join(process, &options->wants);
	stream->counts.processes++;
	for (uint32_t i = 0; i < process->reader_count && !result; i++)
		result = merge_add(&stream->merge, &process->readers[i].input);
	return result;
}

static void drop_process(struct stream *stream, size_t index)
{
	struct stream_process *process = stream->processes[index];

	stream->counts.unknown += !process->is_in && !process->was_judged;
	for (uint32_t i = 0; i < process->reader_count && process->is_in; i++)
		merge_remove(&stream->merge, &process->readers[i].input);
	stream_process_free(process);
	stream->processes[index] = stream->processes[--stream->process_count];
}

/* The others are read all the same. */
static int take_unread(void *context, const struct sensor_notice *notice)
{
	struct stream *stream = context;

	stream->next_scope_ns = 0;
	return unread_add(&stream->unread, notice);
}

static int take_stream_process(void *context, const struct sensor_notice *notice)
{
	struct stream *stream = context;
	struct stream_process *process = notice->area ? find_again(stream, notice) : NULL;
	int result;

	if (process) {
		process->number = notice->number;
		sensor_mapping_free(notice->area);
		return 0;
	}
	if (!notice->area)
		return take_unread(stream, notice);
	if (stream->process_count == PROCESSES_MAX)
		result = -E2BIG;
	else if (alloc_grow(&stream->processes, &stream->process_capacity, stream->process_count,
			    sizeof(struct stream_process *)))
		result = -ENOMEM;
	else
		result = stream_process_new(notice->process, notice->area, &stream->reading, &process);
	if (result) {
		sensor_mapping_free(notice->area);
		return result;
	}
	stream->processes[stream->process_count++] = process;
	return join_stream_process(stream, process);
}

static int take_stream_type(void *context, const struct sensor_notice *notice)
{
	struct stream *stream = context;
	const struct stream_options *options = &stream->options;
	struct stream_process *process = find_numbered_process(stream, notice->number);
	int result;

	if (!process)
		return 0;
	result = stream_process_type(process, notice->type, notice->text, &options->wants, options->diag);
	if (result != -EBADMSG)
		return result;
	diag_add(options->diag, ASTERISM_WARNING, NULL, NULL, "process %u (%s) declares a sensor in a malformed way",
		 process->pid, process->comm);
	return 0;
}

static void close_readers(struct stream_process *process)
{
	for (uint32_t i = 0; i < process->reader_count; i++)
		process->readers[i].is_closed = true;
}

/* Whom a session observes is not known when the first are told of, and may change. */
static int look_at_scope(struct stream *stream, uint64_t now)
{
	const struct stream_options *options = &stream->options;
	const struct unread_scope scope = { options->in_scope, options->context, options->diag };
	uint64_t unread;
	int result = 0;

	if (now < stream->next_scope_ns)
		return 0;
	stream->next_scope_ns = now + SCOPE_NS;
	unread = unread_judge(&stream->unread, &scope);
	if (unread)
		options->on_lost(options->context, unread);
	stream->counts.lost += unread;
	for (size_t i = 0; i < stream->process_count && !result; i++)
		result = join_stream_process(stream, stream->processes[i]);
	return result;
}

static void stream_on_ended(void *context, uint64_t number)
{
	struct stream_process *process = find_numbered_process(context, number);

	if (!process)
		return;
	process->has_ended = true;
	close_readers(process);
}

/* How many events nobody was asked for, nobody knows. */
static void on_gone(void *context)
{
	struct stream *stream = context;

	stream->counts.gaps++;
	stream->options.on_lost(stream->options.context, 1);
}

static int serve_stream(struct stream *stream)
{
	uint64_t now = clock_now_ns();
	int result = follow_serve(stream->follow);

	if (!result)
		result = look_at_scope(stream, now);
	/* Who was told of until now is there; those that a directory which has gone did not tell of are late. */
	if (now - STREAM_VISIBLE_NS > stream->news.floor_ns)
		stream->news.floor_ns = now - STREAM_VISIBLE_NS;
	return result;
}

static uint64_t stream_now_ns(void)
{
	return clock_now_ns();
}

static int open_sensor_stream(struct stream *stream, struct asterism_diag *diag)
{
	const struct follow_options follow = {
		.wants = &stream->options.wants,
		.on_process = take_stream_process,
		.on_type = take_stream_type,
		.on_ended = stream_on_ended,
		.on_left_out = take_unread,
		.on_gone = on_gone,
		.context = stream,
		.diag = stream->options.diag,
		.is_quiet = stream->options.is_quiet,
	};

	stream->news.look = look_for_news;
	if (queue_init(&stream->queue, stream->options.record_bytes) || merge_add(&stream->merge, &stream->news) ||
	    merge_add(&stream->merge, &stream->queue.input))
		return diag_no_memory(diag);
	int result = follow_new(&follow, diag, &stream->follow);

	stream_clock_look(&stream->reading.clock);
	return result;
}

int stream_new(const struct stream_options *options, struct asterism_diag *diag, struct stream **made)
{
	struct stream *stream = alloc_zero(1, sizeof *stream);
	int result;

	if (!stream)
		return diag_no_memory(diag);
	stream->options = *options;
	stream->reading = (struct stream_reading){
		.clock.shared = options->clock,
		.now = stream_now_ns,
		.visible_ns = STREAM_VISIBLE_NS,
		.hold_ns = STREAM_HOLD_NS,
		.begin_ns = clock_now_ns(),
		.end_ns = MERGE_NEVER,
		.record_bytes = options->record_bytes,
	};
	stream->wait_ns = PACE_MAX_NS;
	result = open_sensor_stream(stream, diag);
	if (result)
		stream_free(stream);
	else
		*made = stream;
	return result;
}

void stream_free(struct stream *stream)
{
	if (!stream)
		return;
	for (size_t i = 0; i < stream->process_count; i++)
		stream_process_free(stream->processes[i]);
	alloc_free(stream->processes);
	unread_fini(&stream->unread);
	follow_free(stream->follow);
	merge_fini(&stream->merge);
	queue_fini(&stream->queue);
	alloc_free(stream);
}

int stream_fd(const struct stream *stream)
{
	return follow_fd(stream->follow);
}

void stream_put(struct stream *stream, const struct event_header *record, uint32_t bytes)
{
	queue_put(&stream->queue, record, bytes);
}

bool stream_is_full(const struct stream *stream)
{
	return queue_is_full(&stream->queue);
}

void stream_settle(struct stream *stream, uint64_t floor_ns)
{
	queue_settle(&stream->queue, floor_ns);
}

static void tell_lost(struct stream *stream, struct stream_reader *reader)
{
	uint64_t lost = stream_reader_lost(reader), news = lost - reader->lost_told;

	if (!news)
		return;
	reader->lost_told = lost;
	stream->counts.lost += news;
	stream->options.on_lost(stream->options.context, news);
}

static void tell_dropped(struct stream *stream, struct stream_process *process)
{
	uint64_t news = stream_process_dropped(process, stream->reading.turn_ns);

	if (!news)
		return;
	stream->counts.lost += news;
	stream->options.on_lost(stream->options.context, news);
}

static int stream_on_event(void *context, struct merge_input *input, const struct event_header *record)
{
	struct stream *stream = context;

	if (input != &stream->queue.input)
		tell_lost(stream, (struct stream_reader *)input);
	return stream->options.on_event(stream->options.context, record);
}

/* An area that makes no sense is told of once, and so is what it has lost. */
static void tell_broken(struct stream *stream, struct stream_process *process)
{
	if (!stream_process_is_broken(process))
		return;
	stream->counts.failed++;
	diag_add(stream->options.diag, ASTERISM_WARNING, NULL, NULL, "process %u (%s): %s", process->pid, process->comm,
		 stream_process_damage(process));
	stream->options.on_lost(stream->options.context, 1);
	stream->counts.lost++;
}

static bool is_over(const struct stream_process *process)
{
	for (uint32_t i = 0; i < process->reader_count; i++)
		if (process->readers[i].input.head || process->readers[i].input.floor_ns != MERGE_NEVER)
			return false;
	return true;
}

/* What came to nothing after the last event of a ring; and processes of which there is no more to be read. */
static void look_after_stream(struct stream *stream)
{
	for (size_t i = stream->process_count; i--;) {
		struct stream_process *process = stream->processes[i];
		bool is_closed = true;

		if (process->is_in)
			tell_dropped(stream, process);
		tell_broken(stream, process);
		for (uint32_t j = 0; j < process->reader_count; j++) {
			struct stream_reader *reader = &process->readers[j];

			if (!reader->input.head)
				tell_lost(stream, reader);
			is_closed &= reader->is_closed;
		}
		if (stream->keeps || !is_closed || (process->is_in && !is_over(process)))
			continue;
		stream->counts.unfinished += process->is_in ? stream_process_unfinished(process) : 0;
		stream->counts.out_of_scope += !process->is_in;
		drop_process(stream, i);
	}
}

static void set_pace(struct stream *stream, uint64_t took_ns)
{
	stream->wait_ns = pace_begin(stream->wait_ns);
	for (size_t i = 0; i < stream->process_count; i++) {
		struct stream_process *process = stream->processes[i];

		for (uint32_t j = 0; j < process->reader_count; j++) {
			struct stream_reader *reader = &process->readers[j];
			const struct ring *ring = &reader->elements.ring;
			uint64_t filled = reader->elements.position - reader->position_before;

			reader->position_before += filled;
			stream->wait_ns = pace_limit(
				stream->wait_ns,
				&(struct pace_ring){ (uint64_t)ring->sub_units * ring->sub_count, filled }, took_ns);
		}
	}
}

uint64_t stream_wait_ns(const struct stream *stream)
{
	return stream->merge.has_more ? 0 : stream->wait_ns;
}

int stream_turn(struct stream *stream, uint64_t *passed_ns)
{
	int served = serve_stream(stream), result;
	uint64_t before_ns = stream->reading.turn_ns;

	stream->reading.turn_ns = clock_now_ns();
	stream_clock_look(&stream->reading.clock);
	result = merge_turn(&stream->merge, TURN_EVENTS, stream_on_event, stream);
	if (queue_is_full(&stream->queue))
		queue_push_on(&stream->queue);
	look_after_stream(stream);
	if (before_ns)
		set_pace(stream, stream->reading.turn_ns - before_ns);
	*passed_ns = stream->merge.watermark_ns;
	return result ? result : served;
}

void stream_end(struct stream *stream)
{
	stream->reading.end_ns = clock_now_ns();
	stream->news.floor_ns = MERGE_NEVER;
	queue_settle(&stream->queue, MERGE_NEVER);
	for (size_t i = 0; i < stream->process_count; i++)
		close_readers(stream->processes[i]);
}

bool stream_has_more(const struct stream *stream)
{
	if (stream->merge.has_more)
		return true;
	for (size_t i = 0; i < stream->process_count; i++)
		if (stream->processes[i]->is_in && !is_over(stream->processes[i]))
			return true;
	return false;
}

/* Of processes that have ended the newest are kept. */
static void drop_ended(struct stream *stream)
{
	size_t ended = 0;

	for (size_t i = stream->process_count; i--;) {
		struct stream_process *process = stream->processes[i];

		if (!process->has_ended || ++ended <= ENDED_MAX)
			continue;
		stream->counts.out_of_scope += !process->is_in;
		drop_process(stream, i);
	}
}

int stream_keep(struct stream *stream)
{
	int result = serve_stream(stream);

	stream->keeps = true;
	drop_ended(stream);
	stream_clock_look(&stream->reading.clock);
	return result;
}

/* Its readers, from the beginning. */
static int rewind_process(struct stream *stream, struct stream_process *process)
{
	int result;

	for (uint32_t i = 0; i < process->reader_count && process->is_in; i++)
		merge_remove(&stream->merge, &process->readers[i].input);
	result = stream_process_rewind(process, &stream->reading);
	for (uint32_t i = 0; i < process->reader_count && process->is_in && !result; i++)
		result = merge_add(&stream->merge, &process->readers[i].input);
	close_readers(process);
	return result;
}

int stream_rewind(struct stream *stream, uint64_t since_ns, uint64_t until_ns)
{
	int result = stream_keep(stream);

	stream->merge.watermark_ns = stream->merge.last_ns = 0;
	stream->reading.begin_ns = since_ns;
	stream->reading.end_ns = until_ns;
	stream->news.floor_ns = MERGE_NEVER;
	queue_settle(&stream->queue, MERGE_NEVER);
	for (size_t i = 0; i < stream->process_count && !result; i++)
		result = rewind_process(stream, stream->processes[i]);
	return result;
}

void stream_count(const struct stream *stream, struct stream_counts *counts)
{
	*counts = stream->counts;
	counts->events = stream->reading.events;
	counts->held = stream->reading.held;
	counts->late = stream->merge.late;
	counts->unread = stream->unread.told;
	for (size_t i = 0; i < stream->process_count; i++) {
		counts->out_of_scope += !stream->processes[i]->is_in;
		counts->unknown += !stream->processes[i]->is_in && !stream->processes[i]->was_judged;
	}
}
