// SPDX-License-Identifier: BSD-2-Clause
/* usage: ust-write EVENTS [off]. What a tracepoint of LTTng-UST with 32 bytes of payload costs, in ns of processor
 * time: enabled, or not.
 */

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "ust-provider.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void write_all(uint64_t events)
{
	for (uint64_t i = 0; i < events; i++)
		lttng_ust_tracepoint(asterism_bench, write, i, i + 1, i + 2, i + 3);
}

int main(int argc, char **argv)
{
	uint64_t events = argc >= 2 ? strtoull(argv[1], NULL, 10) : 0;

	if (!events || !lttng_ust_tracepoint_enabled(asterism_bench, write) != (argc > 2)) {
		fprintf(stderr, "the tracepoint is not as it should be\n");
		return 1;
	}
	write_all(20000);
	double begin = now_ns();

	write_all(events);
	printf("%.3f\n", (now_ns() - begin) / (double)events);
	return 0;
}
