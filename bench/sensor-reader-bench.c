// SPDX-License-Identifier: BSD-2-Clause
/*
 * usage: sensor-reader-bench merge|idle
 * What reading sensors costs, in ns of processor time. merge: an event of two writers' in the order of time, handed
 * out. idle: a look at 64 processes that raise nothing.
 */

#include "sensor/client/sensor.h"

#include "event/catalog.h"
#include "sensor/directory.h"
#include "sensor/stream/stream.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FIELDS(F) F(u64, a, "", "") F(u64, b, "", "") F(u64, c, "", "") F(u64, d, "", "")
ASTERISM_SENSOR(bench_read, "an event", FIELDS)

enum { PROCESSES = 64, EVENTS = 2000, LAPS = 200, TURNS = 2000, RECORD_BYTES = 512 };

static uint64_t events;

static int on_event(void *context, const struct event_header *record)
{
	(void)context;
	(void)record;
	events++;
	return 0;
}

static void on_lost(void *context, uint64_t lost)
{
	(void)context;
	(void)lost;
}

static bool everybody(void *context, pid_t pid, pid_t parent)
{
	(void)context;
	(void)pid;
	(void)parent;
	return true;
}

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static struct stream *open_stream(void)
{
	static const char text[] = "EVENT bench_read \"\" { a: u64, b: u64, c: u64, d: u64 }";
	static struct stream_want want = { .name = "bench_read" };
	struct stream_options options = { .wants = { &want, 1 },
					  .record_bytes = RECORD_BYTES,
					  .in_scope = everybody,
					  .on_event = on_event,
					  .on_lost = on_lost };
	struct event_catalog *catalog = event_catalog_new();
	struct stream *stream;

	if (!catalog || event_catalog_parse(catalog, "bench", text, strlen(text), NULL))
		exit(1);
	want.type = event_catalog_get(catalog, 0);
	if (stream_new(&options, NULL, &stream))
		exit(1);
	stream_settle(stream, MERGE_NEVER);
	return stream;
}

static void *write_some(void *unused)
{
	for (uint64_t i = 0; i < EVENTS; i++)
		ASTERISM_SENSE(bench_read, i, i + 1, i + 2, i + 3);
	return unused;
}

/* Two threads fill their rings at once, for as often as they are asked to. */
static void write_in_laps(int asked, int done)
{
	char byte;

	while (read(asked, &byte, 1) == 1) {
		pthread_t other;

		pthread_create(&other, NULL, write_some, NULL);
		write_some(NULL);
		pthread_join(other, NULL);
		if (write(done, &byte, 1) != 1)
			break;
	}
	_exit(0);
}

static double merge(struct stream *stream)
{
	int asked[2], done[2];
	double spent = 0;
	uint64_t passed;
	char byte = 0;

	if (pipe(asked) || pipe(done))
		exit(1);
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		char path[] = "/proc/self/exe", in[12], out[12];

		snprintf(in, sizeof in, "%d", asked[0]);
		snprintf(out, sizeof out, "%d", done[1]);
		execl(path, path, "write", in, out, NULL);
		_exit(1);
	}
	for (int i = 0; i < 2000; i++) {
		stream_turn(stream, &passed);
		usleep(100);
	}
	events = 0;
	for (int i = 0; i < LAPS; i++) {
		if (write(asked[1], &byte, 1) != 1 || read(done[0], &byte, 1) != 1)
			exit(1);
		uint64_t before = events;
		double begin = now_ns();

		for (int j = 0; j < 1000 && events - before < 2 * EVENTS; j++)
			stream_turn(stream, &passed);
		spent += now_ns() - begin;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return spent / (double)events;
}

static double idle(struct stream *stream)
{
	pid_t pids[PROCESSES];
	uint64_t passed;

	for (int i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			execl("/proc/self/exe", "/proc/self/exe", "wait", NULL);
			_exit(1);
		}
	}
	struct stream_counts counts = { 0 };

	for (int i = 0; i < 20000 && counts.processes < PROCESSES; i++) {
		stream_turn(stream, &passed);
		stream_count(stream, &counts);
		usleep(500);
	}
	double begin = now_ns();

	for (int i = 0; i < TURNS; i++)
		stream_turn(stream, &passed);
	begin = now_ns() - begin;
	for (int i = 0; i < PROCESSES; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	if (counts.processes < PROCESSES)
		exit(1);
	return begin / TURNS;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	char path[64];

	if (!strcmp(way, "write") && argc > 3)
		write_in_laps(atoi(argv[2]), atoi(argv[3]));
	if (!strcmp(way, "wait"))
		for (;;)
			pause();
	if (strcmp(way, "merge") && strcmp(way, "idle")) {
		fputs("usage: sensor-reader-bench merge|idle\n", stderr);
		return 2;
	}
	/* The stream serves the directory itself: registration is not waited for here. */
	snprintf(path, sizeof path, "/tmp/asterism-bench-%d", (int)getpid());
	setenv("ASTERISM_SENSORS", path, 1);
	struct stream *stream = open_stream();

	printf("%.2f\n", *way == 'm' ? merge(stream) : idle(stream));
	stream_free(stream);
	return 0;
}
