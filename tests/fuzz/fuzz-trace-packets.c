// SPDX-License-Identifier: BSD-2-Clause
/* A stream file of a trace from anybody: it gives sound records, and at most one error. */

#include "trace-folder.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *metadata;
	size_t length;

	if (!metadata) {
		metadata = trace_folder_metadata(&length);
		trace_folder_write("metadata", metadata, length);
	}
	trace_folder_write("stream_0", data, size);
	if (trace_folder_read())
		abort();
	return 0;
}
