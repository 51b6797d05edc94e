// SPDX-License-Identifier: BSD-2-Clause
/* Keeps the units. */

#include "daemon/units.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "daemon/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* NULL: no memory. */
static struct unit_rule *new_counts(struct asterism_rules *rules)
{
	struct unit_rule *counts = alloc_zero(asterism_rules_count(rules), sizeof *counts);

	for (size_t i = 0; counts && i < asterism_rules_count(rules); i++) {
		struct asterism_rule_info info = { .size = sizeof info };

		if (!asterism_rules_info(rules, i, &info))
			counts[i].severity = info.severity;
	}
	return counts;
}

int unit_new(struct asterism_session *session, const struct unit_source *source, struct unit **made)
{
	const struct asterism_rules_source rules = { .size = sizeof rules,
						     .bytes = source->bytes,
						     .length = source->length,
						     .name = source->name,
						     .owner = source->is_file ? geteuid() : source->owner,
						     .is_foreign = !source->is_file };
	struct unit *unit = alloc_zero(1, sizeof *unit);
	int result;

	if (!unit)
		return -ENOMEM;
	snprintf(unit->name, sizeof unit->name, "%s", source->name);
	unit->owner = source->owner;
	unit->is_file = source->is_file;
	unit->length = source->length;
	unit->hash = hash_bytes(HASH_START, source->bytes, source->length);
	result = source->bytes ? asterism_rules_load_from(session, &rules, &unit->rules) : 0;
	if (!result && unit->rules) {
		asterism_rules_set_context(unit->rules, unit);
		unit->counts = new_counts(unit->rules);
		result = unit->counts ? 0 : -ENOMEM;
	}
	if (result) {
		unit_free(unit);
		return result;
	}
	if (unit->rules)
		unit_log_notes(session, unit->name);
	*made = unit;
	return 0;
}

/* The next message from *index on that is no error, as one sentence; false: there is none. */
static bool next_note(const struct asterism_session *session, size_t *index, struct text_buffer *note)
{
	const struct asterism_diag *diag = asterism_session_diag(session);
	const struct asterism_message *message;

	while ((message = asterism_diag_get(diag, (*index)++))) {
		if (message->severity == ASTERISM_ERROR)
			continue;
		if (message->file && message->line)
			text_printf(note, "%s:%u:%u: ", message->file, message->line, message->column);
		text_printf(note, message->hint ? "%s (%s)" : "%s", message->text, message->hint);
		return true;
	}
	return false;
}

void unit_log_notes(const struct asterism_session *session, const char *name)
{
	struct text_buffer note = { 0 };

	for (size_t i = 0; next_note(session, &i, &note); text_fini(&note))
		log_line(LOG_LEVEL_INFO, "%s: %s", name, note.failure ? "out of memory" : note.bytes);
}

void unit_append_notes(const struct asterism_session *session, struct text_buffer *list)
{
	struct text_buffer note = { 0 };

	for (size_t i = 0; next_note(session, &i, &note); text_fini(&note)) {
		text_append(list, list->length ? "," : "");
		text_json(list, note.failure ? "out of memory" : note.bytes);
	}
}

void unit_free(struct unit *unit)
{
	if (!unit)
		return;
	if (unit_is_active(unit))
		asterism_rules_finish(unit->rules); /* what it found until now is still told */
	asterism_rules_unload(unit->rules);
	alloc_free(unit->counts);
	alloc_free(unit);
}

struct unit *units_find(const struct units *units, const char *name)
{
	for (struct unit *unit = units->first; unit; unit = unit->next) {
		if (strcmp(unit->name, name) == 0)
			return unit;
	}
	return NULL;
}

struct unit *units_find_similar(const struct units *units, const char *name)
{
	size_t length = strcspn(name, ".");

	for (struct unit *unit = units->first; unit; unit = unit->next) {
		if (strcspn(unit->name, ".") == length && strncmp(unit->name, name, length) == 0)
			return unit;
	}
	return NULL;
}

static struct unit **link_of(struct units *units, const struct unit *unit)
{
	struct unit **link = &units->first;

	while (*link && *link != unit)
		link = &(*link)->next;
	return link;
}

void units_add(struct units *units, struct unit *unit)
{
	*link_of(units, NULL) = unit;
	units->count++;
}

void units_remove(struct units *units, struct unit *unit)
{
	*link_of(units, unit) = unit->next;
	units->count--;
	unit_free(unit);
}

void units_replace(struct units *units, struct unit *old, struct unit *unit)
{
	unit->next = old->next;
	*link_of(units, old) = unit;
	unit_free(old);
}

bool unit_is_active(const struct unit *unit)
{
	return unit->rules && asterism_rules_state(unit->rules) == ASTERISM_RULES_ACTIVE;
}

size_t units_active(const struct units *units)
{
	size_t active = 0;

	for (const struct unit *unit = units->first; unit; unit = unit->next)
		active += unit_is_active(unit);
	return active;
}

bool unit_is_in_user_space(const struct unit *unit)
{
	struct asterism_rule_info info = { .size = sizeof info };

	for (size_t i = 0; unit->rules && asterism_rules_info(unit->rules, i, &info) == 0; i++) {
		if (info.place == ASTERISM_PLACE_USER)
			return true;
	}
	return false;
}

uint64_t unit_kernel_bytes(const struct unit *unit)
{
	struct asterism_rule_info info = { .size = sizeof info };
	uint64_t bytes = 0;

	for (size_t i = 0; unit->rules && asterism_rules_info(unit->rules, i, &info) == 0; i++)
		bytes += info.kernel_bytes;
	return bytes;
}
