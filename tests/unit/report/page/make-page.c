// SPDX-License-Identifier: BSD-2-Clause
/* usage: report-page OUTPUT CPUS THREADS SLICES LIMIT [hostile]: a page of a made-up machine, for browsers to open. */

#include "sample.h"

#include "report/page/page.h"

#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	if (argc < 6)
		return 2;
	struct sample sample = {
		.cpus = (uint32_t)atol(argv[2]),
		.threads = (uint32_t)atol(argv[3]),
		.threads_of_process = 5,
		.slices = (uint64_t)atoll(argv[4]),
		.seed = 7,
		.is_hostile = argc > 6,
	};
	sample_limit = (uint64_t)atoll(argv[5]);
	struct report *page;
	if (sample_tell(&sample, &report_page, &page) != 0)
		return 1;
	FILE *out = fopen(argv[1], "w");
	if (!out)
		return 1;
	struct report_page_options options = { .title = sample.is_hostile ? "</title><script>alert(1)</script>"
									  : "A machine that never was" };
	int code = report_page_write(out, page, &options);
	fclose(out);
	report_page.free(page);
	return code != 0;
}
