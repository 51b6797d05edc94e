// SPDX-License-Identifier: BSD-2-Clause
/* The metadata of a trace from anybody: it is read or refused with its place, and what is read can be written again. */

#include "trace-folder.h"

#include "trace/ctf/metadata.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static struct ctf_metadata read_text(const char *text, size_t size, struct arena *arena, int *result)
{
	const struct diag_source source = { .file = "fuzz", .text = text, .length = size };
	struct asterism_diag *diag = asterism_diag_new();
	struct ctf_metadata metadata;

	*result = ctf_metadata_read(&source, arena, diag, &metadata);
	expect((*result != 0) == (asterism_diag_count(diag, ASTERISM_NOTE) == 1));
	asterism_diag_free(diag);
	return metadata;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	struct text_buffer once = { 0 }, twice = { 0 };
	struct ctf_metadata metadata;
	/* Exactly sized, so that every byte read too many is seen. */
	char *copy = malloc(size ? size : 1);
	int result;

	memcpy(copy, data, size);
	metadata = read_text(copy, size, arena, &result);
	if (!result) {
		ctf_metadata_write(&metadata, &once);
		metadata = read_text(once.bytes, once.length, arena, &result);
		expect(!result);
		ctf_metadata_write(&metadata, &twice);
		expect(once.length == twice.length && !memcmp(once.bytes, twice.bytes, once.length));
	}
	free(copy);
	text_fini(&once);
	text_fini(&twice);
	arena_free(arena);
	trace_folder_write("metadata", data, size);
	trace_folder_read();
	return 0;
}
