// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes what the page's program is told: one JSON object, columns instead of rows where there are many. Names that are
 * not to be shown are empty.
 */

#include "report/page/page-priv.h"

#include "base/alloc.h"

#include <inttypes.h>

enum { DOUBLE_BITS = 53 };

static void put_page_key(struct text_buffer *json, const char *key)
{
	text_printf(json, ",\n\"%s\":", key);
}

/* From the beginning of the page; what a program of the page can count exactly. */
static uint64_t since_page_start(const struct report_view *view, uint64_t ns)
{
	uint64_t passed = ns > view->first_ns ? ns - view->first_ns : 0;
	return passed >> DOUBLE_BITS == 0 ? passed : (UINT64_C(1) << DOUBLE_BITS) - 1;
}

static int64_t index_or_none(uint32_t index)
{
	return index == REPORT_NONE ? -1 : (int64_t)index;
}

/* What a column of threads holds. */
struct column {
	const char *name;
	bool is_spare; /* empty where there is no room */
	void (*put)(struct text_buffer *json, const struct report_view *view, const struct report_thread *thread);
};

static void put_tid(struct text_buffer *json, const struct report_view *view, const struct report_thread *thread)
{
	(void)view;
	text_printf(json, "%" PRIu32, thread->tid);
}

static void put_pid(struct text_buffer *json, const struct report_view *view, const struct report_thread *thread)
{
	(void)view;
	text_printf(json, "%" PRIu32, thread->pid);
}

static void put_parent(struct text_buffer *json, const struct report_view *view, const struct report_thread *thread)
{
	(void)view;
	text_printf(json, "%" PRIi64, index_or_none(thread->parent));
}

static void put_parent_pid(struct text_buffer *json, const struct report_view *view, const struct report_thread *thread)
{
	(void)view;
	text_printf(json, "%" PRIu32, thread->parent_pid);
}

static void put_birth(struct text_buffer *json, const struct report_view *view, const struct report_thread *thread)
{
	text_printf(json, "%" PRIu64, since_page_start(view, thread->birth));
}

static void put_death(struct text_buffer *json, const struct report_view *view, const struct report_thread *thread)
{
	text_printf(json, "%" PRIu64, thread->death != 0 ? since_page_start(view, thread->death) : 0);
}

static void put_comm(struct text_buffer *json, const struct report_view *view, const struct report_thread *thread)
{
	char comm[EVENT_COMM_BYTES + 1];
	snprintf(comm, sizeof comm, "%.*s", view->is_redacted ? 0 : EVENT_COMM_BYTES, thread->comm);
	text_json(json, comm);
}

static void put_thread_function(struct text_buffer *json, const struct report_view *view,
				const struct report_thread *thread)
{
	text_json(json, report_name(view, thread->function));
}

static void put_program(struct text_buffer *json, const struct report_view *view, const struct report_thread *thread)
{
	text_json(json, view->is_redacted ? "" : report_name(view, thread->program));
}

static void put_arguments(struct text_buffer *json, const struct report_view *view, const struct report_thread *thread)
{
	text_json(json, view->is_redacted ? "" : report_name(view, thread->arguments));
}

static void put_kernel(struct text_buffer *json, const struct report_view *view, const struct report_thread *thread)
{
	(void)view;
	text_printf(json, "%d", thread->is_kernel);
}

static void put_thread_sums(struct text_buffer *json, const struct report_view *view,
			    const struct report_thread *thread)
{
	(void)view;
	text_printf(json, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, thread->state_ns[REPORT_RUNNING],
		    thread->state_ns[REPORT_READY], thread->state_ns[REPORT_BLOCKED], thread->runs);
}

static const struct column columns[] = {
	{ "tid", false, put_tid },
	{ "pid", false, put_pid },
	{ "parent", false, put_parent },
	{ "birth", false, put_birth },
	{ "parentPid", false, put_parent_pid },
	{ "death", false, put_death },
	{ "comm", false, put_comm },
	{ "function", false, put_thread_function },
	{ "program", true, put_program },
	{ "arguments", true, put_arguments },
	{ "kernel", false, put_kernel },
	{ "sums", false, put_thread_sums },
};

static void put_page_threads(struct text_buffer *json, const struct page *page)
{
	const struct report_view *view = page->report.view;
	put_page_key(json, "threads");
	for (const struct column *column = columns; column < columns + sizeof columns / sizeof *columns; column++) {
		text_printf(json, "%s\"%s\":[", column == columns ? "{" : ",\n", column->name);
		for (uint32_t i = 0; i < view->thread_count; i++) {
			text_append(json, i != 0 ? "," : "");
			if (column->is_spare && page->is_bare)
				text_append(json, "\"\"");
			else
				column->put(json, view, &view->threads[i]);
		}
		text_append(json, "]");
	}
	text_append(json, "}");
}

static void put_losses(struct text_buffer *json, const struct report_view *view)
{
	put_page_key(json, "losses");
	text_append(json, "[");
	for (uint32_t i = 0; i < view->loss_count; i++) {
		const struct report_loss *loss = &view->losses[i];
		text_printf(json, "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", i != 0 ? "," : "",
			    since_page_start(view, loss->begin), since_page_start(view, loss->end), loss->count);
	}
	text_append(json, "]");
}

static void put_matches(struct text_buffer *json, const struct page *page)
{
	const struct report_view *view = page->report.view;
	put_page_key(json, "matches");
	text_append(json, "[");
	for (size_t i = 0; i < page->match_count; i++) {
		const struct page_match *match = &page->matches[i];
		text_printf(json, "%s[%" PRIu64 ",%" PRIi64 ",", i != 0 ? ",\n" : "", since_page_start(view, match->ns),
			    index_or_none(match->thread));
		text_json(json, match->rule);
		text_append(json, ",");
		text_json(json, view->is_redacted ? "" : match->values);
		text_append(json, "]");
	}
	text_append(json, "]");
	text_printf(json, ",\"matchesLeftOut\":%" PRIu64, page->matches_left_out);
}

/* Per tile: class, begin, end, slices, whether it is there. */
static void put_tiles(struct text_buffer *json, const struct page *page)
{
	const struct report_view *view = page->report.view;
	const char *comma = "";
	put_page_key(json, "tiles");
	text_append(json, "[");
	for (size_t class = 0; class < STORE_CLASSES; class ++) {
		const struct store_class *tiles = &page->store.tiles.classes[class];
		for (const struct store_tile *tile = tiles->tiles; tile < tiles->tiles + tiles->count; tile++) {
			text_printf(json, "%s%zu,%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",%d", comma, class,
				    since_page_start(view, tile->begin), since_page_start(view, tile->end),
				    tile->slices, tile->is_kept);
			comma = ",";
		}
	}
	text_append(json, "]");
}

/* Only names that slices speak of. */
static void put_reasons(struct text_buffer *json, const struct page *page)
{
	const char *comma = "";
	put_page_key(json, "reasons");
	text_append(json, "{");
	for (uint32_t i = 1; i <= page->store.reason_max; i++) {
		if (!store_has_reason(&page->store, i))
			continue;
		text_printf(json, "%s\"%" PRIu32 "\":", comma, i);
		text_json(json, report_name(page->report.view, i));
		comma = ",";
	}
	text_append(json, "}");
}

void page_put_meta(struct text_buffer *json, const struct page *page, const char *title, const struct text_buffer *bins)
{
	const struct report_view *view = page->report.view;
	text_printf(json,
		    "{\"version\":1,\n\"begin\":\"%" PRIu64 "\",\"length\":%" PRIu64 ",\"wall\":\"%" PRIu64 "\",\n",
		    view->first_ns, since_page_start(view, view->last_ns), view->wall_ns);
	text_printf(json, "\"cpus\":%" PRIu32 ",\"events\":%" PRIu64 ",\"slices\":%" PRIu64 ",\"dropped\":%" PRIu64,
		    view->cpu_count, view->events, page->store.slices, page->store.tiles.dropped);
	text_printf(json, ",\"partial\":%d,\"bare\":%d", view->is_partial, page->is_bare);
	put_page_key(json, "title");
	text_json(json, title);
	put_page_key(json, "host");
	text_json(json, view->host && !view->is_redacted ? view->host : "");
	text_printf(json, ",\n\"binBits\":%u,\"binGroups\":[%s]", page->store.bins.shift,
		    bins->bytes ? bins->bytes : "");
	put_reasons(json, page);
	put_page_threads(json, page);
	put_losses(json, view);
	put_matches(json, page);
	put_tiles(json, page);
	text_append(json, "}\n");
}
