// SPDX-License-Identifier: BSD-2-Clause
/*
 * usage: sensor-bench WAY EVENTS
 * What a sensor costs the program that has it, in ns of processor time an event; off: nobody looks. All others have a
 * directory and an observer that opens the gates and reads nothing. The event has 32 bytes where the way says nothing
 * else. lent: in a ring that is borrowed for each event. cold: each after as much other memory as the caches have.
 * thread: the first of a thread. child: the first of a child, which registers. call: a message to another thread and
 * back. tsc: counts of the processor's counter in a ns.
 */

#include "sensor/client/sensor.h"
#include "sensor/directory.h"
#include "sensor/observer.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FIELDS(F)    F(u64, a, "", "") F(u64, b, "", "") F(u64, c, "", "") F(u64, d, "", "")
#define FIELDS_4(F)  F(u32, a, "", "")
#define FIELDS_8(F)  F(u64, a, "", "")
#define FIELDS_64(F) F(text64, a, "", "")
ASTERISM_SENSOR(bench_write, "an event", FIELDS)
ASTERISM_SENSOR(bench_4, "", FIELDS_4)
ASTERISM_SENSOR(bench_8, "", FIELDS_8)
ASTERISM_SENSOR(bench_64, "", FIELDS_64)
ASTERISM_SENSOR_BARE(bench_bare, "")

enum { WARM = 20000 };

static void sense(uint64_t events)
{
	for (uint64_t i = 0; i < events; i++)
		ASTERISM_SENSE(bench_write, i, i + 1, i + 2, i + 3);
}

static void read_clock(uint64_t events)
{
	for (uint64_t i = 0; i < events; i++) {
		uint64_t now = asterism_sensor_now(RING_CLOCK_TSC, 0);

		__asm__ volatile("" ::"r"(now));
	}
}

static void fill(uint64_t events)
{
	for (uint64_t i = 0; i < events; i++) {
		struct bench_write *e = bench_write_write();

		e->a = i, e->b = i + 1, e->c = i + 2, e->d = i + 3;
		bench_write_commit(e);
	}
}

static void sense_ordered(uint64_t events)
{
	for (uint64_t i = 0; i < events; i++)
		ASTERISM_SENSE_ORDERED(bench_write, i, i + 1, i + 2, i + 3);
}

/* An event is open in the thread's own ring all the time. */
static void borrow(uint64_t events)
{
	struct bench_write *held = bench_write_write();

	sense(events);
	bench_write_commit(held);
}

static void sense_bare(uint64_t events)
{
	for (uint64_t i = 0; i < events; i++)
		ASTERISM_SENSE(bench_bare);
}

static void sense_4(uint64_t events)
{
	for (uint64_t i = 0; i < events; i++)
		ASTERISM_SENSE(bench_4, (uint32_t)i);
}

static void sense_8(uint64_t events)
{
	for (uint64_t i = 0; i < events; i++)
		ASTERISM_SENSE(bench_8, i);
}

static void sense_64(uint64_t events)
{
	static char text[64];

	for (uint64_t i = 0; i < events; i++) {
		struct bench_64 *e = bench_64_write();

		memcpy(e->a, text, sizeof e->a);
		bench_64_commit(e);
	}
}

static void borrow_bare(uint64_t events)
{
	struct bench_write *held = bench_write_write();

	sense_bare(events);
	bench_write_commit(held);
}

static void borrow_8(uint64_t events)
{
	struct bench_write *held = bench_write_write();

	sense_8(events);
	bench_write_commit(held);
}

static void *borrow_apart(void *events)
{
	borrow(*(uint64_t *)events);
	return NULL;
}

/* By two threads at once. */
static void borrow_twice(uint64_t events)
{
	uint64_t half = events / 2;
	pthread_t other;

	pthread_create(&other, NULL, borrow_apart, &half);
	borrow(half);
	pthread_join(other, NULL);
}

/* Where each event is timed alone: the sum so far, of so many. */
static uint64_t alone_ns, alone_count;

static void sense_alone(void)
{
	uint64_t begin = asterism_sensor_monotonic_ns();

	sense(1);
	alone_ns += asterism_sensor_monotonic_ns() - begin;
	alone_count++;
}

static void sense_cold(uint64_t events)
{
	enum { CACHES = 64 << 20 };
	static char other[CACHES];

	for (uint64_t i = 0; i < events / 40000 + 1; i++) {
		memset(other, (int)i, sizeof other);
		sense_alone();
	}
}

static void *sense_apart(void *unused)
{
	sense_alone();
	return unused;
}

static void sense_in_threads(uint64_t events)
{
	for (uint64_t i = 0; i < events / 10000 + 1; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, sense_apart, NULL);
		pthread_join(thread, NULL);
	}
}

static void sense_in_children(uint64_t events)
{
	for (uint64_t i = 0; i < events / 100000 + 1; i++) {
		uint64_t took;
		int ends[2];

		if (pipe(ends))
			return;
		if (fork() == 0) {
			alone_ns = 0;
			sense_alone();
			_exit(write(ends[1], &alone_ns, sizeof alone_ns) < 0);
		}
		if (read(ends[0], &took, sizeof took) == sizeof took) {
			alone_ns += took;
			alone_count++;
		}
		close(ends[0]);
		close(ends[1]);
		wait(NULL);
	}
}

/* Of this process: on a machine that has other things to do, too. */
static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* A message and its answer, over pipes, with an event before and after it, or none. */
static int calls[2], answers[2];

static void *serve_calls(void *unused)
{
	char byte;

	while (read(calls[0], &byte, 1) == 1 && write(answers[1], &byte, 1) == 1)
		;
	return unused;
}

static void call_with(uint64_t count, void (*raise)(uint64_t events))
{
	pthread_t server;
	char byte = 0;

	if (pipe(calls) || pipe(answers) || pthread_create(&server, NULL, serve_calls, NULL))
		return;
	double begin = now_ns();

	for (uint64_t i = 0; i < count / 100; i++) {
		if (raise)
			raise(1);
		if (write(calls[1], &byte, 1) != 1 || read(answers[0], &byte, 1) != 1)
			return;
		if (raise)
			raise(1);
	}
	alone_ns = (uint64_t)(now_ns() - begin);
	alone_count = count / 100;
	close(calls[1]);
	pthread_join(server, NULL);
}

static void call(uint64_t events)
{
	call_with(events, NULL);
}

static void call_sensed(uint64_t events)
{
	call_with(events, sense_4);
}

static void call_borrowed(uint64_t events)
{
	struct bench_write *held = bench_write_write();

	call_with(events, sense_4);
	bench_write_commit(held);
}

static const struct {
	const char *name;
	bool is_watched;
	void (*write)(uint64_t events);
} ways[] = { { "off", false, sense },
	     { "clock", false, read_clock },
	     { "write", true, sense },
	     { "fill", true, fill },
	     { "ordered", true, sense_ordered },
	     { "lent", true, borrow },
	     { "lent-2", true, borrow_twice },
	     { "bare", true, sense_bare },
	     { "4", true, sense_4 },
	     { "8", true, sense_8 },
	     { "64", true, sense_64 },
	     { "lent-bare", true, borrow_bare },
	     { "lent-8", true, borrow_8 },
	     { "cold", true, sense_cold },
	     { "thread", true, sense_in_threads },
	     { "child", true, sense_in_children },
	     { "call", true, call },
	     { "call-sensed", true, call_sensed },
	     { "call-lent", true, call_borrowed } };

/* The directory and somebody who looks, until the parent ends. */
static void serve(const char *path, int ready)
{
	struct sensor_directory_options options = { .path = path };
	struct sensor_directory *directory;
	struct sensor_observer *observer;
	struct sensor_notice notice;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (sensor_directory_open(&options, NULL, &directory) || sensor_observer_open(path, NULL, NULL, &observer) ||
	    sensor_observer_ask(observer, "*", SENSOR_OPEN))
		_exit(1);
	for (bool is_told = false;;) {
		struct pollfd waits = { sensor_directory_fd(directory), POLLIN, 0 };

		sensor_directory_dispatch(directory);
		while (sensor_observer_next(observer, 0, &notice) == 1) {
			if (notice.kind == SENSOR_END && !is_told)
				is_told = write(ready, "", 1) == 1;
		}
		poll(&waits, 1, 1000);
	}
}

/* Once more, with a directory that is there before the program is. */
static int begin_again(char **argv)
{
	char path[64], byte;
	int ready[2];

	snprintf(path, sizeof path, "/tmp/asterism-bench-%d", (int)getpid());
	if (pipe(ready))
		return 1;
	if (fork() == 0)
		serve(path, ready[1]);
	if (read(ready[0], &byte, 1) != 1 || setenv(SENSOR_SOCKET_VARIABLE, path, 1))
		return 1;
	execv("/proc/self/exe", argv);
	return 1;
}

static int print_tsc(void)
{
	uint64_t begin_ns = asterism_sensor_monotonic_ns();
	uint64_t begin = asterism_sensor_now(RING_CLOCK_TSC, 1);

	usleep(50000);
	printf("%.4f\n", (double)(asterism_sensor_now(RING_CLOCK_TSC, 1) - begin) /
				 (double)(asterism_sensor_monotonic_ns() - begin_ns));
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t events = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;

	if (argc > 1 && !strcmp(argv[1], "tsc"))
		return print_tsc();

	for (size_t i = 0; events && i < sizeof ways / sizeof *ways; i++) {
		if (strcmp(argv[1], ways[i].name))
			continue;
		if (ways[i].is_watched && !getenv(SENSOR_SOCKET_VARIABLE))
			return begin_again(argv);
		if (ways[i].is_watched && !bench_write_is_watched())
			return 1;
		ways[i].write(WARM);
		alone_ns = alone_count = 0;
		double begin = now_ns();

		ways[i].write(events);
		printf("%.2f\n",
		       alone_count ? (double)alone_ns / (double)alone_count : (now_ns() - begin) / (double)events);
		if (ways[i].is_watched)
			unlink(getenv(SENSOR_SOCKET_VARIABLE));
		return 0;
	}
	fputs("usage: sensor-bench WAY EVENTS\n", stderr);
	return 2;
}
