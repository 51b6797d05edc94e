// SPDX-License-Identifier: BSD-2-Clause
/*
 * Keeps what a process had mapped, by the records that the kernel wrote when it was mapped. A new program has nothing
 * of the old one; a child that runs none has what its parent had. What was unmapped is not told, and does no harm: code
 * that is met was there.
 */

#include "session/output/map-log.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	ANCESTORS_MAX = 8,
	NOTES_MAX = 1 << 14, /* of one process; more are left out */
	CODE = 4,            /* PROT_EXEC */
	WRITABLE = 2,        /* PROT_WRITE */
};

/* struct perf_event_mmap_page lies in front of the ring. */
struct ring {
	int fd;
	uint32_t scope; /* 0: of all processes; else of which of those followed */
	struct perf_event_mmap_page *page;
};

/* What a record says. */
struct note {
	uint64_t time, start, end, offset, inode;
	size_t name; /* in names */
	bool is_code, is_writable;
};

struct map_log {
	struct ring *rings;
	size_t count, capacity;
	uint32_t followed;
	uint64_t begun[MAP_LOG_FOLLOWED_MAX + 1]; /* when; what was before only that of all may have */
	size_t page_bytes;
	uint8_t *copy;
	/* Of the process that is asked for: */
	struct note *notes;
	size_t note_count, note_capacity;
	struct text_buffer names;
	uint64_t began; /* when its program did; 0: not in the log */
	uint64_t born;  /* when it was forked; 0: not in the log */
	uint32_t parent;
	struct reach {
		uint64_t since; /* all that happened from then on is there */
		bool is_its;    /* it is one of the scope: something of it is there */
	} reaches[MAP_LOG_FOLLOWED_MAX + 1];
};

struct mapped_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, length, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t rights, flags;
	char name[];
};

struct forked_record {
	struct perf_event_header header;
	uint32_t pid, parent, tid, parent_tid;
	uint64_t time;
};

struct named_record {
	struct perf_event_header header;
	uint32_t pid, tid;
};

static int open_ring(struct ring *ring, pid_t scope, int cpu, size_t page_bytes)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.mmap = 1,
		.mmap_data = 1,
		.mmap2 = 1,
		.inherit = scope >= 0,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.write_backward = 1,
		.watermark = 1,
		.wakeup_watermark = UINT32_MAX,
	};
	void *page;

	ring->fd = (int)syscall(SYS_perf_event_open, &attr, scope, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (ring->fd < 0)
		return -errno;
	/* Read only: the kernel goes on over what is oldest. */
	page = mmap(NULL, page_bytes + MAP_LOG_BYTES, PROT_READ, MAP_SHARED, ring->fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	ring->page = page;
	return 0;
}

/* On each CPU, of scope: a process and those that it begins, or all (-1). Returns how many there are. */
static uint32_t open_rings(struct map_log *log, pid_t scope)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint32_t opened = 0;

	for (int cpu = 0; cpu < cpus; cpu++) {
		if (alloc_grow(&log->rings, &log->capacity, log->count, sizeof *log->rings))
			return opened;
		log->rings[log->count] = (struct ring){ .fd = -1, .scope = log->followed };
		opened += open_ring(&log->rings[log->count++], scope, cpu, log->page_bytes) == 0;
	}
	return opened;
}

struct map_log *map_log_open(void)
{
	struct map_log *log = alloc_zero(1, sizeof *log);

	if (!log)
		return NULL;
	log->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	log->copy = alloc_zero(MAP_LOG_BYTES, 1);
	if (log->copy && open_rings(log, -1))
		return log;
	map_log_free(log);
	return NULL;
}

void map_log_follow(struct map_log *log, pid_t pid)
{
	if (log->followed++ >= MAP_LOG_FOLLOWED_MAX)
		return;
	log->begun[log->followed] = clock_now_ns();
	open_rings(log, pid);
}

void map_log_free(struct map_log *log)
{
	if (!log)
		return;
	for (size_t i = 0; i < log->count; i++) {
		if (log->rings[i].page)
			munmap(log->rings[i].page, log->page_bytes + MAP_LOG_BYTES);
		if (log->rings[i].fd >= 0)
			close(log->rings[i].fd);
	}
	alloc_free(log->rings);
	alloc_free(log->copy);
	alloc_free(log->notes);
	text_fini(&log->names);
	alloc_free(log);
}

/*
 * Copies the ring, the newest record first; returns how many bytes are good, and whether there were more. The head goes
 * down as the kernel writes; what it has written meanwhile has taken the place of what was oldest.
 */
static size_t copy_ring(struct map_log *log, const struct ring *ring, bool *is_cut)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	const uint8_t *data = (const uint8_t *)ring->page + log->page_bytes;
	size_t first = head % MAP_LOG_BYTES, written = 0 - head;

	memcpy(log->copy, data + first, MAP_LOG_BYTES - first);
	memcpy(log->copy + MAP_LOG_BYTES - first, data, first);
	uint64_t overwritten = head - __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);

	size_t good = overwritten < MAP_LOG_BYTES ? MAP_LOG_BYTES - overwritten : 0;

	*is_cut = written > good;
	return *is_cut ? good : written;
}

static int note_mapping(struct map_log *log, const struct mapped_record *record, uint64_t time)
{
	size_t room = record->header.size - sizeof *record - sizeof time;

	if (log->note_count == NOTES_MAX)
		return 0;
	if (alloc_grow(&log->notes, &log->note_capacity, log->note_count, sizeof *log->notes))
		return -ENOMEM;
	log->notes[log->note_count++] = (struct note){
		.time = time,
		.start = record->start,
		.end = record->start + record->length,
		.offset = record->offset,
		.inode = record->inode,
		.name = log->names.length,
		.is_code = record->rights & CODE,
		.is_writable = record->rights & WRITABLE,
	};
	text_append_bytes(&log->names, record->name, strnlen(record->name, room));
	text_append_bytes(&log->names, "", 1);
	return log->names.failure ? -ENOMEM : 0;
}

/* The time stands at the end of each. */
static uint64_t mapping_time(const struct perf_event_header *header)
{
	uint64_t time;

	memcpy(&time, (const uint8_t *)header + header->size - sizeof time, sizeof time);
	return time;
}

/* A record of process pid from before until. */
static int take_record(struct map_log *log, const struct perf_event_header *header, uint32_t pid, uint64_t until,
		       struct reach *reach)
{
	const struct forked_record *forked = (const void *)header;
	uint64_t time = mapping_time(header);

	if (((const struct named_record *)header)->pid != pid || time > until)
		return 0;
	reach->is_its = true;
	if (header->type == PERF_RECORD_COMM && header->misc & PERF_RECORD_MISC_COMM_EXEC && time > log->began)
		log->began = time;
	if (header->type == PERF_RECORD_FORK && forked->parent != pid && time > log->born) {
		log->born = time;
		log->parent = forked->parent;
	}
	if (header->type == PERF_RECORD_MMAP2 && header->size > sizeof(struct mapped_record) + sizeof time)
		return note_mapping(log, (const void *)header, time);
	return 0;
}

static int take_ring(struct map_log *log, const struct ring *ring, uint32_t pid, uint64_t until)
{
	bool is_cut = false;
	size_t length = ring->page ? copy_ring(log, ring, &is_cut) : 0;
	size_t least = sizeof(struct named_record) + sizeof(uint64_t);
	struct reach *reach = &log->reaches[ring->scope];
	uint64_t oldest = UINT64_MAX;
	int result = 0;

	for (size_t at = 0; at + least <= length && !result;) {
		const struct perf_event_header *header = (const void *)(log->copy + at);

		if (header->size < least || header->size > length - at)
			break;
		result = take_record(log, header, pid, until, reach);
		oldest = mapping_time(header);
		at += header->size;
	}
	if (is_cut && oldest > reach->since)
		reach->since = oldest;
	return result;
}

static int compare_logged(const void *left, const void *right)
{
	const struct note *a = left, *b = right;

	return a->time < b->time ? -1 : a->time > b->time;
}

static int put_logged_mapping(struct mappings *mappings, struct mapping item)
{
	if (alloc_grow(&mappings->items, &mappings->capacity, mappings->count, sizeof *mappings->items))
		return -ENOMEM;
	mappings->items[mappings->count++] = item;
	return 0;
}

/* Where the new one lies nothing else is left. */
static int put_over(struct mappings *mappings, const struct mapping *new)
{
	int result = 0;

	for (size_t i = mappings->count; i-- > 0 && !result;) {
		struct mapping *old = &mappings->items[i], tail = *old;

		if (old->end <= new->start || old->start >= new->end)
			continue;
		tail.start = new->end;
		tail.offset += new->end - old->start;
		if (old->start < new->start)
			old->end = new->start;
		else
			*old = mappings->items[--mappings->count];
		if (tail.start < tail.end)
			result = put_logged_mapping(mappings, tail);
	}
	return result ? result : put_logged_mapping(mappings, *new);
}

/*
 * From when on everything about the process is there. Each CPU's ring forgets at its own pace: of what is older,
 * one may still have what was mapped, and another no more that a new program began since, or a process of that id.
 */
static uint64_t reaches_to(const struct map_log *log)
{
	uint64_t since = log->reaches[0].since;

	for (uint32_t i = 1; i <= MAP_LOG_FOLLOWED_MAX; i++)
		if (log->reaches[i].is_its && log->reaches[i].since < since)
			since = log->reaches[i].since;
	return since;
}

/* Reads what there is of the process into notes, began and born. */
static int take_rings(struct map_log *log, uint32_t pid, uint64_t until)
{
	int result = 0;

	log->note_count = log->names.length = 0;
	log->began = log->born = 0;
	for (uint32_t i = 0; i <= MAP_LOG_FOLLOWED_MAX; i++)
		log->reaches[i] = (struct reach){ .since = log->begun[i] };
	for (size_t i = 0; i < log->count && !result; i++)
		result = take_ring(log, &log->rings[i], pid, until);
	if (log->born < reaches_to(log))
		log->born = 0;
	return result;
}

/* The notes of the program, in the order of their time, go over what is there. */
static int put_notes(struct map_log *log, struct mappings *mappings)
{
	uint64_t since = reaches_to(log);
	int result = 0;

	if (log->note_count)
		qsort(log->notes, log->note_count, sizeof *log->notes, compare_logged);
	for (size_t i = 0; i < log->note_count && !result && mappings->count < MAPPINGS_MAX; i++) {
		const struct note *note = &log->notes[i];
		const char *name = log->names.bytes + note->name;
		const struct mapping item = { .start = note->start,
					      .end = note->end,
					      .offset = note->offset,
					      .inode = note->inode,
					      .name = mappings->names.length,
					      .is_code = note->is_code,
					      .is_writable = note->is_writable };

		if (note->time < log->began || note->time < log->born || note->time < since)
			continue;
		text_append(&mappings->names, strcmp(name, "//anon") == 0 ? "" : name);
		text_append_bytes(&mappings->names, "", 1);
		result = mappings->names.failure ? -ENOMEM : put_over(mappings, &item);
	}
	return result;
}

/* What the process had, which what its parent had when it was born is a part of, unless it runs a program of its own.
 */
static int read_logged_process(struct map_log *log, uint32_t pid, uint64_t until, int ancestors,
			       struct mappings *mappings)
{
	int result = 0;

	for (int again = 0; again < 2 && !result; again++) {
		result = take_rings(log, pid, until);
		if (result || log->began > log->born || !log->born || !ancestors || again)
			break;
		/* It takes the same memory, so what was taken of the child is taken again. */
		result = read_logged_process(log, log->parent, log->born, ancestors - 1, mappings);
	}
	return result ? result : put_notes(log, mappings);
}

static int by_address(const void *left, const void *right)
{
	const struct mapping *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

int map_log_read(struct map_log *log, uint32_t pid, uint64_t ts, struct mappings *mappings)
{
	mappings->pid = pid;
	mappings->count = mappings->names.length = 0;
	int result = read_logged_process(log, pid, ts, ANCESTORS_MAX, mappings);

	if (mappings->count)
		qsort(mappings->items, mappings->count, sizeof *mappings->items, by_address);
	return result;
}
