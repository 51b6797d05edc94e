// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides between lost events and the memory of the machine: 16 MiB bridge 90 ms of four million events a second, which
 * a busy machine may need to run the thread that reads them. Of a machine with many processors that would be too much.
 */

#include "base/usual-ring.h"

#include "base/proc.h"

enum { SHARE = 16 };

uint64_t usual_ring_bytes(uint64_t available_bytes, uint64_t processors)
{
	uint64_t bytes = USUAL_RING_BYTES_MAX;

	while (bytes > USUAL_RING_BYTES_MIN && bytes * processors > available_bytes / SHARE)
		bytes /= 2;
	return bytes;
}

uint64_t usual_ring_available_bytes(void)
{
	char text[4096];
	uint64_t kib;

	if (proc_read("/proc/meminfo", text, sizeof text) < 0 || proc_numbers(text, "MemAvailable:", &kib, 1) != 1)
		return UINT64_MAX;
	return kib << 10;
}
