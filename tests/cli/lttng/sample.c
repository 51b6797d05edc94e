// SPDX-License-Identifier: BSD-2-Clause
/* A program with LTTng tracepoints: a thousand pairs of begin and end, every tenth without its end. */

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "provider.h"

#include <stdio.h>
#include <unistd.h>

int main(void)
{
	printf("%d\n", (int)getpid());
	for (int i = 1; i <= 1000; i++) {
		lttng_ust_tracepoint(sample, begin, i, i % 2 ? "odd" : "even");
		if (i % 10)
			lttng_ust_tracepoint(sample, end, i, (unsigned char)i);
	}
	return 0;
}
