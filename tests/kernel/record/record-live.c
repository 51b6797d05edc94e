// SPDX-License-Identifier: BSD-2-Clause
/* What a process does on purpose, recorded into rings: every event, in its order, in its context, and what is lost. */

#include "base/alloc.h"
#include "ebpf/recorder/record.h"
#include "gate.h"
#include "source-harness.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NUMBER(record, name) field_number(outcome, record, name)
#define TEXT(record, name)   field_text(outcome, record, name)

struct recording {
	const char *types[TYPES_MAX];
	void (*plant)(void);
	uint32_t sub_bytes, sub_count;
	enum ebpf_scope scope;
	bool ages;     /* sub-buffers get old every few hundred microseconds */
	bool is_late;  /* nothing is read before the end */
	bool may_miss; /* events of one type may come over each other, and the kernel leaves the inner one out */
	void (*check)(const struct outcome *outcome);
};

/* What one ring has handed out. */
struct reading {
	uint32_t parts;
	struct ring_cursor cursor;
	struct event_packed_context who;
	uint64_t handed_out, last_ts;
};

static const struct recording *recording;
static struct event_packed layouts[TYPES_MAX];
static size_t type_count;
static bool cautious;

/* Keeps one event as a record. Returns its bytes in the part; 0 where it makes no sense. */
static size_t keep(struct outcome *outcome, struct reading *reading, uint32_t cpu, const char *event, size_t available)
{
	uint64_t word;

	memcpy(&word, event, sizeof word);
	uint32_t id = event_packed_word_id(word);
	uint64_t ts = event_packed_word_ts(word, reading->last_ts);

	reading->last_ts = ts;
	if (id == EVENT_PACKED_ID_CONTEXT) {
		memcpy(&reading->who, event + sizeof word, sizeof reading->who);
		return sizeof word + sizeof reading->who;
	}
	if (id == EVENT_PACKED_ID_LATE)
		return sizeof word + sizeof(struct event_packed_late);
	if (id > type_count)
		return 0;
	const struct event_type *type = outcome->types[id - 1];
	struct event_header *record = alloc_zero(type->record_bytes, 1);
	int64_t bytes = event_packed_decode(&layouts[id - 1], event + sizeof word, available - sizeof word, record);

	if (bytes < 0 || alloc_grow(&outcome->records, &outcome->capacity, outcome->count, sizeof *outcome->records))
		return 0;
	*record = (struct event_header){ .ts = ts, .type = id - 1, .cpu = cpu };
	record->tid = reading->who.tid;
	record->pid = reading->who.pid;
	memcpy(record->comm, reading->who.comm, sizeof record->comm);
	outcome->records[outcome->count++] = (void *)record;
	reading->handed_out++;
	return event_packed_round(sizeof word + (size_t)bytes);
}

static void keep_part(struct outcome *outcome, struct reading *reading, uint32_t cpu, const char *buffer,
		      const struct ring_part *part)
{
	const struct ring_packet *packet = (const void *)buffer;
	uint64_t before = reading->handed_out;
	size_t offset = sizeof *packet;

	CHECK(packet->timestamp_begin >= reading->last_ts);
	reading->last_ts = packet->timestamp_begin;
	reading->who = (struct event_packed_context){ 0 };
	while (offset < part->bytes) {
		size_t bytes = keep(outcome, reading, cpu, buffer + offset, part->bytes - offset);

		if (!bytes)
			break;
		CHECK(reading->who.tid || reading->who.comm[0]);
		offset += bytes;
	}
	CHECK_EQUAL(offset, part->bytes);
	CHECK_EQUAL(reading->handed_out - before, part->events);
	CHECK(packet->timestamp_end >= reading->last_ts);
}

typedef int next_fn(const struct ring *ring, struct ring_cursor *cursor, void *buffer, struct ring_part *part);

static void read_rings(const struct ebpf_recorder *recorder, struct outcome *outcome, struct reading *readings,
		       next_fn *next)
{
	static char buffer[EBPF_RECORD_SUB_BYTES];
	struct ring_part part;

	for (uint32_t cpu = 0; cpu < ebpf_recorder_cpu_count(recorder); cpu++) {
		int result;

		while ((result = next(ebpf_recorder_ring(recorder, cpu), &readings[cpu].cursor, buffer, &part)) == 1)
			keep_part(outcome, &readings[cpu], cpu, buffer, &part), readings[cpu].parts++;
		CHECK_EQUAL(result, 0);
	}
}

/* The map of this process that has this name. */
static int find_map(const char *name)
{
	for (int fd = 3; fd < 256; fd++) {
		struct bpf_map_info info = { 0 };
		uint32_t bytes = sizeof info;

		if (bpf_obj_get_info_by_fd(fd, &info, &bytes) == 0 && strcmp(info.name, name) == 0)
			return fd;
	}
	return -1;
}

/* The control blocks of the rings, for writing. */
static char *control_blocks(const struct ebpf_recorder *recorder, size_t *stride)
{
	uint32_t cpus = ebpf_recorder_cpu_count(recorder);
	const char *first = (const void *)ebpf_recorder_ring(recorder, 0)->control;

	*stride = cpus > 1 ? (size_t)((const char *)(const void *)ebpf_recorder_ring(recorder, 1)->control - first)
			   : sizeof(struct ring_control);
	char *blocks = mmap(NULL, cpus * *stride, PROT_READ | PROT_WRITE, MAP_SHARED, find_map("ring_control"), 0);

	if (blocks == MAP_FAILED)
		harness_give_up("the rings' control", -errno, NULL);
	return blocks;
}

/* The next event is as if hours had passed since its sub-buffer was opened. */
static void age(const struct ebpf_recorder *recorder, char *blocks, size_t stride)
{
	for (uint32_t cpu = 0; cpu < ebpf_recorder_cpu_count(recorder); cpu++)
		((struct ring_control *)(void *)(blocks + cpu * stride))->due = 1;
}

static struct ebpf_recorder *make_recorder(const struct harness *harness, struct outcome *outcome)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct ebpf_record_type types[TYPES_MAX];
	struct ebpf_recorder_options options = {
		.types = types,
		.scope = recording->scope,
		.sub_bytes = recording->sub_bytes,
		.sub_count = recording->sub_count,
		.cautious = cautious,
	};
	struct ebpf_recorder *recorder;
	int result;

	for (; recording->types[options.count]; options.count++) {
		size_t i = options.count;

		outcome->types[i] = event_catalog_find(harness->catalog, recording->types[i]);
		if (!outcome->types[i])
			harness_give_up(recording->types[i], -ENOENT, NULL);
		event_packed_init(&layouts[i], outcome->types[i], NULL);
		types[i] = (struct ebpf_record_type){ .type = outcome->types[i], .id = (uint16_t)(i + 1) };
	}
	type_count = options.count;
	result = ebpf_recorder_new(&options, diag, &recorder);
	if (!result)
		result = ebpf_recorder_attach(recorder, diag);
	if (result)
		harness_give_up("the recorder", result, diag);
	asterism_diag_free(diag);
	return recorder;
}

/* A child that waits, then does what is planted, on one processor. */
static pid_t start(struct gate *gate)
{
	pid_t pid = gate_fork(gate);

	if (pid)
		return pid;
	prctl(PR_SET_NAME, "planted");
	gate_wait(gate);
	recording->plant();
	_exit(0);
}

static int by_time(const void *a, const void *b)
{
	const struct event_header *left = *(void *const *)a, *right = *(void *const *)b;

	return left->ts < right->ts ? -1 : left->ts > right->ts;
}

static void finish(struct ebpf_recorder *recorder, struct outcome *outcome, struct reading *readings)
{
	uint64_t handed_out = 0, parts = 0;

	ebpf_recorder_detach(recorder);
	read_rings(recorder, outcome, readings, ring_finish);
	for (uint32_t cpu = 0; cpu < ebpf_recorder_cpu_count(recorder); cpu++) {
		CHECK_EQUAL(readings[cpu].handed_out + readings[cpu].cursor.lost,
			    ring_written(ebpf_recorder_ring(recorder, cpu)));
		outcome->lost += readings[cpu].cursor.lost;
		parts += readings[cpu].parts;
		handed_out += readings[cpu].handed_out;
	}
	CHECK_EQUAL(handed_out + outcome->lost, ebpf_recorder_written(recorder));
	if (recording->ages)
		CHECK(parts > 10);
	CHECK_EQUAL(ebpf_recorder_dropped(recorder), 0);
	if (!recording->may_miss)
		CHECK_EQUAL(ebpf_recorder_missed(recorder), 0);
	outcome->events = ebpf_recorder_written(recorder);
	if (outcome->count)
		qsort(outcome->records, outcome->count, sizeof *outcome->records, by_time);
}

static void record(const struct harness *harness, const struct recording *chosen)
{
	struct outcome outcome = { 0 };
	struct reading *readings;
	struct gate gate;
	size_t stride;
	int status;

	recording = chosen;
	outcome.reported = mmap(NULL, 2 * sizeof *outcome.reported, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	outcome.child = start(&gate);
	struct ebpf_recorder *recorder = make_recorder(harness, &outcome);

	char *blocks = control_blocks(recorder, &stride);

	readings = alloc_zero(ebpf_recorder_cpu_count(recorder), sizeof *readings);
	int result = recording->scope == EBPF_SCOPE_ALL ? 0 : ebpf_recorder_add(recorder, outcome.child);

	if (result)
		harness_give_up("scope", result, NULL);
	if (gate_open(&gate))
		harness_give_up("gate", -errno, NULL);
	while (waitpid(outcome.child, &status, WNOHANG) == 0) {
		if (!recording->is_late)
			read_rings(recorder, &outcome, readings, ring_next);
		if (recording->ages)
			age(recorder, blocks, stride);
		usleep(500);
	}
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	finish(recorder, &outcome, readings);
	recording->check(&outcome);
	munmap(blocks, ebpf_recorder_cpu_count(recorder) * stride);
	ebpf_recorder_free(recorder);
	alloc_free(readings);
	gate_close(&gate);
	outcome_fini(&outcome);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
}

static const struct event_header *record_at(const struct outcome *outcome, size_t i)
{
	return (const void *)outcome->records[i];
}

/* ---- every call gives an event at its beginning and one at its end */

enum { CALLS = 100000 };

static void plant_calls(void)
{
	for (int i = 0; i < CALLS; i++)
		getppid();
}

static void check_calls(const struct outcome *outcome)
{
	CHECK_EQUAL(outcome->count, 2 * CALLS);
	CHECK_EQUAL(outcome->lost, 0);
	for (size_t i = 0; i < outcome->count && check_failures < 10; i++) {
		const struct event_header *event = record_at(outcome, i);

		CHECK_EQUAL(event->type, i % 2);
		CHECK_EQUAL(event->pid, outcome->child);
		CHECK_EQUAL(event->tid, outcome->child);
		CHECK_TEXT(event->comm, "planted");
		if (i % 2)
			CHECK_EQUAL(NUMBER(event, "ret"), getpid());
	}
}

/* ---- an event that comes too long after its sub-buffer was opened, opens the next */

enum { SLOW_CALLS = 300 };

static void plant_slow_calls(void)
{
	for (int i = 0; i < SLOW_CALLS; i++) {
		getppid();
		usleep(200);
	}
}

static void check_slow_calls(const struct outcome *outcome)
{
	CHECK_EQUAL(outcome->count, 2 * SLOW_CALLS);
	CHECK_EQUAL(outcome->lost, 0);
	for (size_t i = 0; i < outcome->count && check_failures < 10; i++)
		CHECK_EQUAL(record_at(outcome, i)->type, i % 2);
}

/* ---- strings from user memory with their real length, and numbers of all widths */

static const char *const names[] = { "/proc/self/no-such-entry", "", "x", "1234567", "12345678", "123456789" };

enum { NAMES = sizeof names / sizeof *names, ROUNDS = 300 };

static char *long_name(void)
{
	static char name[300];

	memset(name, 'y', sizeof name - 1);
	return name;
}

static void plant_open(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		for (int j = 0; j < NAMES; j++)
			syscall(SYS_openat, -100 - j, names[j], 1 << j | O_RDWR, i);
		syscall(SYS_openat, 1, long_name(), 0, 0);
		syscall(SYS_openat, 2, 8, 0, 0);
		for (int j = 0; j < i % 16; j++)
			getppid(); /* so that they do not always lie at the same place of a sub-buffer */
	}
}

static void check_open_at(const struct outcome *outcome, const struct event_header *event, size_t i)
{
	size_t round = i / (NAMES + 2), name = i % (NAMES + 2);
	char most[256] = "";

	memset(most, 'y', sizeof most - 1);
	CHECK_TEXT(TEXT(event, "filename"), name < NAMES ? names[name] : name == NAMES ? most : "");
	if (name >= NAMES)
		return;
	CHECK_EQUAL(NUMBER(event, "dfd"), -100 - (int64_t)name);
	CHECK_EQUAL(NUMBER(event, "flags"), 1 << name | O_RDWR);
	CHECK_EQUAL(NUMBER(event, "mode"), round);
}

static void check_open(const struct outcome *outcome)
{
	CHECK_EQUAL(outcome->lost, 0);
	CHECK_EQUAL(record_count(outcome, "sys_enter_openat"), ROUNDS * (NAMES + 2));
	for (size_t i = 0, opened = 0; i < outcome->count && check_failures < 10; i++)
		if (strcmp(outcome->types[record_at(outcome, i)->type]->name, "sys_enter_openat") == 0)
			check_open_at(outcome, record_at(outcome, i), opened++);
}

/* ---- threads with names of all lengths take turns on one processor */

enum { THREADS = 4, TURNS = 500 };

static pthread_barrier_t barrier;

static void *take_turns(void *context)
{
	char name[16] = "";
	long number = (long)context;

	for (int i = 0; i < TURNS; i++) {
		snprintf(name, sizeof name, "%.*s", (int)((number + i) % 15 + 1), "abcdefghijklmno");
		prctl(PR_SET_NAME, name);
		syscall(SYS_getppid, syscall(SYS_gettid), strlen(name));
		sched_yield();
	}
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void plant_threads(void)
{
	pthread_t threads[THREADS];

	pin(0);
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, take_turns, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void check_threads(const struct outcome *outcome)
{
	size_t calls = 0;

	CHECK_EQUAL(outcome->lost, 0);
	CHECK(record_count(outcome, "sched_switch") > TURNS);
	for (size_t i = 0; i < outcome->count && check_failures < 10; i++) {
		const struct event_header *event = record_at(outcome, i);
		const char *name = outcome->types[event->type]->name;

		if (strcmp(name, "sched_switch") == 0) {
			CHECK_TEXT(TEXT(event, "prev_comm"), event->comm);
			CHECK_EQUAL(NUMBER(event, "prev_pid"), event->tid);
		} else if (NUMBER(event, "id") == SYS_getppid) {
			CHECK_EQUAL(event->pid, outcome->child);
			CHECK_EQUAL(NUMBER(event, "arg0"), event->tid);
			CHECK_EQUAL(NUMBER(event, "arg1"), strlen(event->comm));
			CHECK_EQUAL(strncmp(event->comm, "abcdefghijklmno", strlen(event->comm)), 0);
			calls++;
		}
	}
	CHECK_EQUAL(calls, THREADS * TURNS);
}

/* ---- a reader that comes late: what is lost is exactly what is missing */

static void plant_numbers(void)
{
	pin(0);
	for (long i = 0; i < CALLS; i++)
		syscall(SYS_getppid, i);
}

static void check_numbers(const struct outcome *outcome)
{
	uint64_t next = 0, missing = 0;

	CHECK(outcome->lost > 0);
	for (size_t i = 0; i < outcome->count && check_failures < 10; i++) {
		const struct event_header *event = record_at(outcome, i);

		if (NUMBER(event, "id") != SYS_getppid)
			continue;
		CHECK(NUMBER(event, "arg0") >= next);
		missing += NUMBER(event, "arg0") - next;
		next = NUMBER(event, "arg0") + 1;
	}
	CHECK_EQUAL(next, CALLS);
	/* The calls before and after the numbered ones are few, and those before are lost too. */
	CHECK(outcome->lost >= missing && outcome->lost <= missing + 8);
	CHECK(outcome->events >= CALLS && outcome->events <= CALLS + 8);
}

/* ---- interrupts come over calls on the same processor */

/* So many that there are some ticks among them, and that they fit into the ring even if nobody reads. */
static void plant_busy(void)
{
	pin(1 % (int)sysconf(_SC_NPROCESSORS_ONLN));
	for (int i = 0; i < 4 * CALLS; i++)
		getppid();
}

static void check_busy(const struct outcome *outcome)
{
	size_t enters = 0, exits = 0, interrupts = 0;

	for (size_t i = 0; i < outcome->count && check_failures < 10; i++) {
		const struct event_header *event = record_at(outcome, i);

		enters += event->type == 0;
		exits += event->type == 1;
		interrupts += event->type > 1;
		if (event->type < 2) {
			CHECK_EQUAL(event->tid, outcome->child);
			CHECK_TEXT(event->comm, "planted");
		}
	}
	CHECK_EQUAL(outcome->lost, 0);
	CHECK_EQUAL(enters, 4 * CALLS);
	CHECK_EQUAL(exits, 4 * CALLS);
	CHECK(interrupts > 0);
}

static const struct recording recordings[] = {
	{ .types = { "sys_enter_getppid", "sys_exit_getppid" },
	  .plant = plant_calls,
	  .sub_bytes = 4096,
	  .sub_count = 1024,
	  .check = check_calls },
	{ .types = { "sys_enter_getppid", "sys_exit_getppid" }, .plant = plant_calls, .check = check_calls },
	{ .types = { "sys_enter_getppid", "sys_exit_getppid" },
	  .plant = plant_slow_calls,
	  .ages = true,
	  .check = check_slow_calls },
	{ .types = { "sys_enter_openat", "sys_exit_openat", "sys_enter_getppid" },
	  .plant = plant_open,
	  .sub_bytes = 4096,
	  .sub_count = 512,
	  .check = check_open },
	{ .types = { "sys_enter", "sched_switch" }, .plant = plant_threads, .check = check_threads },
	{ .types = { "sys_enter" }, .plant = plant_numbers, .sub_bytes = 4096, .sub_count = 4, .check = check_numbers },
	{ .types = { "sys_enter" },
	  .plant = plant_numbers,
	  .sub_bytes = 8192,
	  .sub_count = 2,
	  .is_late = true,
	  .check = check_numbers },
	{ .types = { "sys_enter_getppid", "sys_exit_getppid", "hrtimer_expire_entry", "softirq_entry", "softirq_raise",
		     "timer_start" },
	  .plant = plant_busy,
	  .sub_bytes = 4096,
	  .sub_count = 4096,
	  .may_miss = true,
	  .check = check_busy },
};

int main(int argc, char **argv)
{
	struct harness harness;

	if (argc < 2) {
		fprintf(stderr, "usage: record-live CATALOG [cautious]\n");
		return 2;
	}
	int result = harness_init(&harness, argv[1]);

	if (result)
		return result;
	cautious = argc > 2;
	for (size_t i = 0; i < sizeof recordings / sizeof *recordings; i++) {
		int before = check_failures;

		record(&harness, &recordings[i]);
		printf("recording %zu: %s\n", i + 1, check_failures == before ? "ok" : "failed");
	}
	harness_fini(&harness);
	printf("%d failures\n", check_failures);
	return check_failures > 0;
}
