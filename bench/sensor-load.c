// SPDX-License-Identifier: BSD-2-Clause
/*
 * usage: sensor-load THREADS RATE SECONDS
 * Threads that each raise RATE events a second of 32 bytes, evenly: no thread catches up on more than half a ms that it
 * did not get. Prints how many have been raised, and how many a second of each.
 */

#include "sensor/client/sensor.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define FIELDS(F) F(u64, a, "", "") F(u64, b, "", "") F(u64, c, "", "") F(u64, d, "", "")
ASTERISM_SENSOR(bench_load, "an event", FIELDS)

enum { THREADS_MAX = 16, PAUSE_NS = 100 * 1000, BEHIND_NS = 500 * 1000 };

static uint64_t rate, until_ns;
static uint64_t raised[THREADS_MAX];

static uint64_t now_ns(void)
{
	return asterism_sensor_monotonic_ns();
}

static void *raise_evenly(void *counter)
{
	uint64_t *count = (uint64_t *)counter, from = now_ns(), now;

	while ((now = now_ns()) < until_ns) {
		struct timespec pause = { .tv_nsec = PAUSE_NS };

		if (now - from > BEHIND_NS)
			from = now - BEHIND_NS;
		uint64_t due = (now - from) * rate / 1000000000;

		for (uint64_t i = 0; i < due; i++)
			ASTERISM_SENSE(bench_load, *count + i + 1, i, i, i);
		*count += due;
		from += due * 1000000000 / rate;
		nanosleep(&pause, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t threads = argc > 3 ? strtoull(argv[1], NULL, 10) : 0, sum = 0;
	double seconds = argc > 3 ? strtod(argv[3], NULL) : 0;
	pthread_t made[THREADS_MAX];

	rate = argc > 3 ? strtoull(argv[2], NULL, 10) : 0;
	if (!threads || threads > THREADS_MAX || !rate) {
		fputs("usage: sensor-load THREADS RATE SECONDS\n", stderr);
		return 2;
	}
	for (int i = 0; i < 5000 && !bench_load_is_watched(); i++)
		usleep(1000);
	until_ns = now_ns() + (uint64_t)(seconds * 1e9);
	for (uint64_t i = 0; i < threads; i++)
		pthread_create(&made[i], NULL, raise_evenly, &raised[i]);
	for (uint64_t i = 0; i < threads; i++) {
		pthread_join(made[i], NULL);
		sum += raised[i];
	}
	printf("%llu %.0f\n", (unsigned long long)sum, (double)sum / (double)threads / seconds);
	return 0;
}
