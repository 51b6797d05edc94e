// SPDX-License-Identifier: BSD-2-Clause
/*
 * usage: record-bench ring|ship|ftrace PID EVENT...
 * Records events of a process until standard input ends, with a consumer that keeps up: ring, our recorder, its packets
 * written to /dev/null; ship, whole records through the kernel's ring buffer; ftrace, tracepoints (system:name) of an
 * instance of tracefs, its pages spliced to /dev/null. Says `ready` when events are recorded, and at the end how many
 * events and bytes there were and how many events were lost.
 */

#include "ebpf/recorder/record.h"
#include "ebpf/source/set.h"
#include "event/catalog.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EVENTS_MAX = 16, WAIT_MS = 2, PIPE_BYTES = 1 << 20, PATH_BYTES = 512 };

static struct asterism_diag *diag;
static uint64_t events, bytes, lost;
static int null_fd;

__attribute__((noreturn)) static void fail(const char *what, int error)
{
	const struct asterism_message *message;

	fprintf(stderr, "%s: %s\n", what, strerror(error));
	for (size_t i = 0; diag && (message = asterism_diag_get(diag, i)); i++)
		fprintf(stderr, "%s\n", message->text);
	exit(1);
}

/* Waits a while for the end of standard input. */
static bool is_over(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&input, 1, WAIT_MS) > 0;
}

static void find_types(int count, char **names, const struct event_type **types)
{
	struct event_catalog *catalog = event_catalog_new();
	const char *folder = getenv("ASTERISM_CATALOGS");
	char path[PATH_BYTES];

	snprintf(path, sizeof path, "%s/linux.events", folder ? folder : "catalogs");
	if (event_catalog_read(catalog, NULL, path, diag))
		fail(path, EINVAL);
	for (int i = 0; i < count; i++) {
		types[i] = event_catalog_find(catalog, names[i]);
		if (!types[i])
			fail(names[i], ENOENT);
	}
}

/* ---- ring */

typedef int next_fn(const struct ring *ring, struct ring_cursor *cursor, void *buffer, struct ring_part *part);

static void read_rings(const struct ebpf_recorder *recorder, struct ring_cursor *cursors, next_fn *next)
{
	static char buffer[EBPF_RECORD_SUB_BYTES];
	struct ring_part part;

	for (uint32_t cpu = 0; cpu < ebpf_recorder_cpu_count(recorder); cpu++) {
		while (next(ebpf_recorder_ring(recorder, cpu), &cursors[cpu], buffer, &part) == 1) {
			if (write(null_fd, buffer, part.bytes) < 0)
				fail("/dev/null", errno);
			events += part.events;
			bytes += part.bytes;
		}
	}
}

static void record_rings(pid_t pid, int count, const struct event_type *const *types)
{
	struct ebpf_record_type recorded[EVENTS_MAX];
	struct ebpf_recorder_options options = { .types = recorded, .count = (size_t)count, .scope = EBPF_SCOPE_PIDS };
	struct ebpf_recorder *recorder;

	for (int i = 0; i < count; i++)
		recorded[i] = (struct ebpf_record_type){ .type = types[i], .id = (uint16_t)(i + 1) };
	if (ebpf_recorder_new(&options, diag, &recorder) || ebpf_recorder_add(recorder, pid) ||
	    ebpf_recorder_attach(recorder, diag))
		fail("the recorder", EINVAL);
	struct ring_cursor *cursors = calloc(ebpf_recorder_cpu_count(recorder), sizeof *cursors);

	printf("ready\n");
	fflush(stdout);
	while (!is_over())
		read_rings(recorder, cursors, ring_next);
	ebpf_recorder_detach(recorder);
	read_rings(recorder, cursors, ring_finish);
	for (uint32_t cpu = 0; cpu < ebpf_recorder_cpu_count(recorder); cpu++)
		lost += cursors[cpu].lost;
	lost += ebpf_recorder_dropped(recorder) + ebpf_recorder_missed(recorder);
	ebpf_recorder_free(recorder);
	free(cursors);
}

/* ---- ship */

static int on_event(void *context, const struct event_header *record)
{
	const struct event_type *const *types = context;

	events++;
	bytes += types[record->type]->record_bytes;
	return 0;
}

static void on_lost(void *context, uint64_t more)
{
	(void)context;
	lost += more;
}

static void ship_records(pid_t pid, int count, const struct event_type **types)
{
	struct source_want wants[EVENTS_MAX];
	struct ebpf_features features;
	struct source_set_options options = {
		.wants = wants,
		.count = (size_t)count,
		.scope = EBPF_SCOPE_PIDS,
		.features = &features,
		.ship = { .ring_bytes = 4 << 20, .on_event = on_event, .on_lost = on_lost, .context = types },
	};
	struct btf_kernel *btf;
	struct source_set *set;
	uint64_t missed, wait;

	if (ebpf_features_probe(&features) || btf_kernel_open(diag, &btf))
		fail("the kernel", EINVAL);
	options.btf = btf;
	for (int i = 0; i < count; i++)
		wants[i] = (struct source_want){ .type = types[i], .index = (uint32_t)i };
	if (source_set_new(&options, diag, &set) || source_set_add(set, pid) || source_set_attach(set, diag))
		fail("the sources", EINVAL);
	printf("ready\n");
	fflush(stdout);
	while (!is_over())
		source_set_poll(set, true, &missed, &wait);
	source_set_poll(set, true, &missed, &wait);
	source_set_free(set);
	btf_kernel_close(btf);
}

/* ---- ftrace */

static const char instance[] = "/sys/kernel/tracing/instances/asterism-bench";

static void put(const char *file, const char *text)
{
	char path[sizeof instance + PATH_BYTES];

	snprintf(path, sizeof path, "%s/%s", instance, file);
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fail(path, errno);
	close(fd);
}

/* A number in the statistics of a processor's buffer. */
static uint64_t stat_of(int cpu, const char *name)
{
	char path[PATH_BYTES], line[256];
	unsigned long long value = 0;

	snprintf(path, sizeof path, "%s/per_cpu/cpu%d/stats", instance, cpu);
	FILE *file = fopen(path, "re");

	while (file && fgets(line, sizeof line, file))
		if (strncmp(line, name, strlen(name)) == 0)
			sscanf(line + strlen(name), " %llu", &value);
	if (file)
		fclose(file);
	return value;
}

static void splice_pages(const int *fds, int cpus, const int pipes[2])
{
	for (int cpu = 0; cpu < cpus; cpu++) {
		ssize_t got;

		while ((got = splice(fds[cpu], NULL, pipes[1], NULL, PIPE_BYTES, SPLICE_F_NONBLOCK)) > 0) {
			bytes += (uint64_t)got;
			while (got > 0) {
				ssize_t gone = splice(pipes[0], NULL, null_fd, NULL, (size_t)got, 0);

				if (gone <= 0)
					fail("splice", errno);
				got -= gone;
			}
		}
	}
}

static void count_events(int cpus)
{
	for (int cpu = 0; cpu < cpus; cpu++) {
		events += stat_of(cpu, "read events:") + stat_of(cpu, "entries:");
		lost += stat_of(cpu, "overrun:") + stat_of(cpu, "dropped events:");
	}
}

static void trace_pages(const char *pid, int count, char **names)
{
	int fds[256], pipes[2], cpus = (int)sysconf(_SC_NPROCESSORS_CONF);
	char path[PATH_BYTES];

	if (mkdir(instance, 0700) < 0 && errno != EEXIST)
		fail(instance, errno);
	if (pipe(pipes) < 0 || fcntl(pipes[1], F_SETPIPE_SZ, PIPE_BYTES) < 0)
		fail("pipe", errno);
	put("buffer_size_kb", "4096");
	put("buffer_percent", "0");
	put("set_event_pid", pid);
	for (int cpu = 0; cpu < cpus; cpu++) {
		snprintf(path, sizeof path, "%s/per_cpu/cpu%d/trace_pipe_raw", instance, cpu);
		fds[cpu] = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fds[cpu] < 0)
			fail(path, errno);
	}
	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof path, "events/%s/enable", names[i]);
		*strchr(path, ':') = '/';
		put(path, "1");
	}
	printf("ready\n");
	fflush(stdout);
	while (!is_over())
		splice_pages(fds, cpus, pipes);
	put("events/enable", "0");
	splice_pages(fds, cpus, pipes);
	count_events(cpus);
	for (int cpu = 0; cpu < cpus; cpu++)
		close(fds[cpu]);
	rmdir(instance);
}

int main(int argc, char **argv)
{
	const struct event_type *types[EVENTS_MAX];
	int count = argc - 3;

	if (count < 1 || count > EVENTS_MAX) {
		fprintf(stderr, "usage: record-bench ring|ship|ftrace PID EVENT...\n");
		return 2;
	}
	diag = asterism_diag_new();
	null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (strcmp(argv[1], "ftrace") == 0) {
		trace_pages(argv[2], count, argv + 3);
	} else {
		find_types(count, argv + 3, types);
		if (strcmp(argv[1], "ring") == 0)
			record_rings(atoi(argv[2]), count, types);
		else
			ship_records(atoi(argv[2]), count, types);
	}
	printf("events %llu bytes %llu lost %llu\n", (unsigned long long)events, (unsigned long long)bytes,
	       (unsigned long long)lost);
	return 0;
}
