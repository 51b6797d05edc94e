// SPDX-License-Identifier: BSD-2-Clause
#include "trace-folder.h"

#include "record-check.h"

#include "trace/ctf/metadata.h"
#include "trace/ctf/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void remove_folder(void)
{
	static const char *const names[] = { "metadata", "stream_0" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char path[128];

		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		unlink(path);
	}
	rmdir(folder);
}

const char *trace_folder(void)
{
	if (*folder)
		return folder;
	strcpy(folder, access("/dev/shm", W_OK) ? "/tmp/fuzz-trace-XXXXXX" : "/dev/shm/fuzz-trace-XXXXXX");
	expect(mkdtemp(folder) != NULL);
	atexit(remove_folder);
	return folder;
}

void trace_folder_write(const char *name, const void *bytes, size_t size)
{
	char path[128];
	int fd;

	snprintf(path, sizeof path, "%s/%s", trace_folder(), name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	expect(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	close(fd);
}

const char *trace_folder_metadata(size_t *size)
{
	static const struct ctf_field tick[] = { { "n", EVENT_U64, 8 }, { "i", EVENT_I16, 8 }, { "b", EVENT_BOOL, 8 } };
	static const struct ctf_field text[] = { { "f", EVENT_F64, 8 },
						 { "s", EVENT_STRING, 16 },
						 { "l", EVENT_STRING, 256 } };
	const struct ctf_event events[] = {
		{ "tick", tick, 3, 1 }, { "text", text, 3, 2 }, { "none", tick, 0, 3 }, ctf_match_event
	};
	static struct text_buffer written;

	if (!written.length)
		ctf_metadata_write(&(struct ctf_metadata){ .events = events, .event_count = 4 }, &written);
	expect(!written.failure);
	*size = written.length;
	return written.bytes;
}

int trace_folder_read(void)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct event_catalog *catalog = event_catalog_new();
	struct event_source *source;
	struct event event;
	uint64_t events = 0, ts = 0, errors = 0;
	int opened = trace_ctf_new(trace_folder(), catalog, diag, &source), result;

	expect((opened != 0) == (asterism_diag_count(diag, ASTERISM_NOTE) == 1));
	while (!opened && (result = event_source_next(source, &event)) != 0) {
		if (result < 0) {
			expect(result == -EINVAL && asterism_diag_count(diag, ASTERISM_NOTE) == ++errors);
			continue;
		}
		expect(event.record->seq == ++events && event.record->ts >= ts);
		ts = event.record->ts;
		record_check(&event);
		expect(event.type->record_bytes <= EVENT_RECORD_BYTES_MAX);
	}
	expect(errors <= 1);
	if (!opened)
		event_source_free(source);
	event_catalog_free(catalog);
	asterism_diag_free(diag);
	return opened;
}
