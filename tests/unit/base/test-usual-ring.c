// SPDX-License-Identifier: BSD-2-Clause
/* Rings of machines large and small. */

#include "base/usual-ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MIB UINT64_C(1048576)

static void a_ring_is_a_share_of_the_memory_and_has_limits(void **state)
{
	static const struct {
		uint64_t available, processors, ring;
	} machines[] = {
		{ 24000 * MIB, 2, 16 * MIB },   { 512 * MIB, 2, 16 * MIB },   { 511 * MIB, 2, 8 * MIB },
		{ 2500 * MIB, 8, 16 * MIB },    { 3584 * MIB, 128, 1 * MIB }, { 65536 * MIB, 256, 16 * MIB },
		{ 65535 * MIB, 256, 8 * MIB },  { 1024 * MIB, 256, MIB / 2 }, { 0, 1, MIB / 2 },
		{ UINT64_MAX, 8192, 16 * MIB },
	};

	(void)state;
	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
		assert_int_equal(usual_ring_bytes(machines[i].available, machines[i].processors), machines[i].ring);
}

static void this_machine_has_memory(void **state)
{
	(void)state;
	assert_true(usual_ring_available_bytes() >= MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_is_a_share_of_the_memory_and_has_limits),
		cmocka_unit_test(this_machine_has_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
