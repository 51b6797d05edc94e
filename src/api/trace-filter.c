// SPDX-License-Identifier: BSD-2-Clause
/* Filters the events of a trace. Whatever is left out, ordinals and times are those of the whole. */

#include "api/trace-filter.h"

#include "base/diag.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

enum { WANTED = 1, UNWANTED, PATTERNS_MAX = 1024, LIST_MAX = 65536 };

static int read_patterns(struct trace_filter *filter, const char *text, struct arena *arena, struct asterism_diag *diag)
{
	size_t count = 1;

	if (!text)
		return 0;
	for (const char *at = text; *at; at++)
		count += *at == ',';
	if (count > PATTERNS_MAX)
		return diag_error(diag, NULL, -EINVAL, "more than %d event names were given", PATTERNS_MAX);
	filter->patterns = arena_zero(arena, count, sizeof *filter->patterns);
	filter->met = arena_zero(arena, count, sizeof *filter->met);
	if (!filter->patterns || !filter->met)
		return diag_no_memory(diag);
	for (const char *at = text; filter->pattern_count < count; filter->pattern_count++) {
		size_t length = strcspn(at, ",");

		if (!length)
			return diag_error(diag, NULL, -EINVAL, "invalid list of event names: '%s'", text);
		filter->patterns[filter->pattern_count] = arena_text(arena, at, length);
		if (!filter->patterns[filter->pattern_count])
			return diag_no_memory(diag);
		at += length + (at[length] == ',');
	}
	return 0;
}

static int read_list(struct trace_filter_list *list, const uint32_t *items, size_t count, struct arena *arena,
		     struct asterism_diag *diag)
{
	uint32_t *own;

	if (count > LIST_MAX || (count && !items))
		return diag_error(diag, NULL, -EINVAL, "invalid list of process ids, thread ids or CPUs");
	own = arena_zero(arena, count, sizeof *own);
	if (!own)
		return diag_no_memory(diag);
	if (count)
		memcpy(own, items, count * sizeof *own);
	*list = (struct trace_filter_list){ own, count };
	return 0;
}

int trace_filter_init(struct trace_filter *filter, const struct asterism_trace_options *options, struct arena *arena,
		      struct asterism_diag *diag)
{
	int result;

	filter->from_ns = options->from_ns;
	filter->to_ns = options->to_ns ? options->to_ns : UINT64_MAX;
	filter->on_clock = options->on_clock != 0;
	if (filter->from_ns > filter->to_ns)
		return diag_error(diag, NULL, -EINVAL, "the time range ends before it begins");
	result = read_patterns(filter, options->events, arena, diag);
	if (!result)
		result = read_list(&filter->pids, options->pids, options->pid_count, arena, diag);
	if (!result)
		result = read_list(&filter->tids, options->tids, options->tid_count, arena, diag);
	return result ? result : read_list(&filter->cpus, options->cpus, options->cpu_count, arena, diag);
}

void trace_filter_fini(struct trace_filter *filter)
{
	alloc_free(filter->types);
}

static bool filter_wants_type(void *context, const struct event_type *type)
{
	struct trace_filter *filter = context;
	bool is_wanted = !filter->pattern_count;

	for (size_t i = 0; i < filter->pattern_count; i++) {
		if (fnmatch(filter->patterns[i], type->name, 0))
			continue;
		filter->met[i] = true;
		is_wanted = true;
	}
	return is_wanted;
}

struct event_want trace_filter_want(struct trace_filter *filter)
{
	return (struct event_want){ .wants = filter_wants_type, .context = filter };
}

/* Without memory for its answers it is asked each time. */
static bool trace_filter_has_type(struct trace_filter *filter, const struct event *event)
{
	uint32_t number = event->record->type;

	if (!filter->pattern_count)
		return true;
	while (filter->type_count <= number) {
		if (alloc_grow(&filter->types, &filter->type_capacity, filter->type_count, sizeof *filter->types))
			return filter_wants_type(filter, event->type);
		filter->types[filter->type_count++] = 0;
	}
	if (!filter->types[number])
		filter->types[number] = filter_wants_type(filter, event->type) ? WANTED : UNWANTED;
	return filter->types[number] == WANTED;
}

static bool has_trace_type(const struct trace_filter_list *list, uint32_t number)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i] == number)
			return true;
	}
	return !list->count;
}

static uint64_t later_time(uint64_t ns, uint64_t by_ns)
{
	return __builtin_add_overflow(ns, by_ns, &ns) ? UINT64_MAX : ns;
}

void trace_filter_start(struct trace_filter *filter, uint64_t start_ns)
{
	if (filter->on_clock)
		return;
	filter->from_ns = later_time(filter->from_ns, start_ns);
	filter->to_ns = later_time(filter->to_ns, start_ns);
}

enum trace_filter_verdict trace_filter_judge(struct trace_filter *filter, const struct event *event)
{
	const struct event_header *header = event->record;

	if (header->ts >= filter->to_ns)
		return TRACE_FILTER_END;
	if (header->ts < filter->from_ns || !trace_filter_has_type(filter, event) ||
	    !has_trace_type(&filter->pids, header->pid) || !has_trace_type(&filter->tids, header->tid) ||
	    !has_trace_type(&filter->cpus, header->cpu))
		return TRACE_FILTER_LEAVE_OUT;
	return TRACE_FILTER_GIVE;
}

void trace_filter_warn(const struct trace_filter *filter, struct asterism_diag *diag)
{
	for (size_t i = 0; i < filter->pattern_count; i++) {
		if (!filter->met[i])
			diag_add(diag, ASTERISM_WARNING, NULL, "'asterism stat' lists the event types of a trace",
				 "the trace has no event type '%s'", filter->patterns[i]);
	}
}
