// SPDX-License-Identifier: BSD-2-Clause
/* Compares what an event type's programs depend on. */

#include "alike.h"

#include "base/alloc.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

static void add_without_numbers(struct text_buffer *text, const char *condition)
{
	for (const char *at = condition ? condition : ""; *at; at++) {
		if (!isdigit((unsigned char)*at))
			text_printf(text, "%c", *at);
	}
}

static void add_hook(struct text_buffer *text, const struct event_hook *hook, uint32_t fields)
{
	text_printf(text, "%s|%s|", hook->tracepoint, hook->scope ? hook->scope : "");
	add_without_numbers(text, hook->when);
	for (uint32_t i = 0; i < fields; i++)
		text_printf(text, "|%s", hook->paths[i] ? hook->paths[i] : "");
	text_append(text, "\n");
}

bool alike_before(struct alike *alike, const struct event_type *type)
{
	struct text_buffer text = { 0 };
	char *key = NULL;

	for (uint32_t i = 0; i < type->field_count; i++)
		text_printf(&text, "%d,%u,%u;", (int)type->fields[i].value, type->fields[i].offset,
			    type->fields[i].bytes);
	for (uint32_t i = 0; i < type->hook_count; i++)
		add_hook(&text, &type->hooks[i], type->field_count);
	if (text_take(&text, &key))
		return false;
	for (size_t i = 0; i < alike->count; i++) {
		if (strcmp(alike->texts[i], key) == 0) {
			alloc_free(key);
			return true;
		}
	}
	if (alloc_grow(&alike->texts, &alike->capacity, alike->count, sizeof *alike->texts))
		alloc_free(key);
	else
		alike->texts[alike->count++] = key;
	return false;
}

void alike_fini(struct alike *alike)
{
	for (size_t i = 0; i < alike->count; i++)
		alloc_free(alike->texts[i]);
	alloc_free(alike->texts);
}
