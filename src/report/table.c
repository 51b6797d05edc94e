// SPDX-License-Identifier: BSD-2-Clause
/* Writes reports in order, and what a trace lacks for them. */

#include "report/table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

void report_note(struct report_tables *tables, const char *format, ...)
{
	struct text_buffer text = { 0 };
	va_list arguments;
	char *bytes;

	va_start(arguments, format);
	if (vasprintf(&bytes, format, arguments) < 0)
		bytes = NULL;
	va_end(arguments);
	text_append_as(&text, bytes ? bytes : "", TEXT_WORDS);
	if (!bytes || text.failure)
		tables->failure = -ENOMEM;
	else
		tables->form->note(tables, text.bytes ? text.bytes : "");
	text_fini(&text);
	free(bytes);
}

void report_note_left_out(struct report_tables *tables, uint64_t count)
{
	if (count)
		report_note(tables, "%llu counts are omitted from these tables, which are limited in rows.",
			    (unsigned long long)count);
}

void report_table(struct report_tables *tables, const char *name, const char *title,
		  const struct report_column *columns, unsigned count)
{
	tables->columns = columns;
	tables->column_count = count;
	tables->form->table(tables, name, title);
}

void report_row(struct report_tables *tables, const struct report_cell *cells, unsigned depth)
{
	if (!tables->failure)
		tables->form->row(tables, cells, depth);
}

void report_table_end(struct report_tables *tables)
{
	tables->form->table_end(tables);
}

/* A thread that has the name of the one that made it is told from it by its start function. */
static const char *known_thread_name(const struct report_view *view, const struct report_thread *known)
{
	if (known->function && strncmp(known->comm, view->threads[known->parent].comm, EVENT_COMM_BYTES) == 0)
		return report_name(view, known->function);
	return *known->comm ? known->comm : "?";
}

void report_thread_name(struct text_buffer *text, const struct report_view *view, uint32_t thread)
{
	const struct report_thread *known;

	if (thread == REPORT_INTERRUPT) {
		text_append(text, "(interrupt)");
		return;
	}
	if (thread == REPORT_TIMER) {
		text_append(text, "(timer)");
		return;
	}
	if (thread >= view->thread_count)
		return;
	known = &view->threads[thread];
	if (thread == 0)
		text_append(text, "(idle)");
	else if (view->is_redacted)
		text_printf(text, "thread %u", thread);
	else
		text_printf(text, "%s %u", known_thread_name(view, known), known->tid);
}

void report_note_functions(struct report_tables *tables)
{
	const struct report_view *view = tables->view;
	uint64_t unknown = 0;

	for (uint32_t i = 1; i < view->thread_count && !view->is_redacted; i++) {
		const struct report_thread *thread = &view->threads[i];

		unknown += thread->is_born && thread->pid && thread->pid != thread->tid && !thread->is_kernel &&
			   !thread->function;
	}
	if (unknown && view->seen[ROLE_THREAD_MADE].held)
		report_note(tables,
			    "The start functions of %llu threads are unknown: the program has no symbols, was changed "
			    "since or cannot be read, the function is in a library, or the thread was not made by "
			    "pthread_create of a shared glibc.",
			    (unsigned long long)unknown);
	else if (unknown)
		report_note(tables,
			    "The start functions of threads are unknown: the trace has no %s (use record "
			    "--for-report).",
			    report_role_event(ROLE_THREAD_MADE));
}

static void note_lacks(struct report_tables *tables, const struct report_kind *kind)
{
	for (const struct report_need *need = kind->needs; need && need->without; need++) {
		const struct report_seen *seen = &tables->view->seen[need->role];

		if (seen->count)
			continue;
		if (seen->held)
			report_note(tables, "No %s came.", report_role_event(need->role));
		else
			report_note(tables, "%s: the trace has no %s (use record --for-report).", need->without,
				    report_role_event(need->role));
	}
}

int report_write(struct report_tables *tables, struct report *const *reports, size_t count)
{
	int result;

	tables->reports = reports;
	tables->report_count = count;
	result = tables->form->open ? tables->form->open(tables) : 0;

	for (size_t i = 0; i < count && !result && !tables->failure; i++) {
		if (!reports[i]->kind->write)
			continue;
		tables->form->section(tables, reports[i]->kind);
		note_lacks(tables, reports[i]->kind);
		reports[i]->kind->write(reports[i], tables);
		if (tables->form->picture && reports[i]->kind->draw)
			tables->form->picture(tables, reports[i]);
		if (tables->form->section_end)
			tables->form->section_end(tables);
	}
	if (tables->form->close && !result)
		result = tables->form->close(tables);
	if (tables->failure)
		return tables->failure;
	if (!result && (fflush(tables->stream) || ferror(tables->stream)))
		result = errno ? -errno : -EIO;
	return result;
}
