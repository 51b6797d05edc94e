// SPDX-License-Identifier: BSD-2-Clause
/* USDT probes without semaphores: one in several places with its arguments elsewhere each time, one with variables. */

#include "plant-usdt.h"

#include <stdint.h>
#include <sys/sdt.h>

static int32_t sum = -5;
static uint16_t squares[8] = { 0, 1, 4, 9, 16, 25, 36, 49 };

__attribute__((noinline)) static void from_registers(long number, int twice)
{
	STAP_PROBE3(plain, placed, 1, number, twice);
}

__attribute__((noinline)) static void from_memory(const long *numbers, long index)
{
	STAP_PROBE3(plain, placed, 2, numbers[index], (int)numbers[index + 1]);
}

__attribute__((noinline)) static void from_constants(void)
{
	STAP_PROBE3(plain, placed, 3, -9L, 18);
}

__attribute__((noinline)) static void from_variables(long number)
{
	STAP_PROBE2(plain, variable, sum, squares[number & 7]);
}

void plant_plain(long number)
{
	long numbers[] = { number, 2 * number };

	from_registers(number, (int)(2 * number));
	from_memory(numbers, 0);
	from_constants();
	sum += (int32_t)number;
	from_variables(number);
}
