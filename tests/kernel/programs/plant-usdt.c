// SPDX-License-Identifier: BSD-2-Clause
/*
 * Raises USDT probes: `plant-usdt COUNT [PAUSE_MS]`. Those of the provider plant have semaphores and are met only if
 * somebody looks; how often that was the case is printed. Those of plain (plant-usdt-plain.c, also in a library) have
 * none.
 */

#define _SDT_HAS_SEMAPHORES 1

#include "plant-usdt.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>
#include <unistd.h>

#define SEMAPHORE(name) unsigned short volatile plant_##name##_semaphore __attribute__((section(".probes")))
SEMAPHORE(gated);
SEMAPHORE(unreached);

struct order {
	int8_t small;
	uint8_t byte;
	int16_t change;
	int32_t total;
	const char *name;
};

/* The probe takes what it wants from memory. */
__attribute__((noinline)) static void handle(const struct order *order, long number)
{
	if (plant_gated_semaphore)
		STAP_PROBE6(plant, gated, number, order->small, order->byte, order->change, order->total, order->name);
}

__attribute__((noinline)) static void refuse(long number)
{
	if (plant_unreached_semaphore)
		STAP_PROBE1(plant, unreached, number);
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? strtol(argv[1], NULL, 10) : 1, met = 0;
	long pause_ms = argc > 2 ? strtol(argv[2], NULL, 10) : 0;

	for (long i = 0; i < count; i++) {
		struct order order = { (int8_t)(-1 - i), (uint8_t)(255 - i), (int16_t)(-300 - i), (int32_t)(-70000 - i),
				       i % 2 ? "odd" : "even" };

		met += plant_gated_semaphore != 0;
		handle(&order, i);
		plant_plain(i);
		if (pause_ms)
			usleep((useconds_t)pause_ms * 1000);
	}
	if (count < 0)
		refuse(count);
	printf("met %ld\n", met);
	return 0;
}
