// SPDX-License-Identifier: BSD-2-Clause
/*
 * An application with a sensor, which does afterwards what a rule over it may keep it from.
 *
 *	plant-transfer AMOUNT FILE [GO]      waits for the file GO, tells of the transfer, and makes FILE
 *	plant-transfer many COUNT            raises so many of 1, and says how long each took, in ns
 *	plant-transfer threads COUNT FILE    so many threads at once, most without a ring: each raises its number, and
 *then the greatest, 1000000, makes FILE
 */

#include "sensor/client/sensor.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TRANSFER(F) F(u32, amount, "", "how \"much\"") F(i64, rest, "bytes", "what remains") F(text16, to, "", "whom")
ASTERISM_SENSOR(transfer, "money goes", TRANSFER)

static pthread_barrier_t all;

static void pause_ms(void)
{
	const struct timespec time = { .tv_nsec = 1000000 };

	nanosleep(&time, NULL);
}

static int make(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY, 0666);

	return fd < 0 || close(fd);
}

static int many(long count)
{
	struct timespec begin, end;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (long i = 0; i < count; i++)
		ASTERISM_SENSE(transfer, 1, -i, "bob");
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%.1f\n",
	       ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / (double)count);
	return 0;
}

static void *raise_one(void *number)
{
	ASTERISM_SENSE(transfer, 1 + (uint32_t)(uintptr_t)number, -5, "bob");
	pthread_barrier_wait(&all);
	return NULL;
}

static int threads(int count, const char *path)
{
	pthread_t *items = calloc((size_t)count, sizeof *items);

	if (!items || pthread_barrier_init(&all, NULL, (unsigned)count + 1))
		return 2;
	for (int i = 0; i < count; i++)
		if (pthread_create(&items[i], NULL, raise_one, (void *)(uintptr_t)i))
			return 2;
	pthread_barrier_wait(&all);
	for (int i = 0; i < count; i++)
		pthread_join(items[i], NULL);
	free(items);
	ASTERISM_SENSE(transfer, 1000000, -5, "bob");
	return make(path);
}

int main(int count, char **arguments)
{
	if (count == 3 && !strcmp(arguments[1], "many"))
		return many(atol(arguments[2]));
	if (count == 4 && !strcmp(arguments[1], "threads"))
		return threads(atoi(arguments[2]), arguments[3]);
	if (count < 3)
		return 2;
	while (count > 3 && access(arguments[3], F_OK))
		pause_ms();
	ASTERISM_SENSE(transfer, (uint32_t)atoi(arguments[1]), -5, "bob");
	return make(arguments[2]);
}
