// SPDX-License-Identifier: BSD-2-Clause
#include "recorded.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int next(struct event_source *source, struct event *event)
{
	struct recorded *recorded = (struct recorded *)source;
	size_t at = recorded->next;

	if (at == recorded->count)
		return 0;
	recorded->next++;
	recorded->source.lost += recorded->events[at].lost_before;
	*event = (struct event){ &recorded->events[at].record.header, recorded->events[at].type, 0 };
	return 1;
}

static uint64_t position(const struct event_source *source)
{
	return ((const struct recorded *)source)->next;
}

static void release(struct event_source *source)
{
	(void)source;
}

/* Whether the word of length bytes at item is TYPE, or TYPE:...+FIELD+... */
static bool names(const char *item, size_t length, const struct event_type *type, uint32_t field)
{
	size_t name = strlen(type->name);
	char text[200], wanted[80];

	if (length < name || strncmp(item, type->name, name) != 0 || (length > name && item[name] != ':'))
		return false;
	if (length == name || field == EVENT_NO_FIELD)
		return true;
	snprintf(text, sizeof text, "+%.*s+", (int)(length - name - 1), item + name + 1);
	snprintf(wanted, sizeof wanted, "+%s+", type->fields[field].name);
	return strstr(text, wanted) != NULL;
}

static bool holds(struct event_source *source, const struct event_type *type, uint32_t field)
{
	const char *at = ((const struct recorded *)source)->held;

	while (*at) {
		size_t length = strcspn(at, " ");

		if (names(at, length, type, field))
			return true;
		at += length + strspn(at + length, " ");
	}
	return false;
}

static const struct event_source_kind kind = {
	.name = "memory", .next = next, .free = release, .position = position, .holds = holds
};

void recorded_init(struct recorded *recorded, struct event_catalog *catalog, const char *held)
{
	*recorded = (struct recorded){ .source = { .kind = &kind }, .catalog = catalog, .held = held };
}

void recorded_add(struct recorded *recorded, const char *type, uint32_t tid, const uint64_t *words)
{
	size_t at = recorded->count++;
	struct event_header *header = &recorded->events[at].record.header;

	assert_in_range(at, 0, RECORDED_MAX - 1);
	recorded->events[at].type = event_catalog_find(recorded->catalog, type);
	assert_non_null(recorded->events[at].type);
	*header = (struct event_header){ .ts = (at + 1) * 10, .seq = at + 1, .pid = 7, .tid = tid, .comm = "cp" };
	for (uint32_t i = 0; i < recorded->events[at].type->field_count; i++)
		memcpy(recorded->events[at].record.bytes + recorded->events[at].type->fields[i].offset, &words[i],
		       sizeof *words);
	for (size_t i = 0; i <= at; i++) {
		if (recorded->events[i].type == recorded->events[at].type) {
			header->type = (uint32_t)i;
			break;
		}
	}
}
