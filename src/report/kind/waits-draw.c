// SPDX-License-Identifier: BSD-2-Clause
/* Draws waits: threads, objects, and between them who waited for what, and who had it last. */

#include "report/kind/waits-priv.h"

#include "base/alloc.h"
#include "report/svg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RED    "#cc0000"
#define GREY   "#888888"
#define HOLDER "#7fa6d0"

/* What is drawn of the graph: first what is in cycles, then what took most time. */
struct drawing {
	const struct waits *waits;
	uint32_t *threads, *objects;             /* those that are drawn, in their order */
	uint32_t *thread_places, *object_places; /* by index: their place there, and 1; 0: not drawn */
	uint32_t thread_count, object_count;
	const struct waits_edge **edges;
	size_t edge_count, left_out;
	uint64_t most_ns;
};

static int by_weight(const void *left, const void *right)
{
	const struct waits_edge *a = *(const struct waits_edge *const *)left;
	const struct waits_edge *b = *(const struct waits_edge *const *)right;

	if (a->is_red != b->is_red)
		return a->is_red ? -1 : 1;
	if (a->sum.ns != b->sum.ns)
		return a->sum.ns > b->sum.ns ? -1 : 1;
	return memcmp(a->key, b->key, sizeof a->key);
}

static void drawing_fini(struct drawing *drawing)
{
	alloc_free(drawing->threads);
	alloc_free(drawing->objects);
	alloc_free(drawing->thread_places);
	alloc_free(drawing->object_places);
	alloc_free(drawing->edges);
}

static bool has_node_room(const struct drawing *drawing, unsigned more)
{
	return drawing->thread_count + drawing->object_count + more <= WAITS_NODES_DRAWN;
}

static void place_drawn(uint32_t index, uint32_t *places, uint32_t *drawn, uint32_t *count)
{
	if (places[index])
		return;
	drawn[(*count)++] = index;
	places[index] = *count;
}

static void choose_edges(struct drawing *drawing)
{
	size_t kept = 0;

	for (size_t i = 0; i < drawing->edge_count; i++) {
		uint32_t thread = (uint32_t)drawing->edges[i]->key[0], object = (uint32_t)drawing->edges[i]->key[1];

		if (!has_node_room(drawing, !drawing->thread_places[thread] + !drawing->object_places[object])) {
			drawing->left_out++;
			continue;
		}
		place_drawn(thread, drawing->thread_places, drawing->threads, &drawing->thread_count);
		place_drawn(object, drawing->object_places, drawing->objects, &drawing->object_count);
		drawing->edges[kept++] = drawing->edges[i];
	}
	drawing->edge_count = kept;
	for (uint32_t i = 0; i < drawing->object_count; i++) {
		uint32_t holder = waits_object(drawing->waits, drawing->objects[i])->last;

		if (holder < drawing->waits->report.view->thread_count && has_node_room(drawing, 1))
			place_drawn(holder, drawing->thread_places, drawing->threads, &drawing->thread_count);
	}
}

static int drawing_init(struct drawing *drawing, const struct waits *waits)
{
	const struct waits_edge *edges = waits->edges.items;

	*drawing = (struct drawing){ .waits = waits };
	drawing->threads = alloc_zero(WAITS_NODES_DRAWN, sizeof *drawing->threads);
	drawing->objects = alloc_zero(WAITS_NODES_DRAWN, sizeof *drawing->objects);
	drawing->thread_places = alloc_zero(waits->report.view->thread_count, sizeof *drawing->thread_places);
	drawing->object_places = alloc_zero(waits->objects.count + 1, sizeof *drawing->object_places);
	drawing->edges = alloc_zero(waits->edges.count + 1, sizeof *drawing->edges);
	if (!drawing->threads || !drawing->objects || !drawing->thread_places || !drawing->object_places ||
	    !drawing->edges)
		return -ENOMEM;
	for (size_t i = 0; i < waits->edges.count; i++) {
		if (!edges[i].sum.count && !edges[i].is_red)
			continue;
		drawing->edges[drawing->edge_count++] = &edges[i];
		if (edges[i].sum.ns > drawing->most_ns)
			drawing->most_ns = edges[i].sum.ns;
	}
	qsort(drawing->edges, drawing->edge_count, sizeof *drawing->edges, by_weight);
	choose_edges(drawing);
	return 0;
}

/* Who had the object, as far as it is drawn; else REPORT_NONE. */
static uint32_t drawn_holder_of(const struct drawing *drawing, const struct waits_object *object)
{
	uint32_t holder = object->red_holder != REPORT_NONE ? object->red_holder : object->last;

	return holder < drawing->waits->report.view->thread_count && drawing->thread_places[holder] ? holder
												    : REPORT_NONE;
}

static void name_thread(struct text_buffer *text, const struct report_view *view, uint32_t thread)
{
	text->length = 0;
	report_thread_name(text, view, thread);
}

static void put_object_name(struct text_buffer *text, const struct waits *waits, uint32_t object)
{
	text->length = 0;
	waits_object_name(text, waits, object);
	if (!waits->report.view->is_redacted)
		text_printf(text, " 0x%llx", (unsigned long long)waits_object(waits, object)->key[1]);
}

static void put_drawing_rest(char *text, size_t bytes, const struct drawing *drawing)
{
	snprintf(text, bytes, "%zu more waits are not drawn: the limit is %d threads and objects", drawing->left_out,
		 WAITS_NODES_DRAWN);
}

static void graph_nodes(const struct drawing *drawing, FILE *stream, struct text_buffer *text)
{
	const struct waits *waits = drawing->waits;

	for (uint32_t i = 0; i < drawing->thread_count; i++) {
		name_thread(text, waits->report.view, drawing->threads[i]);
		fprintf(stream, "  t%u [shape=box, label=", drawing->threads[i]);
		report_dot_text(stream, text->bytes ? text->bytes : "");
		fputs("];\n", stream);
	}
	for (uint32_t i = 0; i < drawing->object_count; i++) {
		put_object_name(text, waits, drawing->objects[i]);
		fprintf(stream, "  o%u [shape=diamond%s, label=", drawing->objects[i],
			waits_object(waits, drawing->objects[i])->is_red ? ", color=red" : "");
		report_dot_text(stream, text->bytes ? text->bytes : "");
		fputs("];\n", stream);
	}
}

static double weight_of(const struct drawing *drawing, const struct waits_edge *edge)
{
	return drawing->most_ns ? (double)edge->sum.ns / (double)drawing->most_ns : 0;
}

int waits_graph(struct report *report, FILE *stream)
{
	struct drawing drawing;
	struct text_buffer text = { 0 };
	int result = drawing_init(&drawing, (struct waits *)report);
	char rest[96];

	if (result)
		goto out;
	fputs("digraph waits {\n  rankdir=LR;\n", stream);
	graph_nodes(&drawing, stream, &text);
	for (size_t i = 0; i < drawing.edge_count; i++)
		fprintf(stream, "  t%u -> o%u [penwidth=%.1f%s];\n", (unsigned)drawing.edges[i]->key[0],
			(unsigned)drawing.edges[i]->key[1], 1 + 4 * weight_of(&drawing, drawing.edges[i]),
			drawing.edges[i]->is_red ? ", color=red" : "");
	for (uint32_t i = 0; i < drawing.object_count; i++) {
		const struct waits_object *object = waits_object(drawing.waits, drawing.objects[i]);
		uint32_t holder = drawn_holder_of(&drawing, object);

		if (holder != REPORT_NONE)
			fprintf(stream, "  o%u -> t%u [style=dashed%s];\n", drawing.objects[i], holder,
				holder == object->red_holder ? ", color=red" : "");
	}
	if (drawing.left_out) {
		put_drawing_rest(rest, sizeof rest, &drawing);
		fprintf(stream, "  rest [shape=plaintext, label=\"%s\"];\n", rest);
	}
	fputs("}\n", stream);
	result = text.failure ? -ENOMEM : 0;
out:
	text_fini(&text);
	drawing_fini(&drawing);
	return result;
}

enum { WIDTH = 900, BOX = 300, MARGIN = 10, STEP = 2 * SVG_ROW, TOP = 2 * SVG_ROW, DIAMOND = 12 };

static double middle_of(uint32_t place)
{
	return TOP + (double)(place - 1) * STEP + STEP / 2.0;
}

/* From the right of a thread to the left of an object. */
static void draw_edge(const struct drawing *drawing, FILE *stream, uint32_t thread, uint32_t object, const char *colour)
{
	double from = middle_of(drawing->thread_places[thread]), to = middle_of(drawing->object_places[object]);

	report_svg_line(stream,
			(struct report_box){ MARGIN + BOX, from, WIDTH - 2 * BOX - MARGIN - DIAMOND, to - from },
			colour);
}

static void draw_nodes(const struct drawing *drawing, FILE *stream, struct text_buffer *text)
{
	const unsigned letters = BOX / SVG_LETTER - 2;

	for (uint32_t i = 0; i < drawing->thread_count; i++) {
		double y = middle_of(i + 1);

		name_thread(text, drawing->waits->report.view, drawing->threads[i]);
		report_svg_rect(stream, (struct report_box){ MARGIN, y - SVG_ROW / 2.0, BOX, SVG_ROW }, "#dfe8f2",
				NULL);
		report_svg_text(stream, (struct report_label){ .x = MARGIN + 5, .y = y + 4, .most = letters },
				text->bytes ? text->bytes : "");
	}
	for (uint32_t i = 0; i < drawing->object_count; i++) {
		double x = WIDTH - BOX, y = middle_of(i + 1);
		bool is_red = waits_object(drawing->waits, drawing->objects[i])->is_red;

		put_object_name(text, drawing->waits, drawing->objects[i]);
		fprintf(stream, "<polygon points=\"%.0f,%.0f %.0f,%.0f %.0f,%.0f %.0f,%.0f\" fill=\"%s\"/>\n",
			x - DIAMOND, y, x, y - DIAMOND, x + DIAMOND, y, x, y + DIAMOND, is_red ? RED : GREY);
		report_svg_text(stream, (struct report_label){ .x = x + DIAMOND + 5, .y = y + 4, .most = letters },
				text->bytes ? text->bytes : "");
	}
}

static void draw_edges(const struct drawing *drawing, FILE *stream, bool red)
{
	for (uint32_t i = 0; i < drawing->object_count; i++) {
		const struct waits_object *object = waits_object(drawing->waits, drawing->objects[i]);
		uint32_t holder = drawn_holder_of(drawing, object);

		if (holder != REPORT_NONE && (holder == object->red_holder) == red)
			draw_edge(drawing, stream, holder, drawing->objects[i], red ? RED : HOLDER);
	}
	for (size_t i = 0; i < drawing->edge_count; i++) {
		const struct waits_edge *edge = drawing->edges[i];

		if (edge->is_red == red)
			draw_edge(drawing, stream, (uint32_t)edge->key[0], (uint32_t)edge->key[1], red ? RED : GREY);
	}
}

int waits_draw(struct report *report, FILE *stream)
{
	struct drawing drawing;
	struct text_buffer text = { 0 };
	int result = drawing_init(&drawing, (struct waits *)report);
	uint32_t rows = drawing.thread_count > drawing.object_count ? drawing.thread_count : drawing.object_count;
	double height = TOP + (double)rows * STEP + 2 * SVG_ROW;
	char rest[96];

	if (result)
		goto out;
	report_svg_begin(stream, WIDTH, height, "Waits: which threads wait for which");
	report_svg_text(stream, (struct report_label){ .x = MARGIN, .y = SVG_ROW },
			rows ? "Grey: a thread waited for an object; blue: the object's last holder; red: threads that "
			       "wait for each other in a cycle"
			     : "As far as the trace shows, no thread waited for another one.");
	draw_edges(&drawing, stream, false);
	draw_edges(&drawing, stream, true); /* over the others */
	draw_nodes(&drawing, stream, &text);
	if (drawing.left_out) {
		put_drawing_rest(rest, sizeof rest, &drawing);
		report_svg_text(stream, (struct report_label){ .x = MARGIN, .y = height - 5 }, rest);
	}
	report_svg_end(stream);
	result = text.failure ? -ENOMEM : 0;
out:
	text_fini(&text);
	drawing_fini(&drawing);
	return result;
}
