// SPDX-License-Identifier: BSD-2-Clause
/*
 * An application with sensors.
 *
 *	plant-sensors requests THREADS COUNT EVERY   requests of a millisecond; each EVERY-th takes 15 (0: none does)
 *	plant-sensors flood COUNT                    as many as there can be
 *	plant-sensors open                           begins an event, and is killed
 *	plant-sensors forks COUNT                    as many children, each of which raises one and ends
 *	plant-sensors execs COUNT                    raises one and becomes itself anew, so often
 *	plant-sensors paced COUNT MICROSECONDS       requests, with at least so much time between two
 *	plant-sensors stopped MILLISECONDS           begins an event, is stopped for so long, and commits it
 *	plant-sensors scribble VALUE                 raises ten, writes VALUE over its counter of dropped ones, raises
 *ten
 *
 * OTHER_FIELDS: what it announces is not what others do.
 */

#include "sensor/client/sensor.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef OTHER_FIELDS
#define REQUEST(F) F(u32, id, "", "number") F(u32, bytes, "bytes", "of the body")
#else
#define REQUEST(F) F(u64, id, "", "number") F(u32, bytes, "bytes", "of the body") F(text16, path, "", "asked for")
#endif
ASTERISM_SENSOR(request_begin, "a request arrives", REQUEST)
ASTERISM_SENSOR(request_end, "it is answered", REQUEST)

#ifdef OTHER_FIELDS
#define SENSE(sensor, id) ASTERISM_SENSE(sensor, id, 100)
#else
#define SENSE(sensor, id) ASTERISM_SENSE(sensor, id, 100 + (uint32_t)(id), "/index")
#endif

struct share {
	pthread_t thread;
	int number, count, every;
};

static void wait_ns(long ns)
{
	const struct timespec time = { .tv_nsec = ns };

	nanosleep(&time, NULL);
}

static void *serve(void *context)
{
	const struct share *share = context;

	for (int i = 0; i < share->count; i++) {
		uint64_t id = (uint64_t)(share->number * share->count + i);

		SENSE(request_begin, id);
		wait_ns(share->every && i % share->every == share->every - 1 ? 15000000 : 1000000);
		SENSE(request_end, id);
	}
	return NULL;
}

static void requests(int threads, int count, int every)
{
	struct share *shares = calloc((size_t)threads, sizeof *shares);

	if (!shares)
		return;
	for (int i = 0; i < threads; i++) {
		shares[i] = (struct share){ .number = i, .count = count, .every = every };
		if (pthread_create(&shares[i].thread, NULL, serve, &shares[i]))
			exit(2);
	}
	for (int i = 0; i < threads; i++)
		pthread_join(shares[i].thread, NULL);
	free(shares);
}

static void forks(int count)
{
	for (int i = 0; i < count; i++) {
		pid_t child = fork();

		if (child == 0) {
			SENSE(request_begin, (uint64_t)i);
			_exit(0);
		}
		if (child < 0 || waitpid(child, NULL, 0) != child)
			exit(2);
	}
}

static void execs(int count, const char *program)
{
	char left[16];

	SENSE(request_begin, (uint64_t)count);
	if (!count)
		return;
	snprintf(left, sizeof left, "%d", count - 1);
	execl("/proc/self/exe", program, "execs", left, (char *)NULL);
	exit(2);
}

static bool is_stopped(pid_t pid)
{
	char path[64], line[256] = "";
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (!file)
		return true; /* there is nothing to wait for */
	if (!fgets(line, sizeof line, file))
		line[0] = '\0';
	fclose(file);
	return strstr(line, ") T ") != NULL;
}

static void stopped(long milliseconds)
{
	pid_t own = getpid(), helper = fork();

	if (helper == 0) {
		while (!is_stopped(own))
			wait_ns(1000000);
		for (long i = 0; i < milliseconds; i++)
			wait_ns(1000000);
		kill(own, SIGCONT);
		_exit(0);
	}
	for (uint64_t i = 0; i < 10; i++) {
		SENSE(request_begin, i);
		wait_ns(2000000);
	}
	struct request_end *end = request_end_write();

	kill(own, SIGSTOP);
	if (end) {
		end->id = 1;
		request_end_commit(end);
	}
	for (uint64_t i = 10; i < 20; i++) {
		SENSE(request_begin, i);
		wait_ns(2000000);
	}
	waitpid(helper, NULL, 0);
}

/* Over the counter in the first slot, as any wild pointer could. */
static void scribble(uint64_t value)
{
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long area = 0;

	for (uint64_t i = 0; i < 10; i++)
		SENSE(request_begin, i);
	wait_ns(200000000);
	while (maps && !area && fgets(line, sizeof line, maps))
		if (strstr(line, "rw-s") && strstr(line, "asterism-sensors"))
			area = strtoul(line, NULL, 16);
	if (!area)
		exit(2);
	fclose(maps);
	((struct sensor_slot *)(area + sensor_slots_offset()))->dropped = value;
	for (uint64_t i = 10; i < 20; i++)
		SENSE(request_begin, i);
}

int main(int count, char **arguments)
{
	const char *what = count > 1 ? arguments[1] : "";

	if (!strcmp(what, "requests") && count == 5) {
		requests(atoi(arguments[2]), atoi(arguments[3]), atoi(arguments[4]));
	} else if (!strcmp(what, "flood") && count == 3) {
		for (long i = 0; i < atol(arguments[2]); i++)
			SENSE(request_begin, (uint64_t)i);
	} else if (!strcmp(what, "forks") && count == 3) {
		forks(atoi(arguments[2]));
	} else if (!strcmp(what, "execs") && count == 3) {
		execs(atoi(arguments[2]), arguments[0]);
	} else if (!strcmp(what, "paced") && count == 4) {
		for (long i = 0; i < atol(arguments[2]); i++) {
			SENSE(request_begin, (uint64_t)i);
			wait_ns(atol(arguments[3]) * 1000);
		}
	} else if (!strcmp(what, "scribble") && count == 3) {
		scribble(strtoull(arguments[2], NULL, 0));
	} else if (!strcmp(what, "stopped") && count == 3) {
		stopped(atol(arguments[2]));
	} else if (!strcmp(what, "open")) {
		SENSE(request_begin, 1);
		wait_ns(100000000);
		request_end_write();
		kill(getpid(), SIGKILL);
	} else {
		return 2;
	}
	return 0;
}
