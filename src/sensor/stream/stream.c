// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides who is read. What the directory tells is taken before any ring is looked at; as it tells of a process before
 * that process may write, an event of one that it has not told of is younger than that look, which is what the input
 * `news` stands for in the merge.
 */

#include "sensor/stream/stream.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "sensor/directory.h"
#include "sensor/stream/queue.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
	TURN_EVENTS = 65536,      /* of one turn */
	OPEN_WAIT_MS = 2000,      /* for what the directory has to tell at first */
	NEWS_MAX = 4096,          /* of one look */
	PATIENCE_NS = 2000000000, /* until it is told that a sensor is waited for */
	AGAIN_NS = 1000000000,    /* between two attempts to find a directory that has gone */
	SCOPE_NS = 200000000,     /* between two looks at who is in scope */
	PROCESSES_MAX = 4096,
};

struct stream {
	struct stream_options options;
	struct merge merge;
	struct queue queue; /* what is handed over */
	struct merge_input news;
	struct stream_reading reading;
	struct sensor_directory *directory; /* own; NULL: another one serves */
	struct sensor_observer *observer;   /* NULL: it has gone */
	struct stream_process **processes;
	size_t process_count, process_capacity;
	struct stream_counts counts; /* of processes that are gone */
	size_t asked;                /* of the wants: how many the directory has been asked for */
	uint64_t next_try_ns, next_scope_ns, begin_ns;
	bool told_waiting;
	int epoll_fd;
	int failed;
};

static void look_for_news(struct merge_input *input)
{
	(void)input; /* the floor is raised where the news are taken */
}

static int watch(struct stream *stream, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(stream->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static struct stream_process *find(const struct stream *stream, uint64_t number)
{
	for (size_t i = 0; i < stream->process_count; i++)
		if (stream->processes[i]->number == number)
			return stream->processes[i];
	return NULL;
}

/* One that has registered anew, as its directory has: its memory is that of before. */
static struct stream_process *find_again(const struct stream *stream, const struct sensor_process *told)
{
	for (size_t i = 0; i < stream->process_count; i++) {
		struct stream_process *process = stream->processes[i];

		if (process->pid == told->pid && process->birth_ticks == told->birth_ticks)
			return process;
	}
	return NULL;
}

/* Reads the process, if it is in scope by now. */
static int join(struct stream *stream, struct stream_process *process)
{
	const struct stream_options *options = &stream->options;
	int result = 0;

	if (process->is_in || !options->in_scope(options->context, (pid_t)process->pid))
		return 0;
	stream_process_join(process, &options->wants);
	stream->counts.processes++;
	for (uint32_t i = 0; i < process->reader_count && !result; i++)
		result = merge_add(&stream->merge, &process->readers[i].input);
	return result;
}

static void drop(struct stream *stream, size_t index)
{
	struct stream_process *process = stream->processes[index];

	for (uint32_t i = 0; i < process->reader_count && process->is_in; i++)
		merge_remove(&stream->merge, &process->readers[i].input);
	stream_process_free(process);
	stream->processes[index] = stream->processes[--stream->process_count];
}

static int take_process(struct stream *stream, const struct sensor_notice *notice)
{
	struct stream_process *process = find_again(stream, notice->process);
	int result;

	if (process || !notice->area) {
		if (process)
			process->number = notice->number;
		else
			diag_add(stream->options.diag, ASTERISM_WARNING, NULL, NULL,
				 "the sensors of process %u cannot be read: their memory cannot be mapped",
				 notice->process->pid);
		if (notice->area)
			sensor_mapping_free(notice->area);
		return 0;
	}
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
	return join(stream, process);
}

static int take_type(struct stream *stream, const struct sensor_notice *notice)
{
	const struct stream_options *options = &stream->options;
	struct stream_process *process = find(stream, notice->number);
	int result;

	if (!process)
		return 0;
	result = stream_process_type(process, notice->type, notice->text, &options->wants, options->diag);
	if (result != -EBADMSG)
		return result;
	diag_add(options->diag, ASTERISM_WARNING, NULL, NULL, "what process %u (%s) says of a sensor makes no sense",
		 process->pid, process->comm);
	return 0;
}

static void close_readers(struct stream_process *process)
{
	for (uint32_t i = 0; i < process->reader_count; i++)
		process->readers[i].is_closed = true;
}

/* Asks for the next name, if there is one more: one at a time, as the directory wants it. */
static int ask(struct stream *stream)
{
	const struct stream_wants *wants = &stream->options.wants;
	size_t next = stream->asked++;

	return next < wants->count ? sensor_observer_ask(stream->observer, wants->items[next].name,
							 SENSOR_FOLLOW | SENSOR_OPEN | SENSOR_AREAS)
				   : 0;
}

static int take_notice(struct stream *stream, const struct sensor_notice *notice)
{
	struct stream_process *process;

	switch (notice->kind) {
	case SENSOR_PROCESS:
		return take_process(stream, notice);
	case SENSOR_TYPE:
		return take_type(stream, notice);
	case SENSOR_ENDED:
		process = find(stream, notice->number);
		if (process)
			close_readers(process);
		return 0;
	case SENSOR_END:
		return ask(stream);
	default:
		return 0;
	}
}

static void lose_directory(struct stream *stream)
{
	sensor_observer_close(stream->observer);
	stream->observer = NULL;
	stream->next_try_ns = clock_now_ns() + AGAIN_NS;
	diag_add(stream->options.diag, ASTERISM_WARNING, NULL,
		 "sensors that are read go on being read; new ones are as soon as a directory serves again",
		 "the directory of sensors has ended");
}

/* Takes what the directory has told by now. Returns the first failure; everything is taken all the same. */
static int take_news(struct stream *stream)
{
	struct sensor_notice notice;
	int result, failed = 0;

	for (int i = 0; stream->observer && i < NEWS_MAX; i++) {
		result = sensor_observer_next(stream->observer, 0, &notice);
		if (result == 0)
			return failed;
		if (result < 0) {
			lose_directory(stream);
			return failed;
		}
		result = take_notice(stream, &notice);
		failed = failed ? failed : result;
	}
	return failed;
}

static void find_directory_again(struct stream *stream, uint64_t now)
{
	if (stream->observer || now < stream->next_try_ns)
		return;
	stream->next_try_ns = now + AGAIN_NS;
	if (sensor_observer_open(NULL, NULL, NULL, &stream->observer)) {
		stream->observer = NULL;
		return;
	}
	stream->asked = 0;
	if (watch(stream, sensor_observer_fd(stream->observer)) || ask(stream))
		lose_directory(stream);
}

/* Said once: whoever is there by now is told of. */
static void tell_waiting(struct stream *stream, uint64_t now)
{
	if (stream->told_waiting || now - stream->begin_ns < PATIENCE_NS)
		return;
	stream->told_waiting = true;
	for (size_t i = 0; i < stream->options.wants.count; i++)
		if (!stream->options.wants.items[i].announced)
			diag_add(stream->options.diag, ASTERISM_NOTE, NULL, NULL,
				 "no observed process has announced %s yet; it is waited for",
				 stream->options.wants.items[i].name);
}

/* Whom a session observes is not known when the first are told of, and may change. */
static int look_at_scope(struct stream *stream, uint64_t now)
{
	int result = 0;

	if (now < stream->next_scope_ns)
		return 0;
	stream->next_scope_ns = now + SCOPE_NS;
	for (size_t i = 0; i < stream->process_count && !result; i++)
		result = join(stream, stream->processes[i]);
	return result;
}

static int serve(struct stream *stream)
{
	int result = stream->directory ? sensor_directory_dispatch(stream->directory) : 0;
	uint64_t now = clock_now_ns();

	find_directory_again(stream, now);
	if (!result)
		result = take_news(stream);
	if (!result)
		result = look_at_scope(stream, now);
	/* Who was told of until now is there; those that a directory which has gone did not tell of are late. */
	if (now - STREAM_VISIBLE_NS > stream->news.floor_ns)
		stream->news.floor_ns = now - STREAM_VISIBLE_NS;
	tell_waiting(stream, now);
	return result;
}

/*
 * Asks for all, and waits for the answers, so that what is started now finds its sensors watched. One that takes its
 * time goes on being asked later; it may be that it is served by our own thread.
 */
static int ask_all(struct stream *stream)
{
	struct sensor_notice notice;
	int result = ask(stream);

	for (int waited = 0; result >= 0 && stream->asked <= stream->options.wants.count && waited < OPEN_WAIT_MS;) {
		result = stream->directory ? sensor_directory_dispatch(stream->directory) : 0;
		if (!result)
			result = sensor_observer_next(stream->observer, 1, &notice);
		waited += result == 0;
		if (result == 1)
			result = take_notice(stream, &notice);
	}
	return result < 0 ? result : 0;
}

/* Returns 0; -ENOENT: nobody serves. */
static int observe(struct stream *stream, const char *path, struct asterism_diag *diag)
{
	int result = sensor_observer_open(path, NULL, diag, &stream->observer);

	if (!result)
		result = watch(stream, sensor_observer_fd(stream->observer));
	return result ? result : ask_all(stream);
}

static int find_directory(struct stream *stream, struct asterism_diag *diag)
{
	static const struct sensor_directory_options usual;
	int result = observe(stream, NULL, NULL);

	if (result != -ENOENT && result != -ECONNREFUSED)
		return result ? diag_error(diag, NULL, result, "the directory of sensors cannot be asked: %s",
					   strerror(-result))
			      : 0;
	result = sensor_directory_open(&usual, diag, &stream->directory);
	if (!result)
		result = watch(stream, sensor_directory_fd(stream->directory));
	return result ? result : observe(stream, sensor_directory_path(stream->directory), diag);
}

static uint64_t now_ns(void)
{
	return clock_now_ns();
}

static int open_stream(struct stream *stream, struct asterism_diag *diag)
{
	stream->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (stream->epoll_fd < 0)
		return diag_error(diag, NULL, -errno, "waiting for sensors is not possible: %s", strerror(errno));
	stream->news.look = look_for_news;
	if (queue_init(&stream->queue, stream->options.record_bytes) || merge_add(&stream->merge, &stream->news) ||
	    merge_add(&stream->merge, &stream->queue.input))
		return diag_no_memory(diag);
	int result = find_directory(stream, diag);

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
	stream->epoll_fd = -1;
	stream->begin_ns = clock_now_ns();
	stream->reading = (struct stream_reading){
		.now = now_ns,
		.visible_ns = STREAM_VISIBLE_NS,
		.hold_ns = STREAM_HOLD_NS,
		.begin_ns = stream->begin_ns,
		.end_ns = MERGE_NEVER,
		.record_bytes = options->record_bytes,
	};
	result = open_stream(stream, diag);
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
	sensor_observer_close(stream->observer);
	sensor_directory_close(stream->directory);
	merge_fini(&stream->merge);
	queue_fini(&stream->queue);
	if (stream->epoll_fd >= 0)
		close(stream->epoll_fd);
	alloc_free(stream);
}

int stream_fd(const struct stream *stream)
{
	return stream->epoll_fd;
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
	uint64_t dropped = stream_process_dropped(process), news = dropped - process->dropped_told;

	if (!news)
		return;
	process->dropped_told = dropped;
	stream->counts.lost += news;
	stream->options.on_lost(stream->options.context, news);
}

static int on_event(void *context, struct merge_input *input, const struct event_header *record)
{
	struct stream *stream = context;

	if (input != &stream->queue.input)
		tell_lost(stream, (struct stream_reader *)input);
	return stream->options.on_event(stream->options.context, record);
}

/* An area that makes no sense is told of once, and so is what it has lost. */
static void tell_failed(struct stream *stream, struct stream_process *process, const struct stream_reader *reader)
{
	if (!reader->elements.failed || process->is_reported)
		return;
	process->is_reported = true;
	stream->counts.failed++;
	diag_add(stream->options.diag, ASTERISM_WARNING, NULL, NULL,
		 "what process %u (%s) has written to a ring makes no sense: that ring is not read any more",
		 process->pid, process->comm);
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
static void look_after(struct stream *stream)
{
	for (size_t i = stream->process_count; i--;) {
		struct stream_process *process = stream->processes[i];
		bool is_closed = true;

		if (process->is_in)
			tell_dropped(stream, process);
		for (uint32_t j = 0; j < process->reader_count; j++) {
			struct stream_reader *reader = &process->readers[j];

			if (!reader->input.head)
				tell_lost(stream, reader);
			tell_failed(stream, process, reader);
			is_closed &= reader->is_closed;
		}
		if (!is_closed || (process->is_in && !is_over(process)))
			continue;
		stream->counts.unfinished += process->is_in ? stream_process_unfinished(process) : 0;
		stream->counts.out_of_scope += !process->is_in;
		drop(stream, i);
	}
}

int stream_turn(struct stream *stream, uint64_t *passed_ns)
{
	int served = serve(stream), result;

	stream_clock_look(&stream->reading.clock);
	result = merge_turn(&stream->merge, TURN_EVENTS, on_event, stream);
	if (queue_is_full(&stream->queue))
		queue_push_on(&stream->queue);
	look_after(stream);
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

void stream_count(const struct stream *stream, struct stream_counts *counts)
{
	*counts = stream->counts;
	counts->events = stream->reading.events;
	counts->held = stream->reading.held;
	counts->late = stream->merge.late;
	for (size_t i = 0; i < stream->process_count; i++)
		counts->out_of_scope += !stream->processes[i]->is_in;
}
