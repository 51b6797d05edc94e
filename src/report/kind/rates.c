// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rates: of what begins with one event and ends with another of the same thread - requests, calls -, how many begin and
 * are under way over time, and how their time is split into running and waiting.
 */

#include "report/kind/kinds.h"

#include "base/alloc.h"
#include "report/distribution.h"
#include "report/svg.h"

#include <errno.h>
#include <string.h>

enum { RATE_SPANS = 40, RATE_NAME_BYTES = 64 };

struct span {
	uint64_t begun, ended, ran, waited;
	uint64_t open_ns, most; /* time times those under way; the most of them at a time */
};

enum side { NOT_ASKED, NEITHER, BEGIN, END };

struct open {
	uint64_t begin, ran; /* begin 0: none is under way */
};

struct rates {
	struct report report;
	char begin[RATE_NAME_BYTES], end[RATE_NAME_BYTES];
	uint8_t *sides; /* by type */
	size_t side_capacity;
	struct open *opens; /* by thread */
	size_t open_capacity;
	struct span spans[RATE_SPANS];
	uint64_t span_ns, under_way, last_ns; /* of what is under way, since when the number is the same */
	uint64_t again, halves, unended;      /* begun while it was; ended without a begin; of threads that ended */
	uint64_t ran, waited;
	struct report_distribution took;
};

static int rates_open(const struct report_view *view, struct report **made)
{
	const char *pair = view->pair ? view->pair : "sys_enter,sys_exit", *comma = strchr(pair, ',');
	struct rates *rates = alloc_zero(1, sizeof *rates);

	if (!rates)
		return -ENOMEM;
	snprintf(rates->begin, sizeof rates->begin, "%.*s", (int)(comma ? comma - pair : 0), pair);
	snprintf(rates->end, sizeof rates->end, "%s", comma ? comma + 1 : "");
	rates->span_ns = 1;
	*made = &rates->report;
	return 0;
}

static void rates_free(struct report *report)
{
	struct rates *rates = (struct rates *)report;

	alloc_free(rates->sides);
	alloc_free(rates->opens);
	alloc_free(rates);
}

static int side_of(struct rates *rates, const struct event *event, enum side *side)
{
	uint32_t type = event_type_of(event->record);

	if (alloc_grow(&rates->sides, &rates->side_capacity, type, sizeof *rates->sides))
		return -ENOMEM;
	if (rates->sides[type] == NOT_ASKED)
		rates->sides[type] = strcmp(event->type->name, rates->begin) == 0 ? BEGIN
				     : strcmp(event->type->name, rates->end) == 0 ? END
										  : NEITHER;
	*side = rates->sides[type];
	return 0;
}

static void add_span(struct span *span, const struct span *other)
{
	span->begun += other->begun;
	span->ended += other->ended;
	span->ran += other->ran;
	span->waited += other->waited;
	span->open_ns += other->open_ns;
	span->most = other->most > span->most ? other->most : span->most;
}

/* Spans get twice as long until the time fits. */
static void widen_spans(struct rates *rates, uint64_t ns)
{
	while (ns / rates->span_ns >= RATE_SPANS) {
		for (unsigned i = 0; i < RATE_SPANS / 2; i++) {
			rates->spans[i] = rates->spans[2 * i];
			add_span(&rates->spans[i], &rates->spans[2 * i + 1]);
		}
		memset(&rates->spans[RATE_SPANS / 2], 0, RATE_SPANS / 2 * sizeof *rates->spans);
		rates->span_ns *= 2;
	}
}

/* As many were under way until now. */
static struct span *pass_time(struct rates *rates, uint64_t ns)
{
	widen_spans(rates, ns);
	for (uint64_t at = rates->last_ns; at < ns;) {
		struct span *span = &rates->spans[at / rates->span_ns];
		uint64_t until = (at / rates->span_ns + 1) * rates->span_ns;

		until = until < ns ? until : ns;
		span->open_ns += rates->under_way * (until - at);
		span->most = rates->under_way > span->most ? rates->under_way : span->most;
		at = until;
	}
	rates->last_ns = ns > rates->last_ns ? ns : rates->last_ns;
	return &rates->spans[ns / rates->span_ns];
}

static void on_begin(struct rates *rates, struct open *open, const struct report_event *event, struct span *span)
{
	if (open->begin) {
		rates->again++;
		rates->under_way--;
	}
	*open = (struct open){ event->event->record->ts, report_ran(rates->report.view, event->thread) };
	rates->under_way++;
	span->begun++;
	span->most = rates->under_way > span->most ? rates->under_way : span->most;
}

static void on_end(struct rates *rates, struct open *open, const struct report_event *event, struct span *span)
{
	uint64_t took = event->event->record->ts - open->begin;
	uint64_t ran = report_ran(rates->report.view, event->thread) - open->ran;

	if (!open->begin || event->event->record->ts < open->begin) {
		rates->halves++;
		return;
	}
	ran = ran < took ? ran : took;
	report_distribution_add(&rates->took, took);
	rates->ran += ran;
	rates->waited += took - ran;
	span->ended++;
	span->ran += ran;
	span->waited += took - ran;
	rates->under_way--;
	open->begin = 0;
}

/* What a thread that ends was in never ends: exit_group does not return. */
static void on_death(struct rates *rates, const struct report_event *event)
{
	struct open *open = event->thread < rates->open_capacity ? &rates->opens[event->thread] : NULL;

	if (!open || !open->begin)
		return;
	pass_time(rates, event->event->record->ts - rates->report.view->first_ns);
	open->begin = 0;
	rates->under_way--;
	rates->unended++;
}

static int rates_event(struct report *report, const struct report_event *event)
{
	struct rates *rates = (struct rates *)report;
	uint64_t ts = event->event->record->ts;
	struct span *span;
	enum side side;

	if (side_of(rates, event->event, &side))
		return -ENOMEM;
	if (side != END && event->layout->role == ROLE_EXIT && event->thread != REPORT_NONE &&
	    ts >= report->view->first_ns)
		on_death(rates, event);
	if (side == NEITHER || event->thread == REPORT_NONE || ts < report->view->first_ns)
		return 0;
	if (alloc_grow(&rates->opens, &rates->open_capacity, event->thread, sizeof *rates->opens))
		return -ENOMEM;
	span = pass_time(rates, ts - report->view->first_ns);
	if (side == BEGIN)
		on_begin(rates, &rates->opens[event->thread], event, span);
	else
		on_end(rates, &rates->opens[event->thread], event, span);
	return 0;
}

/* Ends may be missing. */
static int rates_loss(struct report *report, const struct report_loss *loss)
{
	struct rates *rates = (struct rates *)report;

	if (loss->begin > report->view->first_ns)
		pass_time(rates, loss->begin - report->view->first_ns);
	for (size_t i = 0; i < rates->open_capacity; i++)
		rates->opens[i].begin = 0;
	rates->under_way = 0;
	return 0;
}

static int rates_finish(struct report *report)
{
	pass_time((struct rates *)report, report->view->last_ns - report->view->first_ns);
	return 0;
}

static double span_length(const struct rates *rates, unsigned span)
{
	const struct report_view *view = rates->report.view;
	uint64_t begin = span * rates->span_ns, length = view->last_ns - view->first_ns, end = begin + rates->span_ns;

	return (double)((end < length ? end : length) - begin);
}

static unsigned count_spans(const struct rates *rates)
{
	uint64_t length = rates->report.view->last_ns - rates->report.view->first_ns;

	return (unsigned)((length + rates->span_ns - 1) / rates->span_ns);
}

static void write_rate_totals(const struct rates *rates, struct report_tables *tables)
{
	static const struct report_column columns[] = { { "running_ns", "running", CELL_DURATION, false },
							{ "waiting_ns", "waiting", CELL_DURATION, false },
							{ "under_way", "under way", CELL_COUNT, false },
							REPORT_DISTRIBUTION_COLUMNS };
	struct report_cell cells[3 + DISTRIBUTION_CELLS] = { report_cell_number(rates->ran),
							     report_cell_number(rates->waited),
							     report_cell_number(rates->under_way) };

	report_table(tables, "totals", "", columns, 3 + DISTRIBUTION_CELLS);
	report_distribution_cells(&rates->took, cells + 3);
	report_row(tables, cells, 0);
	report_table_end(tables);
}

static void rates_write(struct report *report, struct report_tables *tables)
{
	static const struct report_column columns[] = {
		{ "time_ns", "from s", CELL_TIME, false },         { "begun", "begun", CELL_COUNT, false },
		{ "ended", "ended", CELL_COUNT, false },           { "rate", "begun/s", CELL_RATE, false },
		{ "mean", "under way", CELL_REAL, false },         { "most", "at most", CELL_COUNT, false },
		{ "running_ns", "running", CELL_DURATION, false }, { "waiting_ns", "waiting", CELL_DURATION, false },
	};
	const struct rates *rates = (struct rates *)report;

	report_note(tables, "From %s to the next %s of the same thread.", rates->begin, rates->end);
	if (!rates->took.count) {
		report_note(tables, "The trace has no complete pair: choose other events with --pair BEGIN,END.");
		return;
	}
	write_rate_totals(rates, tables);
	report_table(tables, "rates", "Over time", columns, 8);
	for (unsigned i = 0; i < count_spans(rates); i++) {
		const struct span *span = &rates->spans[i];
		double length = span_length(rates, i);

		report_row(tables,
			   (struct report_cell[]){ report_cell_number(i * rates->span_ns),
						   report_cell_number(span->begun), report_cell_number(span->ended),
						   report_cell_real((double)span->begun * 1e9 / length),
						   report_cell_real((double)span->open_ns / length),
						   report_cell_number(span->most), report_cell_number(span->ran),
						   report_cell_number(span->waited) },
			   0);
	}
	report_table_end(tables);
	if (rates->again || rates->halves)
		report_note(tables,
			    "%llu began while another one of the same thread was still open, and %llu ended without a "
			    "beginning.",
			    (unsigned long long)rates->again, (unsigned long long)rates->halves);
}

/* One curve over time: its title, a line along its values, and the greatest. */
static void draw_curve(const struct rates *rates, FILE *stream, struct report_box box, const char *title)
{
	unsigned count = count_spans(rates);
	bool is_rate = strcmp(title, "begun/s") == 0;
	double most = 0;
	char text[96];

	for (unsigned pass = 0; pass < 2; pass++) {
		if (pass)
			fputs("<polyline fill=\"none\" stroke=\"#4a78b0\" points=\"", stream);
		for (unsigned i = 0; i < count; i++) {
			const struct span *span = &rates->spans[i];
			double value = is_rate ? (double)span->begun * 1e9 : (double)span->open_ns;

			value /= span_length(rates, i);
			most = value > most ? value : most;
			if (pass)
				fprintf(stream, "%.1f,%.1f ", box.x + box.width * (i + 0.5) / count,
					box.y + box.height * (1 - value / (most > 0 ? most : 1)));
		}
	}
	fputs("\"/>\n", stream);
	snprintf(text, sizeof text, "%s, at most %.4g", title, most);
	report_svg_text(stream, (struct report_label){ .x = 4, .y = box.y + 12 }, text);
}

static int rates_draw(struct report *report, FILE *stream)
{
	enum { WIDTH = 1000, LEFT = 200, HEIGHT = 140, GAP = 20 };
	const struct rates *rates = (struct rates *)report;
	struct report_box box = { LEFT, SVG_ROW, WIDTH - LEFT - GAP, 2 * HEIGHT + GAP };

	report_svg_begin(stream, WIDTH, 2 * HEIGHT + 3 * GAP, "Rate and concurrency");
	report_svg_times(stream, box, report->view->last_ns - report->view->first_ns);
	box.height = HEIGHT;
	draw_curve(rates, stream, box, "begun/s");
	box.y += HEIGHT + GAP;
	draw_curve(rates, stream, box, "under way");
	report_svg_end(stream);
	return 0;
}

const struct report_kind report_rates = {
	.name = "rates",
	.title = "Rates",
	.question = "how many begin and are open over time, and whether they run or wait",
	.needs =
		(const struct report_need[]){
			{ ROLE_SWITCH, "Which threads ran is unknown, so all time counts as waiting" }, { 0 } },
	.open = rates_open,
	.event = rates_event,
	.loss = rates_loss,
	.finish = rates_finish,
	.write = rates_write,
	.draw = rates_draw,
	.free = rates_free,
	.roles = REPORT_ALL,
};
