// SPDX-License-Identifier: BSD-2-Clause
/* Writes pictures. */

#include "report/svg.h"

#include "report/table.h"

#include <inttypes.h>
#include <string.h>

void report_svg_begin(FILE *stream, double width, double height, const char *title)
{
	fprintf(stream,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" "
		"font-family=\"sans-serif\" font-size=\"12\">\n<title>%s</title>\n"
		"<rect width=\"%.0f\" height=\"%.0f\" fill=\"#ffffff\"/>\n",
		width, height, width, height, title, width, height);
}

void report_svg_end(FILE *stream)
{
	fputs("</svg>\n", stream);
}

static void put_markup(FILE *stream, const char *text)
{
	struct text_buffer markup = { 0 };

	text_append_markup(&markup, text);
	fputs(markup.bytes ? markup.bytes : "", stream);
	text_fini(&markup);
}

void report_svg_rect(FILE *stream, struct report_box box, const char *colour, const char *hint)
{
	fprintf(stream, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"", box.x, box.y,
		box.width, box.height, colour);
	if (hint) {
		fputs("><title>", stream);
		put_markup(stream, hint);
		fputs("</title></rect>\n", stream);
	} else {
		fputs("/>\n", stream);
	}
}

void report_svg_line(FILE *stream, struct report_box box, const char *colour)
{
	fprintf(stream, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"%s\"/>\n", box.x, box.y,
		box.x + box.width, box.y + box.height, colour);
}

/* Where a text is cut: after so many letters, or at its end. */
static size_t cut_of(const char *text, unsigned most)
{
	struct text_piece piece;
	const char *at = text;

	for (unsigned letters = 0; *at && letters < most; letters++, at += piece.taken)
		text_escape(at, TEXT_WORDS, &piece);
	return (size_t)(at - text);
}

void report_svg_text(FILE *stream, struct report_label label, const char *text)
{
	struct text_buffer shown = { 0 };
	size_t cut = label.most ? cut_of(text, label.most) : strlen(text);

	if (text[cut])
		cut = cut_of(text, label.most > 1 ? label.most - 1 : 1);
	text_append_bytes(&shown, text, cut);
	fprintf(stream, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\">", label.x, label.y,
		label.anchor ? label.anchor : "start");
	put_markup(stream, shown.bytes ? shown.bytes : "");
	fputs(text[cut] ? "\u2026</text>\n" : "</text>\n", stream);
	text_fini(&shown);
}

void report_svg_thread(FILE *stream, struct report_label label, const struct report_view *view, uint32_t thread)
{
	struct text_buffer name = { 0 };

	report_thread_name(&name, view, thread);
	report_svg_text(stream, label, name.bytes ? name.bytes : "");
	text_fini(&name);
}

void report_svg_times(FILE *stream, struct report_box box, uint64_t length)
{
	static const unsigned steps[] = { 1, 2, 5 };
	uint64_t unit = 1, step = 1;

	for (unsigned i = 0; length / step > 8; step = unit * steps[i]) {
		i = (i + 1) % 3;
		unit *= i ? 1 : 10;
	}
	for (uint64_t at = 0; at <= length; at += step) {
		double place = box.x + (length ? box.width * (double)at / (double)length : 0);
		char text[32];

		snprintf(text, sizeof text, "%.9g s", (double)at / 1e9);
		report_svg_line(stream, (struct report_box){ place, box.y, 0, box.height }, "#dddddd");
		report_svg_text(stream, (struct report_label){ .x = place, .y = box.y - 4, .anchor = "middle" }, text);
	}
}

void report_dot_text(FILE *stream, const char *text)
{
	struct text_piece piece;

	fputc('"', stream);
	for (; *text; text += piece.taken) {
		text_escape(text, TEXT_WORDS, &piece);
		for (size_t i = 0; i < piece.length; i++) {
			if (piece.bytes[i] == '"' || piece.bytes[i] == '\\')
				fputc('\\', stream);
			fputc(piece.bytes[i], stream);
		}
	}
	fputc('"', stream);
}
