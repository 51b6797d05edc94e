// SPDX-License-Identifier: BSD-2-Clause
#include "ctf-rig.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static const char types[] = "EVENT tick { n: u64, b: bool }\nEVENT text { s: string[16], i: i32 }\n";

int rig_set_up(void **state)
{
	struct rig *rig = calloc(1, sizeof *rig);

	strcpy(rig->folder, "/tmp/asterism-ctf-XXXXXX");
	if (!mkdtemp(rig->folder))
		return -1;
	snprintf(rig->path, sizeof rig->path, "%s/trace", rig->folder);
	rig->diag = asterism_diag_new();
	rig->catalog = event_catalog_new();
	if (event_catalog_parse(rig->catalog, "types", types, strlen(types), NULL))
		return -1;
	rig->events[0].type = event_catalog_find(rig->catalog, "tick");
	rig->events[1].type = event_catalog_find(rig->catalog, "text");
	rig->options = (struct ctf_writer_options){
		.events = rig->events,
		.event_count = TYPES,
		.stream_count = 2,
		.wall_ns = WALL_NS,
	};
	*state = rig;
	return 0;
}

void rig_remove(const char *path)
{
	DIR *listing = opendir(path);
	struct dirent *entry;

	while (listing && (entry = readdir(listing))) {
		char name[512];

		if (*entry->d_name == '.')
			continue;
		snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
		unlink(name);
	}
	if (listing)
		closedir(listing);
	rmdir(path);
}

int rig_tear_down(void **state)
{
	struct rig *rig = *state;

	rig_remove(rig->path);
	rig_remove(rig->folder);
	event_catalog_free(rig->catalog);
	asterism_diag_free(rig->diag);
	free(rig);
	return 0;
}

void rig_open_writer(struct rig *rig)
{
	assert_int_equal(ctf_writer_new(rig->path, &rig->options, rig->diag, &rig->writer), 0);
	for (unsigned i = 0; i < 2; i++)
		rig->cpus[i] = packets_new(rig->writer, &rig->options, i);
}

void rig_close_writer(struct rig *rig)
{
	for (unsigned i = 0; i < 2; i++)
		free(rig->cpus[i]);
	assert_int_equal(ctf_writer_close(rig->writer), 0);
}

void rig_add_tick(struct rig *rig, unsigned cpu, uint64_t ts, uint64_t n)
{
	_Alignas(8) char record[128] = { 0 };
	struct event_header *header = (struct event_header *)record;

	*header = (struct event_header){ .ts = ts, .pid = 7, .tid = 8 + cpu, .comm = "maker" };
	memcpy(record + 48, &n, sizeof n);
	record[56] = 1;
	assert_int_equal(packets_add(rig->cpus[cpu], TICK, header), 0);
}

void rig_add_text(struct rig *rig, unsigned cpu, uint64_t ts, const char *text, int64_t i)
{
	_Alignas(8) char record[128] = { 0 };
	struct event_header *header = (struct event_header *)record;

	*header = (struct event_header){ .ts = ts, .pid = 9, .tid = 9, .comm = "fifteen letters" };
	strcpy(record + 48, text);
	memcpy(record + 64, &i, sizeof i);
	assert_int_equal(packets_add(rig->cpus[cpu], TEXT, header), 0);
}

void rig_flush(struct rig *rig, unsigned cpu)
{
	assert_int_equal(packets_flush(rig->cpus[cpu]), 0);
}

struct event_source *rig_open_reader(struct rig *rig)
{
	struct event_source *source = NULL;
	int result = trace_ctf_new(rig->path, rig->catalog, rig->diag, &source);

	if (result)
		print_message("%s\n", asterism_diag_get(rig->diag, 0)->text);
	assert_int_equal(result, 0);
	return source;
}

uint64_t rig_word(const struct event *event, const char *name)
{
	const struct event_field *field = event_field_find(event->type, name);
	uint64_t value = 0;

	assert_non_null(field);
	memcpy(&value, (const char *)event->record + field->offset, field->bytes);
	return value;
}

void rig_write_small(struct rig *rig)
{
	rig_open_writer(rig);
	rig_add_tick(rig, 0, 100, 1);
	rig_add_text(rig, 1, 100, "one", -1);
	rig_add_tick(rig, 1, 101, 2);
	rig_flush(rig, 1);
	rig_add_tick(rig, 0, 102, 3);
	rig_flush(rig, 0);
	rig_add_text(rig, 0, 103, "", 5);
	rig_add_tick(rig, 1, 103, 4);
	rig_flush(rig, 0);
	rig_flush(rig, 1);
	rig_close_writer(rig);
}
