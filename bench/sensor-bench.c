// SPDX-License-Identifier: BSD-2-Clause
/*
 * usage: sensor-bench off|write|fill|ordered|lent EVENTS
 * What a sensor with an event of 32 bytes costs the program that has it, in ns. off: nobody looks. All others have a
 * directory and an observer that opens the gates and reads nothing. lent: in a ring that is borrowed for each event.
 */

#include "sensor/client/sensor.h"
#include "sensor/directory.h"
#include "sensor/observer.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define FIELDS(F) F(u64, a, "", "") F(u64, b, "", "") F(u64, c, "", "") F(u64, d, "", "")
ASTERISM_SENSOR(bench_write, "an event", FIELDS)

enum { WARM = 20000 };

static void sense(uint64_t events)
{
	for (uint64_t i = 0; i < events; i++)
		ASTERISM_SENSE(bench_write, i, i + 1, i + 2, i + 3);
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

static const struct {
	const char *name;
	bool is_watched;
	void (*write)(uint64_t events);
} ways[] = { { "off", false, sense },
	     { "write", true, sense },
	     { "fill", true, fill },
	     { "ordered", true, sense_ordered },
	     { "lent", true, borrow } };

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

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
	uint64_t events = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;

	for (size_t i = 0; events && i < sizeof ways / sizeof *ways; i++) {
		if (strcmp(argv[1], ways[i].name))
			continue;
		if (ways[i].is_watched && !getenv(SENSOR_SOCKET_VARIABLE))
			return begin_again(argv);
		if (ways[i].is_watched && !bench_write_is_watched())
			return 1;
		ways[i].write(WARM);
		double begin = now_ns();

		ways[i].write(events);
		printf("%.2f\n", (now_ns() - begin) / (double)events);
		if (ways[i].is_watched)
			unlink(getenv(SENSOR_SOCKET_VARIABLE));
		return 0;
	}
	fputs("usage: sensor-bench off|write|fill|ordered|lent EVENTS\n", stderr);
	return 2;
}
