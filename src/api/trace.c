// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads a trace for a program: what comes next, a loss before the event with which it is reported, and when all is
 * over.
 */

#include "api/trace-priv.h"

#include "api/sized.h"
#include "base/diag.h"
#include "session/load/rules.h"
#include "trace/ctf/read.h"
#include "trace/merge.h"
#include "trace/open.h"

#include <errno.h>
#include <string.h>

/* An input that is something else altogether is not complained of line by line. */
enum { DAMAGES_MAX = 10, TRACES_MAX = 4096 };

/* A trace of ours has the types that were recorded; others have those of catalogs. */
static int open_catalog(struct asterism_trace *trace, const char *path, const char *added,
			struct event_catalog **catalog)
{
	int result;

	if (trace_ctf_is_own(path)) {
		*catalog = event_catalog_new();
		return *catalog ? 0 : diag_no_memory(trace->diag);
	}
	result = session_catalog_new(trace->diag, catalog);
	if (result || !added)
		return result;
	result = event_catalog_read(*catalog, ".", added, trace->diag);
	if (result == -ENOENT)
		result = diag_error(trace->diag, NULL, -EINVAL, "catalog not found: '%s'", added);
	return result;
}

static int open_sources(struct asterism_trace *trace, const char *const *paths, size_t count, const char *added)
{
	struct event_source **sources = alloc_zero(count, sizeof(struct event_source *));
	int result = 0;

	trace->catalogs = alloc_zero(count, sizeof(struct event_catalog *));
	if (!sources || !trace->catalogs)
		result = diag_no_memory(trace->diag);
	for (size_t i = 0; i < count && !result; i++) {
		const char *path = paths[i] ? arena_text(trace->arena, paths[i], strlen(paths[i])) : NULL;

		if (!paths[i])
			result = diag_error(trace->diag, NULL, -EINVAL, "a trace has no path");
		else if (!path)
			result = diag_no_memory(trace->diag);
		else
			result = open_catalog(trace, path, added, &trace->catalogs[i]);
		trace->catalog_count = i + 1;
		if (!result)
			result = trace_open(path, trace->catalogs[i], trace->diag, &sources[i]);
	}
	if (!result && count == 1)
		trace->source = sources[0];
	else if (!result)
		result = trace_merge_new(sources, count, trace->diag, &trace->source);
	for (size_t i = 0; sources && result && i < count; i++)
		event_source_free(sources[i]);
	alloc_free(sources);
	return result;
}

static int open_trace(struct asterism_trace *trace, const char *const *paths, size_t count,
		      const struct asterism_trace_options *given)
{
	struct asterism_trace_options options = { 0 };
	struct event_want want;
	int result;

	trace->arena = arena_new();
	if (!trace->arena)
		return diag_no_memory(trace->diag);
	if (given && sized_take(&options, sizeof options, given))
		return sized_refuse(trace->diag, "options", given, sizeof options);
	if (!paths || !count || count > TRACES_MAX)
		return diag_error(trace->diag, NULL, -EINVAL, "the number of traces is not between 1 and %d",
				  TRACES_MAX);
	result = trace_filter_init(&trace->filter, &options, trace->arena, trace->diag);
	if (!result)
		result = open_sources(trace, paths, count, options.catalog);
	if (result)
		return result;
	want = trace_filter_want(&trace->filter);
	event_source_want(trace->source, &want);
	trace->stats.bytes_total = trace->source->bytes_total;
	return 0;
}

int asterism_trace_open(const char *const *paths, size_t count, const struct asterism_trace_options *options,
			struct asterism_diag *diag, struct asterism_trace **made)
{
	struct asterism_trace *trace = alloc_zero(1, sizeof *trace);
	int result;

	if (!trace)
		return diag_no_memory(diag);
	trace->diag = asterism_diag_new();
	trace->item = -EINVAL;
	if (!trace->diag)
		result = diag_no_memory(diag);
	else if (!made)
		result = diag_error(trace->diag, NULL, -EINVAL, "the trace to return is NULL");
	else
		result = open_trace(trace, paths, count, options);
	diag_take(diag, trace->diag);
	if (result)
		asterism_trace_free(trace);
	else
		*made = trace;
	return result;
}

void asterism_trace_free(struct asterism_trace *trace)
{
	if (!trace)
		return;
	event_source_free(trace->source);
	for (size_t i = 0; i < trace->catalog_count; i++)
		event_catalog_free(trace->catalogs[i]);
	alloc_free(trace->catalogs);
	trace_filter_fini(&trace->filter);
	text_fini(&trace->text);
	event_catalog_free(trace->lender);
	alloc_free(trace->lent);
	arena_free(trace->arena);
	asterism_diag_free(trace->diag);
	alloc_free(trace);
}

static int end_trace(struct asterism_trace *trace, int item)
{
	trace->has_ended = true;
	return item;
}

static int fail_trace(struct asterism_trace *trace, int error)
{
	if (error == -EINTR)
		return error;
	if (error != -EINVAL)
		return end_trace(trace, error);
	if (++trace->stats.damaged < DAMAGES_MAX)
		return error;
	return end_trace(trace, diag_error(trace->diag, NULL, -EIO,
					   "the trace is too damaged: stopped at damaged place %d", DAMAGES_MAX));
}

/* Whether the source has told of a loss that was not given yet; if so, it is. */
static bool take_loss(struct asterism_trace *trace, bool at_end)
{
	const struct event_source *source = trace->source;

	if (source->lost <= trace->told_lost)
		return false;
	trace->loss = (struct asterism_trace_loss){
		.count = source->lost - trace->told_lost,
		.from_ns = trace->last_ns,
		.until_ns = at_end ? 0 : source->lossy_until_ns,
	};
	trace->told_lost = source->lost;
	trace->stats.lost = source->lost;
	return true;
}

static void note_event(struct asterism_trace *trace)
{
	uint64_t ts = trace->event.record->ts;

	if (!trace->stats.read++) {
		trace->stats.start_ns = ts;
		trace_filter_start(&trace->filter, ts);
	}
	trace->last_ns = ts;
}

static int finish_trace(struct asterism_trace *trace)
{
	if (take_loss(trace, true))
		return ASTERISM_TRACE_LOSS;
	trace_filter_warn(&trace->filter, trace->diag);
	return end_trace(trace, ASTERISM_TRACE_END);
}

static int continue_trace(struct asterism_trace *trace)
{
	for (;;) {
		if (!trace->is_held) {
			int result = event_source_next(trace->source, &trace->event);

			if (result <= 0)
				return result ? fail_trace(trace, result) : finish_trace(trace);
			if (take_loss(trace, false)) {
				trace->is_held = true;
				return ASTERISM_TRACE_LOSS;
			}
		}
		trace->is_held = false;
		note_event(trace);
		switch (trace_filter_judge(&trace->filter, &trace->event)) {
		case TRACE_FILTER_GIVE:
			trace->stats.given++;
			return ASTERISM_TRACE_EVENT;
		case TRACE_FILTER_END:
			return end_trace(trace, ASTERISM_TRACE_END);
		case TRACE_FILTER_LEAVE_OUT:
			break;
		}
	}
}

int asterism_trace_next(struct asterism_trace *trace)
{
	if (trace->has_ended)
		return trace->item;
	asterism_diag_clear(trace->diag);
	trace->item = continue_trace(trace);
	return trace->item;
}

const struct asterism_diag *asterism_trace_diag(const struct asterism_trace *trace)
{
	return trace->diag;
}

int asterism_trace_loss(const struct asterism_trace *trace, struct asterism_trace_loss *loss)
{
	return trace->item == ASTERISM_TRACE_LOSS ? sized_give(loss, &trace->loss, sizeof trace->loss) : -EINVAL;
}

int asterism_trace_stats(const struct asterism_trace *trace, struct asterism_trace_stats *stats)
{
	struct asterism_trace_stats own = trace->stats;

	own.bytes = event_source_position(trace->source);
	own.wall_ns = trace->source->machine.wall_ns;
	own.host = trace->source->machine.host;
	return sized_give(stats, &own, sizeof own);
}
