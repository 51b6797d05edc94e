// SPDX-License-Identifier: BSD-2-Clause
/*
 * Divides the work on a process between two threads. The follower makes it and tells the evaluator to read it (JOIN),
 * to expect no more of it (CLOSE), or of all (END), or that there was no directory (GAP); the evaluator gives it back
 * when it is through (GONE). In between it is the evaluator's, but for its types (stream_process_type).
 */

#include "session/monitor/intake.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "sensor/stream/unread.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

enum {
	LOOKS = 3, /* of a turn: most writers that are in between at the first are not any more at the next */
	PROCESSES_MAX = 1024,
	QUEUE_BYTES = 1 << 18,   /* more than two messages for each process */
	NOBODY_NS = 500000000,   /* from the first element of a process until it is read, at most */
	TURN_ELEMENTS = 1 << 20, /* of one turn, so that it ends whatever comes */
	SCOPE_NS = 100000000,    /* between two looks at who is in scope */
	RINGS_MAX = 1024 * 16,   /* that the merge has room for from the beginning */
};

enum message { JOIN, CLOSE, GAP, END, GONE };

/* A process, as both threads know it. */
struct known {
	struct stream_process *process;
	bool is_joined; /* the follower's */
	bool is_closed; /* the follower's */
	_Atomic bool is_broken;
	bool is_told; /* the follower's: that it is broken */
};

struct told {
	enum message message;
	struct known *known;
	uint64_t at_ns;
};

struct intake {
	struct intake_options options;
	struct stream_reading reading;
	struct monitor_queue down, up; /* to the evaluator and back */
	_Atomic uint64_t served;

	/* The follower's. */
	struct follow *follow;
	struct known *known[PROCESSES_MAX];
	uint32_t known_count;
	struct unread unread;
	uint64_t next_scope_ns;
	struct intake_counts counts;
	bool is_ended;

	/* The evaluator's. */
	struct merge merge;
	struct known *read[PROCESSES_MAX];
	uint32_t read_count;
	bool is_over;
	uint64_t lost;
};

/* ---- the follower */

static struct known *find_known(const struct intake *intake, uint64_t number)
{
	for (uint32_t i = 0; i < intake->known_count; i++)
		if (intake->known[i]->process->number == number)
			return intake->known[i];
	return NULL;
}

/* One that has registered with the next directory: its memory is that of before. After exec it is not. */
static struct known *find_again(const struct intake *intake, const struct sensor_notice *notice)
{
	const struct sensor_process *told = notice->process;

	for (uint32_t i = 0; i < intake->known_count; i++) {
		const struct stream_process *process = intake->known[i]->process;

		if (process->pid == told->pid && process->birth_ticks == told->birth_ticks &&
		    process->area->inode == notice->area->inode)
			return intake->known[i];
	}
	return NULL;
}

static int tell_evaluator(struct intake *intake, enum message message, struct known *known)
{
	struct told *told = monitor_queue_reserve(&intake->down, sizeof *told);

	if (!told)
		return -EAGAIN;
	*told = (struct told){ .message = message, .known = known, .at_ns = clock_now_ns() };
	monitor_queue_send(&intake->down);
	return 0;
}

static int join_known(struct intake *intake, struct known *known)
{
	const struct intake_options *options = &intake->options;

	if (known->is_joined || intake->is_ended ||
	    !options->in_scope(options->follower, (pid_t)known->process->pid, (pid_t)known->process->parent))
		return 0;
	stream_process_join(known->process, &options->wants);
	if (tell_evaluator(intake, JOIN, known))
		return -EAGAIN;
	known->is_joined = true;
	intake->counts.processes++;
	return known->is_closed ? tell_evaluator(intake, CLOSE, known) : 0;
}

static void drop_known(struct intake *intake, struct known *known)
{
	for (uint32_t i = 0; i < intake->known_count; i++)
		if (intake->known[i] == known)
			intake->known[i--] = intake->known[--intake->known_count];
	stream_process_free(known->process);
	alloc_free(known);
}

static int on_left_out(void *context, const struct sensor_notice *notice)
{
	struct intake *intake = context;

	intake->next_scope_ns = 0;
	return unread_add(&intake->unread, notice);
}

static int on_process(void *context, const struct sensor_notice *notice)
{
	struct intake *intake = context;
	struct known *known = notice->area ? find_again(intake, notice) : NULL;
	int result = -E2BIG;

	if (known) {
		known->process->number = notice->number;
		sensor_mapping_free(notice->area);
		return 0;
	}
	if (!notice->area)
		return on_left_out(intake, notice);
	known = intake->known_count < PROCESSES_MAX ? alloc_zero(1, sizeof *known) : NULL;
	if (known)
		result = stream_process_new(notice->process, notice->area, &intake->reading, &known->process);
	if (result) {
		diag_add(intake->options.diag, ASTERISM_WARNING, NULL, NULL,
			 "not reading the sensors of process %u: %s", notice->process->pid,
			 result == -E2BIG ? "too many processes have sensors" : "out of memory");
		sensor_mapping_free(notice->area);
		alloc_free(known);
		return 0;
	}
	intake->known[intake->known_count++] = known;
	return join_known(intake, known);
}

static int on_type(void *context, const struct sensor_notice *notice)
{
	struct intake *intake = context;
	const struct intake_options *options = &intake->options;
	struct known *known = find_known(intake, notice->number);
	int result;

	if (!known)
		return 0;
	result = stream_process_type(known->process, notice->type, notice->text, &options->wants, options->diag);
	if (result == -EBADMSG) {
		diag_add(options->diag, ASTERISM_WARNING, NULL, NULL,
			 "process %u (%s) declares a sensor in a malformed way", known->process->pid,
			 known->process->comm);
		return 0;
	}
	if (!result && options->on_type)
		options->on_type(options->follower, known->process->pid, notice->type, &known->process->area->shape);
	return result;
}

static void intake_on_ended(void *context, uint64_t number)
{
	struct intake *intake = context;
	struct known *known = find_known(intake, number);

	if (!known || known->is_closed)
		return;
	known->is_closed = true;
	if (known->is_joined)
		tell_evaluator(intake, CLOSE, known);
}

/* How many elements nobody was asked for, nobody knows: it counts as one that is lost. */
static void on_gone(void *context)
{
	struct intake *intake = context;

	intake->counts.gaps++;
	tell_evaluator(intake, GAP, NULL);
}

static void tell_broken(struct intake *intake)
{
	for (uint32_t i = 0; i < intake->known_count; i++) {
		struct known *known = intake->known[i];

		if (known->is_told || !atomic_load(&known->is_broken))
			continue;
		known->is_told = true;
		intake->counts.failed++;
		diag_add(intake->options.diag, ASTERISM_WARNING, NULL, NULL, "process %u (%s): %s", known->process->pid,
			 known->process->comm, stream_process_damage(known->process));
	}
}

/* Processes that the evaluator is through with. */
static void take_processes_back(struct intake *intake)
{
	const struct told *told;
	size_t bytes;

	while ((told = monitor_queue_look(&intake->up, &bytes))) {
		struct known *known = told->known;

		monitor_queue_drop(&intake->up);
		tell_broken(intake);
		intake->counts.unfinished += stream_process_unfinished(known->process);
		drop_known(intake, known);
	}
}

static int look_at_scope(struct intake *intake)
{
	const struct intake_options *options = &intake->options;
	const struct unread_scope scope = { options->in_scope, options->follower, options->diag };
	uint64_t now = clock_now_ns();
	int result = 0;

	if (now < intake->next_scope_ns)
		return 0;
	intake->next_scope_ns = now + SCOPE_NS;
	for (uint64_t i = unread_judge(&intake->unread, &scope); i; i--)
		tell_evaluator(intake, GAP, NULL);
	for (uint32_t i = intake->known_count; i-- && !result;) {
		struct known *known = intake->known[i];

		result = join_known(intake, known);
		if (known->is_joined || !known->is_closed)
			continue;
		intake->counts.out_of_scope++;
		drop_known(intake, known);
	}
	return result;
}

int intake_serve(struct intake *intake)
{
	int result = follow_serve(intake->follow);

	atomic_fetch_add_explicit(&intake->served, 1, memory_order_release);
	take_processes_back(intake);
	tell_broken(intake);
	if (!result && !intake->is_ended)
		result = look_at_scope(intake);
	return result;
}

void intake_end(struct intake *intake)
{
	intake_serve(intake);
	intake->is_ended = true;
	tell_evaluator(intake, END, NULL);
}

int intake_fd(const struct intake *intake)
{
	return follow_fd(intake->follow);
}

void intake_count(const struct intake *intake, struct intake_counts *counts)
{
	*counts = intake->counts;
	counts->lost = intake->lost;
	counts->late = intake->merge.late;
	counts->unread = intake->unread.told;
	counts->held = intake->reading.held;
	for (uint32_t i = 0; i < intake->known_count; i++) {
		counts->out_of_scope += !intake->known[i]->is_joined;
		counts->unfinished += intake->known[i]->is_joined && intake->known[i]->is_closed
					      ? stream_process_unfinished(intake->known[i]->process)
					      : 0;
	}
}

static uint64_t intake_now_ns(void)
{
	return clock_now_ns();
}

/* Takes all the memory that the evaluator will need. */
static int reserve_merge(struct merge *merge)
{
	static const size_t bytes = RINGS_MAX * sizeof(struct merge_input *);

	merge->inputs = alloc_zero(1, bytes);
	merge->heap = alloc_zero(1, bytes);
	merge->input_capacity = merge->heap_capacity = RINGS_MAX;
	return merge->inputs && merge->heap ? 0 : -ENOMEM;
}

int intake_new(const struct intake_options *options, struct asterism_diag *diag, struct intake **made)
{
	struct intake *intake = alloc_zero(1, sizeof *intake);
	int result = 0;

	if (!intake)
		return diag_no_memory(diag);
	intake->options = *options;
	intake->reading = (struct stream_reading){
		.now = intake_now_ns,
		.visible_ns = STREAM_VISIBLE_NS,
		.hold_ns = options->hold_ns,
		.begin_ns = UINT64_MAX,
		.end_ns = MERGE_NEVER,
		.record_bytes = options->record_bytes,
		.served = &intake->served,
	};
	const struct follow_options follow = {
		.wants = &intake->options.wants,
		.on_process = on_process,
		.on_type = on_type,
		.on_ended = intake_on_ended,
		.on_left_out = on_left_out,
		.on_gone = on_gone,
		.context = intake,
		.diag = options->diag,
	};

	if (monitor_queue_init(&intake->down, QUEUE_BYTES) || monitor_queue_init(&intake->up, QUEUE_BYTES) ||
	    reserve_merge(&intake->merge))
		result = diag_no_memory(diag);
	stream_clock_look(&intake->reading.clock);
	if (!result)
		result = follow_new(&follow, diag, &intake->follow);
	if (result)
		intake_free(intake);
	else
		*made = intake;
	return result;
}

void intake_free(struct intake *intake)
{
	if (!intake)
		return;
	follow_free(intake->follow);
	while (intake->known_count)
		drop_known(intake, intake->known[0]);
	unread_fini(&intake->unread);
	merge_fini(&intake->merge);
	monitor_queue_fini(&intake->down);
	monitor_queue_fini(&intake->up);
	alloc_free(intake);
}

/* ---- the evaluator */

static void lose_intake_events(struct intake *intake, uint64_t lost)
{
	if (intake->reading.begin_ns == UINT64_MAX)
		return;
	intake->lost += lost;
	intake->options.on_lost(intake->options.evaluator, lost);
}

static void tell_lost(struct intake *intake, struct stream_reader *reader)
{
	uint64_t lost = stream_reader_lost(reader), news = lost - reader->lost_told;

	if (!news)
		return;
	reader->lost_told = lost;
	lose_intake_events(intake, news);
}

static void start_reading(struct intake *intake, struct known *known, uint64_t at_ns)
{
	struct stream_process *process = known->process;

	if (intake->read_count == PROCESSES_MAX || intake->merge.input_count + process->reader_count > RINGS_MAX) {
		atomic_store(&known->is_broken, true); /* cannot happen with rings as they are handed out */
		return;
	}
	intake->read[intake->read_count++] = known;
	for (uint32_t i = 0; i < process->reader_count; i++) {
		process->readers[i].begun_ns = at_ns;
		merge_add(&intake->merge, &process->readers[i].input);
	}
}

static void close_readers(struct stream_process *process)
{
	for (uint32_t i = 0; i < process->reader_count; i++)
		process->readers[i].is_closed = true;
}

static void take_told(struct intake *intake)
{
	const struct told *told;
	size_t bytes;

	while ((told = monitor_queue_look(&intake->down, &bytes))) {
		switch (told->message) {
		case JOIN:
			start_reading(intake, told->known, told->at_ns);
			break;
		case CLOSE:
			close_readers(told->known->process);
			break;
		case GAP:
			lose_intake_events(intake, 1);
			break;
		default:
			intake->reading.end_ns = told->at_ns;
			intake->is_over = true;
			for (uint32_t i = 0; i < intake->read_count; i++)
				close_readers(intake->read[i]->process);
		}
		monitor_queue_drop(&intake->down);
	}
}

/* A writer that began before our look and has not ended keeps others from being handed out. */
static bool is_held(const struct stream_process *process)
{
	for (uint32_t i = 0; i < process->reader_count; i++)
		if (process->readers[i].since_ns && !process->readers[i].passed)
			return true;
	return false;
}

static bool is_any_held(const struct intake *intake)
{
	for (uint32_t i = 0; i < intake->read_count; i++)
		if (is_held(intake->read[i]->process))
			return true;
	return false;
}

static bool is_through(const struct stream_process *process)
{
	for (uint32_t i = 0; i < process->reader_count; i++)
		if (!process->readers[i].is_closed || process->readers[i].input.head ||
		    process->readers[i].input.floor_ns != MERGE_NEVER)
			return false;
	return true;
}

static void give_element_back(struct intake *intake, uint32_t index)
{
	struct known *known = intake->read[index];
	struct told *told = monitor_queue_reserve(&intake->up, sizeof *told);

	if (!told)
		return; /* in the next turn */
	for (uint32_t i = 0; i < known->process->reader_count; i++)
		merge_remove(&intake->merge, &known->process->readers[i].input);
	intake->read[index] = intake->read[--intake->read_count];
	*told = (struct told){ .message = GONE, .known = known };
	monitor_queue_send(&intake->up);
}

static void look_after_known(struct intake *intake, struct known *known, uint64_t now)
{
	struct stream_process *process = known->process;
	uint64_t news = stream_process_dropped(process, now);

	if (news)
		lose_intake_events(intake, news);
	for (uint32_t i = 0; i < process->reader_count; i++) {
		struct stream_reader *reader = &process->readers[i];

		if (!reader->input.head)
			tell_lost(intake, reader);
	}
	if (stream_process_is_broken(process)) {
		atomic_store(&known->is_broken, true);
		lose_intake_events(intake, 1);
	}
}

static int intake_on_event(void *context, struct merge_input *input, const struct event_header *record)
{
	struct intake *intake = context;
	struct stream_reader *reader = (struct stream_reader *)input;
	const struct intake_element element = {
		.record = record,
		.type = event_type_of(record),
		.is_late = event_is_late(record),
		.is_new = record->ts < reader->begun_ns,
	};

	tell_lost(intake, reader);
	intake->options.on_element(intake->options.evaluator, &element);
	return 0;
}

void intake_begin(struct intake *intake, uint64_t begin_ns)
{
	intake->reading.begin_ns = begin_ns;
}

void intake_turn(struct intake *intake, uint64_t *watermark_ns, bool *held)
{
	uint64_t begin = clock_now_ns();

	take_told(intake);
	stream_clock_look(&intake->reading.clock);
	for (int i = 0; i < LOOKS; i++) {
		merge_turn(&intake->merge, TURN_ELEMENTS, intake_on_event, intake);
		*held = is_any_held(intake);
		if (!*held)
			break;
	}
	for (uint32_t i = intake->read_count; i--;) {
		look_after_known(intake, intake->read[i], begin);
		if (is_through(intake->read[i]->process))
			give_element_back(intake, i);
	}
	/* Where nobody is left, time passes all the same; but not so fast that it has passed for whoever comes next. */
	if (!intake->read_count && begin - NOBODY_NS > intake->merge.watermark_ns)
		intake->merge.watermark_ns = begin - NOBODY_NS;
	*watermark_ns = intake->merge.watermark_ns;
}

bool intake_is_over(const struct intake *intake)
{
	return intake->is_over && !intake->read_count;
}
