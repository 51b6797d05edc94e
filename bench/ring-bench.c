// SPDX-License-Identifier: BSD-2-Clause
/*
 * usage: ring-bench clock|exclusive|shared|shared-2 EVENTS
 * What it costs to write an event of 32 bytes of payload with its time to a ring that nobody reads, in ns: the
 * wall-clock time of a thread by its events. clock: the time alone. shared-2: two threads write to one ring.
 */

#include "ring/atomic.h"
#include "ring/exclusive.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUB_UNITS = 2048, SUB_COUNT = 8, PAYLOAD_UNITS = 4, WARM = 20000, THREADS_MAX = 2 };

struct way {
	const char *name;
	uint32_t threads;
	void (*write)(const struct ring *ring, uint64_t events);
};

struct writing {
	const struct way *way;
	const struct ring *ring;
	uint64_t events;
	double ns;
};

static volatile uint64_t sink;

static void read_clock(const struct ring *ring, uint64_t events)
{
	uint64_t sum = 0;

	(void)ring;
	for (uint64_t i = 0; i < events; i++)
		sum += ring_clock_tsc();
	sink = sum;
}

static void write_exclusive(const struct ring *ring, uint64_t events)
{
	struct ring_context who = { .tid = 1, .pid = 1, .comm = "bench" };
	struct ring_exclusive writer;

	memset(ring->control, 0, ring_control_bytes(SUB_COUNT));
	ring_exclusive_init(&writer, ring->control, ring->data, SUB_UNITS, SUB_COUNT);
	ring_exclusive_own(&writer, &who);
	for (uint64_t i = 0; i < events; i++) {
		uint64_t *payload = ring_exclusive_reserve(&writer, PAYLOAD_UNITS);

		for (uint32_t j = 0; j < PAYLOAD_UNITS; j++)
			payload[j] = i + j;
		ring_exclusive_commit(&writer, 1, ring_clock_tsc());
	}
}

static void write_shared(const struct ring *ring, uint64_t events)
{
	struct ring_context who = { .tid = (uint32_t)(uintptr_t)pthread_self(), .pid = 1, .comm = "bench" };

	for (uint64_t i = 0; i < events; i++) {
		uint64_t payload[PAYLOAD_UNITS] = { i, i + 1, i + 2, i + 3 };

		ring_put(ring, &who, 1, payload, PAYLOAD_UNITS);
	}
}

static void *write_and_time(void *context)
{
	struct writing *writing = context;

	writing->way->write(writing->ring, WARM);
	uint64_t begin = ring_clock_ns();

	writing->way->write(writing->ring, writing->events);
	writing->ns = (double)(ring_clock_ns() - begin) / (double)writing->events;
	return NULL;
}

static const struct way ways[] = {
	{ "clock", 1, read_clock },
	{ "exclusive", 1, write_exclusive },
	{ "shared", 1, write_shared },
	{ "shared-2", 2, write_shared },
};

static const struct way *find_way(const char *name)
{
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (strcmp(ways[i].name, name) == 0)
			return &ways[i];
	return NULL;
}

int main(int argc, char **argv)
{
	const struct way *way = argc == 3 ? find_way(argv[1]) : NULL;
	struct ring ring = { .sub_units = SUB_UNITS, .sub_count = SUB_COUNT, .clock = RING_CLOCK_TSC };
	struct writing writings[THREADS_MAX];
	pthread_t threads[THREADS_MAX];
	double ns = 0;

	ring.control = calloc(1, ring_control_bytes(SUB_COUNT));
	ring.data = calloc((size_t)SUB_UNITS * SUB_COUNT, RING_UNIT_BYTES);
	if (!way || !ring.control || !ring.data) {
		fprintf(stderr, "usage: ring-bench clock|exclusive|shared|shared-2 EVENTS\n");
		return 2;
	}
	for (uint32_t i = 0; i < way->threads; i++) {
		writings[i] = (struct writing){ way, &ring, strtoull(argv[2], NULL, 10), 0 };
		if (pthread_create(&threads[i], NULL, write_and_time, &writings[i]))
			return 1;
	}
	for (uint32_t i = 0; i < way->threads; i++) {
		pthread_join(threads[i], NULL);
		ns += writings[i].ns / way->threads;
	}
	printf("%.3f\n", ns);
	free(ring.control);
	free(ring.data);
	return 0;
}
