// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes the trace event format of Chrome's viewers ("JSON Object Format"): complete events (X) per slice, instants (i)
 * per match, names of processes and threads as metadata (M) at the end, when they are known. Times are microseconds
 * since the first event.
 */

#include "report/export/export.h"

#include "base/alloc.h"
#include "report/table.h"

#include <errno.h>
#include <inttypes.h>

struct chrome {
	struct report_export base;
	bool has_begun; /* something was written */
};

uint32_t report_export_pid(const struct report_view *view, uint32_t thread)
{
	const struct report_thread *known = &view->threads[thread];

	return known->pid ? known->pid : known->tid;
}

static int chrome_open(const struct report_view *view, struct report **made)
{
	struct chrome *chrome = alloc_zero(1, sizeof *chrome);

	(void)view;
	if (!chrome)
		return -ENOMEM;
	*made = &chrome->base.report;
	return 0;
}

static void chrome_free(struct report *report)
{
	alloc_free(report);
}

static void begin_chrome(struct chrome *chrome)
{
	fputs(chrome->has_begun ? ",\n" : "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", chrome->base.stream);
	chrome->has_begun = true;
}

static void put_us(FILE *stream, const char *name, uint64_t ns)
{
	fprintf(stream, ",\"%s\":%" PRIu64 ".%03" PRIu64, name, ns / 1000, ns % 1000);
}

static int chrome_slice(struct report *report, const struct report_slice *slice)
{
	struct chrome *chrome = (struct chrome *)report;
	FILE *stream = chrome->base.stream;

	if (slice->thread == REPORT_NONE || !slice->thread)
		return 0;
	begin_chrome(chrome);
	fprintf(stream, "{\"ph\":\"X\",\"cat\":\"state\",\"pid\":%u,\"tid\":%u,\"name\":\"%s",
		report_export_pid(report->view, slice->thread), report->view->threads[slice->thread].tid,
		report_state_name(slice->state));
	if (slice->reason && slice->state == REPORT_BLOCKED) {
		fputs(": ", stream);
		text_write(stream, report_name(report->view, slice->reason), TEXT_JSON);
	}
	fputc('"', stream);
	put_us(stream, "ts", slice->begin - report->view->first_ns);
	put_us(stream, "dur", slice->end - slice->begin);
	if (slice->state == REPORT_RUNNING)
		fprintf(stream, ",\"args\":{\"cpu\":%u}", slice->cpu);
	else if (slice->waker < report->view->thread_count)
		fprintf(stream, ",\"args\":{\"waker\":%u}", report->view->threads[slice->waker].tid);
	fputc('}', stream);
	return 0;
}

static int chrome_match(struct report *report, const struct report_match *match)
{
	struct chrome *chrome = (struct chrome *)report;
	FILE *stream = chrome->base.stream;
	bool is_known = match->thread < report->view->thread_count;

	begin_chrome(chrome);
	fputs("{\"ph\":\"i\",\"cat\":\"match\",\"name\":\"", stream);
	text_write(stream, match->rule, TEXT_JSON);
	fprintf(stream, "\",\"pid\":%u,\"tid\":%u,\"s\":\"%s\"",
		is_known ? report_export_pid(report->view, match->thread) : 0,
		is_known ? report->view->threads[match->thread].tid : 0, is_known ? "t" : "g");
	put_us(stream, "ts", match->ts - report->view->first_ns);
	fputc('}', stream);
	return 0;
}

static void put_track_name(struct chrome *chrome, const char *what, uint32_t thread)
{
	const struct report_view *view = chrome->base.report.view;
	struct text_buffer name = { 0 };

	begin_chrome(chrome);
	report_thread_name(&name, view, thread);
	fprintf(chrome->base.stream, "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":\"", what,
		report_export_pid(view, thread), view->threads[thread].tid);
	text_write(chrome->base.stream, name.bytes ? name.bytes : "", TEXT_JSON);
	fputs("\"}}", chrome->base.stream);
	text_fini(&name);
}

static int chrome_finish(struct report *report)
{
	struct chrome *chrome = (struct chrome *)report;

	for (uint32_t i = 1; i < report->view->thread_count; i++) {
		if (report->view->threads[i].is_stranger)
			continue;
		put_track_name(chrome, "thread_name", i);
		if (report->view->threads[i].tid == report_export_pid(report->view, i))
			put_track_name(chrome, "process_name", i);
	}
	if (!chrome->has_begun)
		fputs("{\"traceEvents\":[", chrome->base.stream);
	fputs("]}\n", chrome->base.stream);
	return 0;
}

const struct report_kind report_export_chrome = {
	.name = "chrome",
	.open = chrome_open,
	.slice = chrome_slice,
	.match = chrome_match,
	.finish = chrome_finish,
	.free = chrome_free,
};
