// SPDX-License-Identifier: BSD-2-Clause
/* Formats cells. */

#include "report/cells.h"

#include "meaning/meaning.h"

#include <inttypes.h>

bool report_cell_is_text(enum report_cell_kind kind)
{
	return kind == CELL_TEXT || kind == CELL_STRIP || kind == CELL_THREAD;
}

bool report_cell_is_right(enum report_cell_kind kind)
{
	return !report_cell_is_text(kind) && kind != CELL_BAR;
}

static void show_bytes(struct text_buffer *text, uint64_t bytes)
{
	meaning_show(text, meaning_find("bytes"), (struct meaning_number){ bytes, false });
}

void report_cell_show(struct text_buffer *text, const struct report_view *view, enum report_cell_kind kind,
		      const struct report_cell *cell, unsigned bar)
{
	struct text_buffer name = { 0 };

	if (cell->is_none) {
		text_append(text, kind == CELL_BAR || kind == CELL_STRIP ? "" : "-");
		return;
	}
	switch (kind) {
	case CELL_TEXT:
		text_append_as(text, cell->text, TEXT_WORDS);
		break;
	case CELL_STRIP:
		text_printf(text, "|%s|", cell->text);
		break;
	case CELL_COUNT:
		text_printf(text, "%" PRIu64, cell->number);
		break;
	case CELL_TIME:
		text_printf(text, "%.6f", (double)cell->number / 1e9);
		break;
	case CELL_DURATION:
		meaning_show(text, &meaning_duration, (struct meaning_number){ cell->number, false });
		break;
	case CELL_SHARE:
		text_printf(text, "%.1f %%", cell->real * 100);
		break;
	case CELL_RATE:
	case CELL_REAL:
		text_printf(text, cell->real >= 100 ? "%.0f" : "%.3g", cell->real);
		break;
	case CELL_BYTES:
		show_bytes(text, cell->number);
		break;
	case CELL_BAR:
		for (unsigned i = 0; i < bar && (double)i + 0.5 <= cell->real * bar; i++)
			text_append(text, "#");
		break;
	case CELL_THREAD:
		report_thread_name(&name, view, (uint32_t)cell->number);
		text_append_as(text, name.bytes ? name.bytes : "", TEXT_WORDS);
		text_fini(&name);
		break;
	case CELL_PRIO:
		meaning_show(text, meaning_find("prio"), (struct meaning_number){ cell->number, false });
		break;
	}
}

void report_cell_plain(struct text_buffer *text, const struct report_view *view, enum report_cell_kind kind,
		       const struct report_cell *cell)
{
	if (cell->is_none)
		return;
	switch (kind) {
	case CELL_TEXT:
	case CELL_STRIP:
		text_append(text, cell->text);
		break;
	case CELL_THREAD:
		report_thread_name(text, view, (uint32_t)cell->number);
		break;
	case CELL_SHARE:
	case CELL_BAR:
	case CELL_RATE:
	case CELL_REAL:
		text_printf(text, "%.9g", cell->real);
		break;
	default:
		text_printf(text, "%" PRIu64, cell->number);
	}
}
