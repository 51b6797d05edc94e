// SPDX-License-Identifier: BSD-2-Clause
/*
 * Filters the events that are shown. Whatever an option says, ordinals and relative times are those of the whole input.
 */

#include "cmd/text/filter.h"

#include "base/alloc.h"
#include "cli/print.h"
#include "cmd/options/status.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum filter_type { TYPE_WANTED = 1, TYPE_UNWANTED };

enum { PATTERN_BYTES = 256, NS_PER_S = 1000000000 };

static int filter_no_memory(void)
{
	cli_error("out of memory");
	return STATUS_USAGE;
}

static int read_names(struct filter *filter, const char *text)
{
	while (text && *text) {
		size_t length = strcspn(text, ",");

		if (length == 0 || length >= PATTERN_BYTES) {
			cli_error("--event: invalid list of names '%s'", text);
			return STATUS_USAGE;
		}
		if (alloc_grow(&filter->names, &filter->name_capacity, filter->name_count, sizeof *filter->names))
			return filter_no_memory();
		filter->names[filter->name_count++] = (struct filter_name){ text, length, false };
		text += length + (text[length] == ',');
	}
	return STATUS_FINE;
}

static int read_list(struct filter_list *list, const struct cli_option *row, const char *text)
{
	const char *at = text;

	while (at && *at) {
		char *end;
		unsigned long long number;

		errno = 0;
		number = strtoull(at, &end, 10);
		if (!isdigit((unsigned char)*at) || (*end && *end != ',') || errno || number > UINT32_MAX) {
			cli_error("--%s: invalid list of numbers '%s'", row->name, text);
			cli_hint("write one number, or several with commas: 12,34");
			return STATUS_USAGE;
		}
		if (alloc_grow(&list->items, &list->capacity, list->count, sizeof *list->items))
			return filter_no_memory();
		list->items[list->count++] = (uint32_t)number;
		at = end + (*end == ',');
	}
	return STATUS_FINE;
}

/* N, N..M, N.. or ..M */
static int read_ordinals(struct filter *filter, const char *text)
{
	const char *at = text;
	char *end = (char *)text;
	bool is_right = true;

	filter->first = 1;
	filter->last = UINT64_MAX;
	if (!text)
		return STATUS_FINE;
	errno = 0;
	if (isdigit((unsigned char)*at))
		filter->first = filter->last = strtoull(at, &end, 10);
	else
		is_right = strncmp(at, "..", 2) == 0 && at[2];
	at = end;
	if (is_right && strncmp(at, "..", 2) == 0) {
		at += 2;
		filter->last = UINT64_MAX;
		if (isdigit((unsigned char)*at)) {
			filter->last = strtoull(at, &end, 10);
			at = end;
		}
	}
	if (is_right && !*at && !errno && filter->first <= filter->last)
		return STATUS_FINE;
	cli_error("--ordinals: invalid range '%s'", text);
	cli_hint("write 17, 100..199, 100.. or ..199");
	return STATUS_USAGE;
}

static void read_moments(struct filter *filter, const struct cli_arguments *arguments)
{
	const struct cli_value *from = &arguments->options[OPTION_FROM], *to = &arguments->options[OPTION_TO];

	filter->to_ns = UINT64_MAX;
	if (from->text) {
		filter->from_ns = from->number;
		filter->from_is_relative = *from->text != '@';
	}
	if (to->text) {
		filter->to_ns = to->number;
		filter->to_is_relative = *to->text != '@';
	}
}

int filter_open(struct filter *filter, const struct cli_arguments *arguments)
{
	const struct cli_value *options = arguments->options;
	int status;

	*filter = (struct filter){ 0 };
	read_moments(filter, arguments);
	status = read_names(filter, options[OPTION_EVENT].text);
	if (!status)
		status = read_list(&filter->pids, &option_rows[OPTION_PIDS], options[OPTION_PIDS].text);
	if (!status)
		status = read_list(&filter->tids, &option_rows[OPTION_TIDS], options[OPTION_TIDS].text);
	if (!status)
		status = read_list(&filter->cpus, &option_rows[OPTION_CPUS], options[OPTION_CPUS].text);
	return status ? status : read_ordinals(filter, options[OPTION_ORDINALS].text);
}

void filter_close(struct filter *filter)
{
	alloc_free(filter->names);
	alloc_free(filter->pids.items);
	alloc_free(filter->tids.items);
	alloc_free(filter->cpus.items);
	alloc_free(filter->types);
}

static bool text_filter_wants_type(void *context, const struct event_type *type)
{
	struct filter *filter = context;
	bool is_wanted = filter->name_count == 0;

	for (size_t i = 0; i < filter->name_count; i++) {
		char pattern[PATTERN_BYTES];

		snprintf(pattern, sizeof pattern, "%.*s", (int)filter->names[i].length, filter->names[i].pattern);
		if (fnmatch(pattern, type->name, 0))
			continue;
		filter->names[i].is_met = true;
		is_wanted = true;
	}
	return is_wanted;
}

struct event_want filter_want(struct filter *filter)
{
	return (struct event_want){ .wants = text_filter_wants_type, .context = filter };
}

static bool text_filter_has_type(struct filter *filter, const struct event *event)
{
	uint32_t number = event->record->type;

	while (filter->type_count <= number) {
		if (alloc_grow(&filter->types, &filter->type_capacity, filter->type_count, 1))
			return text_filter_wants_type(filter, event->type);
		filter->types[filter->type_count++] = 0;
	}
	if (!filter->types[number])
		filter->types[number] = text_filter_wants_type(filter, event->type) ? TYPE_WANTED : TYPE_UNWANTED;
	return filter->types[number] == TYPE_WANTED;
}

static bool has_filter_type(const struct filter_list *list, uint32_t number)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i] == number)
			return true;
	}
	return list->count == 0;
}

static void begin_filter(struct filter *filter, uint64_t ts)
{
	filter->start_ns = ts;
	filter->has_start = true;
	if (filter->from_is_relative && __builtin_add_overflow(filter->from_ns, ts, &filter->from_ns))
		filter->from_ns = UINT64_MAX;
	if (filter->to_is_relative && __builtin_add_overflow(filter->to_ns, ts, &filter->to_ns))
		filter->to_ns = UINT64_MAX;
}

enum filter_verdict filter_judge(struct filter *filter, const struct event *event)
{
	const struct event_header *header = event->record;

	if (!filter->has_start)
		begin_filter(filter, header->ts);
	filter->last_ns = header->ts;
	if (header->ts >= filter->to_ns || header->seq > filter->last)
		return FILTER_END;
	if (header->ts < filter->from_ns || header->seq < filter->first || !text_filter_has_type(filter, event) ||
	    !has_filter_type(&filter->pids, header->pid) || !has_filter_type(&filter->tids, header->tid) ||
	    !has_filter_type(&filter->cpus, header->cpu))
		return FILTER_LEAVE_OUT;
	return FILTER_SHOW;
}

int filter_check_names(const struct filter *filter)
{
	int status = STATUS_FINE;

	for (size_t i = 0; i < filter->name_count; i++) {
		const struct filter_name *name = &filter->names[i];

		if (name->is_met)
			continue;
		cli_error("the trace has no event type '%.*s'", (int)name->length, name->pattern);
		cli_hint("'asterism stat' lists the event types of a trace");
		status = STATUS_USAGE;
	}
	return status;
}

void filter_warn_of_end(const struct filter *filter)
{
	uint64_t length_ns = filter->last_ns - filter->start_ns;

	if (!filter->has_start || filter->last_ns >= filter->from_ns)
		return;
	cli_warning("--from is after the last event, which is %" PRIu64 ".%09" PRIu64
		    " s after the first, at @%" PRIu64,
		    length_ns / NS_PER_S, length_ns % NS_PER_S, filter->last_ns);
}
