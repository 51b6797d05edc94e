// SPDX-License-Identifier: BSD-2-Clause
/* Takes samples, and reads the rings of all CPUs in the order of time. */

#include "profile/sample/rings.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/proc.h"
#include "profile/sample/registers.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Whom the kernel grants less memory to (perf_event_mlock_kb) has smaller rings. */
enum { RING_BYTES_MAX = 1 << 20, RING_BYTES_MIN = 1 << 15, NAME_BYTES = 4096 };

/* Of the kernel's own clock: a period is a time. */
static bool is_clock(uint32_t type, uint64_t config)
{
	return type == PERF_TYPE_SOFTWARE && (config == PERF_COUNT_SW_TASK_CLOCK || config == PERF_COUNT_SW_CPU_CLOCK);
}

static const struct known_event {
	const char *name;
	uint32_t type;
	uint64_t config;
} known_events[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
};

enum { KNOWN_EVENTS = sizeof known_events / sizeof *known_events };

struct ring {
	int fd, cpu;
	struct perf_event_mmap_page *page;
};

/* A record that is still to be looked at. */
struct waiting {
	uint64_t time;
	size_t at; /* in bytes */
	uint32_t cpu;
};

struct rings {
	struct ring *items;
	size_t count;
	const struct known_event *event;
	size_t page_bytes, ring_bytes;
	uint64_t period; /* 0: by frequency, and each sample says how long its own was */
	bool has_jitter, has_registers;
	unsigned precise;
	uint64_t lost;
	uint64_t random;
	uint8_t *bytes;
	size_t length, capacity;
	struct waiting *waiting;
	size_t waiting_count, waiting_capacity;
};

/* As the kernel writes them with the attributes below. */
struct sampled {
	struct perf_event_header header;
	uint64_t address;
	uint32_t pid, tid;
	uint64_t time, period;
	uint64_t more[]; /* with registers: which they are, 0 for none, and these */
};

struct mapped_ring {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, length, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t rights, flags;
	char name[];
};

struct forked {
	struct perf_event_header header;
	uint32_t pid, parent, tid, parent_tid;
	uint64_t time;
};

struct named {
	struct perf_event_header header;
	uint32_t pid, tid;
	char name[];
};

struct lost {
	struct perf_event_header header;
	uint64_t id, count;
};

static const struct known_event *find_known_event(const char *name)
{
	for (size_t i = 0; i < KNOWN_EVENTS; i++) {
		if (strcmp(known_events[i].name, name) == 0)
			return &known_events[i];
	}
	return NULL;
}

static int open_event(const struct known_event *event, const struct rings *rings, uint64_t frequency, pid_t pid,
		      int cpu)
{
	struct perf_event_attr attr = {
		.type = event->type,
		.size = sizeof attr,
		.config = event->config,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD,
		.precise_ip = rings->precise & 3,
		.disabled = 1,
		.enable_on_exec = 1,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)rings->ring_bytes / 2,
	};

	if (rings->has_registers) {
		attr.sample_type |= PERF_SAMPLE_REGS_INTR;
		attr.sample_regs_intr = sample_register_mask;
	}
	attr.freq = rings->period == 0;
	if (attr.freq)
		attr.sample_freq = frequency;
	else
		attr.sample_period = rings->period;
	int fd = (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int open_ring(struct rings *rings, struct ring *ring, uint64_t frequency, pid_t pid, int cpu)
{
	void *page;

	ring->cpu = cpu;
	ring->fd = open_event(rings->event, rings, frequency, pid, cpu);
	if (ring->fd < 0)
		return ring->fd;
	page = mmap(NULL, rings->page_bytes + rings->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	ring->page = page;
	return 0;
}

static int explain_perf_error(struct asterism_diag *diag, const char *event, const struct sample_options *options,
			      int error)
{
	char level[16] = "";

	if (options->precise && (error == -ENOENT || error == -EOPNOTSUPP || error == -ENODEV || error == -EINVAL)) {
		diag_error(diag, NULL, error,
			   "this machine cannot sample %s precisely: that needs a processor's own records (PEBS, IBS, "
			   "SPE), which virtual machines mostly lack",
			   event);
		diag_hint(diag, "leave :p out: samples may then be a few instructions behind their event");
		return error;
	}
	if (error == -ENOENT || error == -EOPNOTSUPP || error == -ENODEV)
		diag_error(diag, NULL, error, "this machine cannot sample %s", event);
	else if (error == -EACCES || error == -EPERM) {
		proc_read("/proc/sys/kernel/perf_event_paranoid", level, sizeof level);
		level[strcspn(level, "\n")] = 0;
		diag_error(diag, NULL, error, "sampling is not permitted: kernel.perf_event_paranoid is %s", level);
		diag_hint(diag, "run it as root, or with CAP_PERFMON, or set kernel.perf_event_paranoid to 2 or less");
		return error;
	} else if (error == -EMFILE) {
		diag_error(diag, NULL, error,
			   "sampling needs one file descriptor per CPU, and the limit is reached (ulimit -n)");
	} else {
		diag_error(diag, NULL, error, "cannot sample %s: %s", event, strerror(-error));
	}
	if (error == -ENOENT || error == -EOPNOTSUPP || error == -ENODEV)
		diag_hint(diag, "task-clock works everywhere");
	return error;
}

/* Processors that are away (-ENODEV) have none. */
static int open_rings(struct rings *rings, uint64_t frequency, pid_t pid)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int result = 0, opened = 0;

	rings->items = alloc_zero((size_t)cpus, sizeof *rings->items);
	if (!rings->items)
		return -ENOMEM;
	for (int cpu = 0; cpu < cpus && !result; cpu++) {
		struct ring *ring = &rings->items[rings->count];

		result = open_ring(rings, ring, frequency, pid, cpu);
		if (ring->fd >= 0)
			rings->count++;
		opened += result == 0;
		if (result == -ENODEV)
			result = 0;
	}
	return result ? result : opened ? 0 : -ENODEV;
}

static void close_rings(struct rings *rings)
{
	for (size_t i = 0; i < rings->count; i++) {
		if (rings->items[i].page)
			munmap(rings->items[i].page, rings->page_bytes + rings->ring_bytes);
		close(rings->items[i].fd);
	}
	alloc_free(rings->items);
	rings->items = NULL;
	rings->count = 0;
}

static int try_event(struct rings *rings, const struct known_event *event, const struct sample_options *options,
		     pid_t pid)
{
	rings->event = event;
	rings->period = options->period;
	if (!rings->period && is_clock(event->type, event->config))
		rings->period = UINT64_C(1000000000) / options->frequency;
	int result = -EPERM;

	for (rings->ring_bytes = RING_BYTES_MAX; result == -EPERM && rings->ring_bytes >= RING_BYTES_MIN;
	     rings->ring_bytes /= 2) {
		result = open_rings(rings, options->frequency, pid);
		if (!result)
			break;
		close_rings(rings);
	}
	return result;
}

int rings_open(const struct sample_options *options, pid_t pid, struct asterism_diag *diag, struct rings **opened)
{
	struct rings *rings = alloc_zero(1, sizeof *rings);
	const struct known_event *event = find_known_event(options->event ? options->event : "cycles");
	int result;

	if (!rings)
		return diag_no_memory(diag);
	rings->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	rings->has_jitter = options->has_jitter;
	rings->has_registers = options->has_registers;
	rings->precise = options->precise;
	rings->random = clock_now_ns() | 1;
	if (!event) {
		result = diag_error(diag, NULL, -EINVAL, "unknown event to sample: '%s'", options->event);
		diag_hint(diag, "use cycles, task-clock, instructions, cache-references, cache-misses, branches, "
				"branch-misses, cpu-clock, page-faults, minor-faults or major-faults");
		goto fail;
	}
	result = try_event(rings, event, options, pid);
	if (result && !options->event && !options->precise)
		result = try_event(rings, event = find_known_event("task-clock"), options, pid);
	if (result) {
		explain_perf_error(diag, event->name, options, result);
		goto fail;
	}
	*opened = rings;
	return 0;
fail:
	rings_free(rings);
	return result;
}

void rings_free(struct rings *rings)
{
	if (!rings)
		return;
	close_rings(rings);
	alloc_free(rings->bytes);
	alloc_free(rings->waiting);
	alloc_free(rings);
}

const char *rings_event(const struct rings *rings)
{
	return rings->event->name;
}

size_t rings_poll(const struct rings *rings, struct pollfd *items, size_t room)
{
	size_t count = 0;

	for (; count < rings->count && count < room; count++)
		items[count] = (struct pollfd){ .fd = rings->items[count].fd, .events = POLLIN };
	return count;
}

/* The time stands at the end of each record but a sample's. */
static uint64_t sample_time(const struct perf_event_header *header)
{
	uint64_t time;

	if (header->type == PERF_RECORD_SAMPLE)
		return ((const struct sampled *)header)->time;
	memcpy(&time, (const uint8_t *)header + header->size - sizeof time, sizeof time);
	return time;
}

/* Long enough for what is read of it. */
static bool is_whole_record(const struct perf_event_header *header)
{
	static const size_t least[] = {
		[PERF_RECORD_SAMPLE] = sizeof(struct sampled),
		[PERF_RECORD_MMAP2] = sizeof(struct mapped_ring) + sizeof(uint64_t),
		[PERF_RECORD_FORK] = sizeof(struct forked),
		[PERF_RECORD_COMM] = sizeof(struct named) + sizeof(uint64_t),
		[PERF_RECORD_LOST] = sizeof(struct lost),
	};

	return header->type < sizeof least / sizeof *least && least[header->type] &&
	       header->size >= least[header->type];
}

static int keep_record(struct rings *rings, size_t at, int cpu)
{
	const struct perf_event_header *header = (const void *)(rings->bytes + at);

	if (!is_whole_record(header))
		return 0;
	if (header->type == PERF_RECORD_LOST) {
		rings->lost += ((const struct lost *)header)->count;
		return 0;
	}
	if (alloc_grow(&rings->waiting, &rings->waiting_capacity, rings->waiting_count, sizeof *rings->waiting))
		return -ENOMEM;
	rings->waiting[rings->waiting_count++] = (struct waiting){ sample_time(header), at, (uint32_t)cpu };
	return 0;
}

static int make_ring_room(struct rings *rings, size_t bytes)
{
	size_t capacity = rings->capacity ? rings->capacity : RING_BYTES_MIN;
	uint8_t *grown;

	if (rings->capacity - rings->length >= bytes)
		return 0;
	while (capacity - rings->length < bytes)
		capacity *= 2;
	grown = alloc_zero(capacity, 1);
	if (!grown)
		return -ENOMEM;
	if (rings->length)
		memcpy(grown, rings->bytes, rings->length);
	alloc_free(rings->bytes);
	rings->bytes = grown;
	rings->capacity = capacity;
	return 0;
}

/* Takes all that is in the ring. Sizes of records are multiples of 8, so a header is never torn. */
static int take_ring(struct rings *rings, struct ring *ring)
{
	uint64_t head, tail;
	const uint8_t *data;
	size_t begin = rings->length;
	int result;

	if (!ring->page)
		return 0;
	head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	tail = ring->page->data_tail;
	data = (const uint8_t *)ring->page + rings->page_bytes;
	result = make_ring_room(rings, (size_t)(head - tail));
	if (result)
		return result;
	for (uint64_t at = tail; at < head;) {
		size_t first = at % rings->ring_bytes, bytes = rings->ring_bytes - first;

		if (bytes > head - at)
			bytes = (size_t)(head - at);
		memcpy(rings->bytes + rings->length, data + first, bytes);
		rings->length += bytes;
		at += bytes;
	}
	__atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
	while (begin + sizeof(struct perf_event_header) <= rings->length && !result) {
		const struct perf_event_header *header = (const void *)(rings->bytes + begin);

		if (header->size < sizeof *header || header->size > rings->length - begin)
			break;
		result = keep_record(rings, begin, ring->cpu);
		begin += header->size;
	}
	return result;
}

static bool parse_perf_record(const struct rings *rings, const struct perf_event_header *header,
			      struct sample_record *record, char name[NAME_BYTES])
{
	const struct sampled *sampled = (const void *)header;
	const struct mapped_ring *mapped = (const void *)header;
	const struct forked *forked = (const void *)header;
	const struct named *named = (const void *)header;
	size_t room;

	*record = (struct sample_record){ .time = sample_time(header), .pid = mapped->pid, .tid = mapped->tid };
	switch (header->type) {
	case PERF_RECORD_SAMPLE:
		record->kind = RECORD_SAMPLE;
		record->pid = sampled->pid;
		record->tid = sampled->tid;
		record->address = sampled->address;
		if (rings->has_registers &&
		    header->size >= sizeof *sampled + (1 + sample_register_count) * sizeof *sampled->more &&
		    *sampled->more)
			record->registers = sampled->more + 1;
		record->weight = (double)(rings->period ? rings->period : sampled->period);
		record->is_kernel = (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER;
		return true;
	case PERF_RECORD_MMAP2:
		room = header->size - sizeof *mapped - sizeof(uint64_t);
		room = strnlen(mapped->name, room < NAME_BYTES - 1 ? room : NAME_BYTES - 1);
		memcpy(name, mapped->name, room);
		name[room] = 0;
		record->kind = RECORD_MAPPED;
		record->address = mapped->start;
		record->length = mapped->length;
		record->offset = mapped->offset;
		record->inode = mapped->inode;
		record->name = name;
		return true;
	case PERF_RECORD_FORK:
		record->kind = RECORD_FORKED;
		record->pid = forked->pid;
		record->tid = forked->tid;
		record->parent = forked->parent;
		record->parent_tid = forked->parent_tid;
		return true;
	default:
		room = header->size - sizeof *named - sizeof(uint64_t);
		room = strnlen(named->name, room < NAME_BYTES - 1 ? room : NAME_BYTES - 1);
		memcpy(name, named->name, room);
		name[room] = 0;
		record->kind = header->misc & PERF_RECORD_MISC_COMM_EXEC ? RECORD_BEGAN : RECORD_NAMED;
		record->name = name;
		return header->type == PERF_RECORD_COMM;
	}
}

static int by_sample_time(const void *left, const void *right)
{
	const struct waiting *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

/* What comes next is chosen anew, between three and five quarters of what was asked for. */
static void vary_period(struct rings *rings)
{
	for (size_t i = 0; i < rings->count && rings->period >= 4; i++) {
		uint64_t half = rings->period / 2, period;

		rings->random ^= rings->random << 13;
		rings->random ^= rings->random >> 7;
		rings->random ^= rings->random << 17;
		period = rings->period - half / 2 + rings->random % (half + 1);
		ioctl(rings->items[i].fd, PERF_EVENT_IOC_PERIOD, &period);
	}
}

/* Those that wait on come first in what is kept. */
static int keep_rest(struct rings *rings, size_t done)
{
	size_t length = 0, count = rings->waiting_count - done;
	uint8_t *rest;

	for (size_t i = done; i < rings->waiting_count; i++)
		length += ((const struct perf_event_header *)(const void *)(rings->bytes + rings->waiting[i].at))->size;
	rest = alloc_zero(length + 1, 1);
	if (!rest)
		return -ENOMEM;
	length = 0;
	for (size_t i = 0; i < count; i++) {
		struct waiting *item = &rings->waiting[done + i];
		size_t size = ((const struct perf_event_header *)(const void *)(rings->bytes + item->at))->size;

		memcpy(rest + length, rings->bytes + item->at, size);
		rings->waiting[i] = (struct waiting){ item->time, length, item->cpu };
		length += size;
	}
	if (length)
		memcpy(rings->bytes, rest, length);
	alloc_free(rest);
	rings->length = length;
	rings->waiting_count = count;
	return 0;
}

int rings_drain(struct rings *rings, bool is_last, int (*one)(void *context, const struct sample_record *record),
		void *context)
{
	uint64_t until = is_last ? UINT64_MAX : clock_now_ns();
	char name[NAME_BYTES];
	size_t done = 0;
	int result = 0;

	if (rings->has_jitter)
		vary_period(rings);
	for (size_t i = 0; i < rings->count && !result; i++)
		result = take_ring(rings, &rings->items[i]);
	if (rings->waiting_count)
		qsort(rings->waiting, rings->waiting_count, sizeof *rings->waiting, by_sample_time);
	for (; done < rings->waiting_count && rings->waiting[done].time < until && !result; done++) {
		const struct perf_event_header *header = (const void *)(rings->bytes + rings->waiting[done].at);
		struct sample_record record;

		if (!parse_perf_record(rings, header, &record, name))
			continue;
		record.cpu = rings->waiting[done].cpu;
		if (!result)
			result = one(context, &record);
	}
	return result ? result : keep_rest(rings, done);
}

uint64_t rings_lost(const struct rings *rings)
{
	return rings->lost;
}

double rings_counted(const struct rings *rings)
{
	double counted = 0;
	uint64_t count;

	for (size_t i = 0; i < rings->count && is_clock(rings->event->type, rings->event->config); i++) {
		if (read(rings->items[i].fd, &count, sizeof count) == (ssize_t)sizeof count)
			counted += (double)count;
	}
	return counted;
}
