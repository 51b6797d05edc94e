// SPDX-License-Identifier: BSD-2-Clause
/*
 * Changes the choice of types while a recording runs: first the trace says so, then a gate per type is set, then
 * programs that have nothing left to do are detached. So no event comes whose type the trace does not describe, no type
 * that stays misses one, and what is not taken costs nothing.
 */

#include "session/record/recording-priv.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* How long the thread may take to write the description. */
#define MASK_PATIENCE_NS UINT64_C(2000000000)

struct recording_description *recording_description_new(const struct recording_description *from)
{
	struct recording_description *made = alloc_zero(1, sizeof *made);

	if (!made)
		return NULL;
	made->events = alloc_zero(from->event_count, sizeof *made->events);
	made->changes = alloc_zero(from->change_count, sizeof *made->changes);
	if (!made->events || !made->changes) {
		recording_description_free(made);
		return NULL;
	}
	memcpy(made->events, from->events, from->event_count * sizeof *made->events);
	made->event_count = from->event_count;
	for (; made->change_count < from->change_count; made->change_count++) {
		made->changes[made->change_count] = alloc_text(from->changes[made->change_count]);
		if (!made->changes[made->change_count]) {
			recording_description_free(made);
			return NULL;
		}
	}
	return made;
}

void recording_description_free(struct recording_description *description)
{
	if (!description)
		return;
	for (size_t i = 0; i < description->change_count; i++)
		alloc_free(description->changes[i]);
	alloc_free(description->changes);
	alloc_free(description->events);
	alloc_free(description);
}

void recording_mask_fini(struct recording *recording)
{
	for (size_t i = 0; i < recording->field_count; i++)
		alloc_free(recording->fields[i]);
	for (size_t i = 0; i < recording->change_count; i++)
		alloc_free(recording->changes[i]);
	alloc_free(recording->fields);
	alloc_free(recording->changes);
}

/* The number of the event's type, or event_count. */
static size_t find_type_number(const struct recording *recording, const struct event_type *type)
{
	size_t i = 0;

	while (i < recording->event_count && recording->events[i].type != type)
		i++;
	return i;
}

static bool is_type_selected(const struct selection *wanted, const struct event_type *type)
{
	for (size_t i = 0; i < wanted->count; i++)
		if (wanted->events[i].type == type)
			return true;
	return false;
}

static bool has_all(const struct event_type *type, const bool *recorded)
{
	for (uint32_t i = 0; i < type->field_count; i++)
		if (!recorded[i])
			return false;
	return true;
}

/* Who names no fields takes those that are recorded. */
static int check_same_fields(const struct recording *recording, const struct selection *wanted)
{
	for (size_t i = 0; i < wanted->count; i++) {
		const struct event_type *type = wanted->events[i].type;
		size_t at = find_type_number(recording, type);

		if (at == recording->event_count || has_all(type, wanted->events[i].recorded))
			continue;
		if (memcmp(recording->events[at].recorded, wanted->events[i].recorded, type->field_count))
			return diag_error(
				recording->diag, NULL, -EINVAL,
				"%s is recorded with other fields, which cannot change while the recording runs",
				type->name);
	}
	return 0;
}

static int add_masked_event(struct recording *recording, const struct selected_event *event)
{
	bool *fields = alloc_zero(EVENT_FIELDS_MAX, sizeof *fields);

	if (!fields || alloc_grow(&recording->fields, &recording->field_capacity, recording->field_count,
				  sizeof *recording->fields)) {
		alloc_free(fields);
		return -ENOMEM;
	}
	recording->fields[recording->field_count++] = memcpy(fields, event->recorded, event->type->field_count);
	if (alloc_grow(&recording->events, &recording->event_capacity, recording->event_count,
		       sizeof *recording->events))
		return -ENOMEM;
	recording->events[recording->event_count++] = (struct ctf_writer_event){ event->type, fields };
	return 0;
}

/* Programs for the types that are new; they stay, whatever becomes of the rest. */
static int add_type_programs(struct recording *recording, const struct selection *wanted)
{
	struct ebpf_record_type *types = alloc_zero(wanted->count, sizeof *types);
	size_t before = recording->event_count, count;
	int result = types ? 0 : -ENOMEM;

	for (size_t i = 0; i < wanted->count && !result; i++)
		if (find_type_number(recording, wanted->events[i].type) == recording->event_count)
			result = add_masked_event(recording, &wanted->events[i]);
	count = recording->event_count - before;
	for (size_t i = 0; i < count && !result; i++) {
		const struct ctf_writer_event *event = &recording->events[before + i];

		types[i] = (struct ebpf_record_type){ event->type, event->recorded,
						      (uint16_t)(EVENT_PACKED_ID_FIRST + before + i) };
	}
	if (result)
		diag_no_memory(recording->diag);
	else if (count)
		result = ebpf_recorder_extend(recording->recorder, types, count, recording->diag);
	if (result)
		recording->event_count = before;
	alloc_free(types);
	return result;
}

/* "TIME +type -type"; *any: there is a change. */
static void tell_change(const struct recording *recording, const struct selection *wanted, struct text_buffer *text,
			bool *any)
{
	text_printf(text, "%" PRIu64, clock_now_ns());
	for (size_t i = 0; i < recording->event_count; i++) {
		bool wants = is_type_selected(wanted, recording->events[i].type);

		if (wants == ebpf_recorder_takes(recording->recorder, i))
			continue;
		text_printf(text, " %c%s", wants ? '+' : '-', recording->events[i].type->name);
		*any = true;
	}
}

/* The trace says what it may hold from here on. */
static int describe_mask(struct recording *recording)
{
	const struct recording_description all = { recording->events, recording->event_count, recording->changes,
						   recording->change_count };
	struct recording_description *description = recording_description_new(&all);
	int result = description ? recording_thread_describe(recording->thread, description,
							     clock_now_ns() + MASK_PATIENCE_NS)
				 : -ENOMEM;

	if (result == -ENOMEM)
		return diag_no_memory(recording->diag);
	if (result == -EBUSY)
		recording_description_free(description);
	if (result == -EBUSY || result == -EINPROGRESS)
		return diag_error(recording->diag, NULL, -EBUSY,
				  "writes are stalled: the choice of events was not changed");
	if (result)
		recording_thread_news(recording->thread, recording->diag);
	return result;
}

/* What is in scope of the first programs is in that of the new ones, too. */
static void enter_processes(struct recording *recording)
{
	DIR *folder = opendir("/proc");
	const struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? (pid_t)atoi(entry->d_name) : 0;

		if (pid && ebpf_recorder_has(recording->recorder, pid))
			ebpf_recorder_add(recording->recorder, pid);
	}
	if (folder)
		closedir(folder);
}

static int set_gates(struct recording *recording, const struct selection *wanted)
{
	int result;

	for (size_t i = 0; i < recording->event_count; i++)
		ebpf_recorder_take(recording->recorder, i, is_type_selected(wanted, recording->events[i].type));
	result = ebpf_recorder_attach(recording->recorder, recording->diag);
	if (!result && recording->options.scope != EBPF_SCOPE_ALL)
		enter_processes(recording);
	return result ? result : ebpf_recorder_adjust(recording->recorder, recording->diag);
}

/* The change is told, and then made; *text goes to the recording, which forgets it where that fails. */
static int carry_out_selection(struct recording *recording, const struct selection *wanted, struct text_buffer *text)
{
	int result;

	if (alloc_grow(&recording->changes, &recording->change_capacity, recording->change_count,
		       sizeof *recording->changes) ||
	    text_take(text, &recording->changes[recording->change_count]))
		return diag_no_memory(recording->diag);
	recording->change_count++;
	result = describe_mask(recording);
	if (!result)
		result = set_gates(recording, wanted);
	if (result)
		alloc_free(recording->changes[--recording->change_count]);
	return result;
}

/* What was taken before, for when something else cannot be. */
static int remember(const struct recording *recording, struct selection *taken)
{
	taken->events = alloc_zero(recording->event_count, sizeof *taken->events);
	for (size_t i = 0; taken->events && i < recording->event_count; i++)
		if (ebpf_recorder_takes(recording->recorder, i))
			taken->events[taken->count++].type = recording->events[i].type;
	return taken->events ? 0 : diag_no_memory(recording->diag);
}

int recording_mask(struct recording *recording, const struct selection *wanted)
{
	struct selection before = { 0 };
	struct text_buffer text = { 0 };
	bool any = false;
	int result = 0;

	if (!recording->recorder)
		return diag_error(recording->diag, NULL, -EINVAL,
				  "the choice of events cannot be changed in a recording of sensors only");
	if (recording->sensors || wanted->sensor_count)
		return diag_error(recording->diag, NULL, -EINVAL,
				  "the choice of events cannot be changed in a recording with application sensors");
	if (!recording->options.is_masked || !wanted->count)
		return diag_error(recording->diag, NULL, -EINVAL, "no event type would be left to record");
	if (recording->change_count == CTF_CHANGES_MAX)
		return diag_error(recording->diag, NULL, -E2BIG,
				  "the choice of events was changed %d times, the limit: start another recording",
				  CTF_CHANGES_MAX);
	result = check_same_fields(recording, wanted);
	if (!result)
		result = remember(recording, &before);
	if (!result)
		result = add_type_programs(recording, wanted);
	if (!result)
		tell_change(recording, wanted, &text, &any);
	if (!result && any) {
		result = carry_out_selection(recording, wanted, &text);
		if (result)
			set_gates(recording, &before);
	}
	text_fini(&text);
	selection_fini(&before);
	return result;
}

size_t recording_masks(const struct recording *recording)
{
	return recording->change_count;
}

const struct event_type *recording_type(const struct recording *recording, size_t index)
{
	for (size_t i = 0; i < recording->event_count; i++)
		if (ebpf_recorder_takes(recording->recorder, i) && index-- == 0)
			return recording->events[i].type;
	return NULL;
}
