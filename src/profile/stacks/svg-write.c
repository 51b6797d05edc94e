// SPDX-License-Identifier: BSD-2-Clause
/*
 * Draws estimated stacks as a flame graph: callers below what they call, as wide as they cost. The file has
 * no program in it and asks nobody for anything; names are text, and what XML forbids is not in them.
 */

#include "profile/stacks/paths.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>

enum { WIDTH = 1200, MARGIN = 10, ROW = 17, HEAD = 58, LETTER_TENTHS = 66, SHADES = 50 };

/* A rectangle. */
struct flame {
	uint32_t function;
	unsigned level;
	double start, cost;
};

struct flames {
	const struct profile *profile;
	struct flame *items;
	size_t count, capacity;
	size_t open[PROFILE_DEPTH_MAX]; /* of the last stack */
	unsigned depth, depth_most;
	double total;
	int failure;
};

static void add_stack(void *context, const uint32_t *functions, unsigned depth, double cost)
{
	struct flames *flames = context;
	unsigned same = 0;

	while (same < depth && same < flames->depth && flames->items[flames->open[same]].function == functions[same])
		same++;
	for (unsigned i = same; i < depth && !flames->failure; i++) {
		flames->failure = alloc_grow(&flames->items, &flames->capacity, flames->count, sizeof *flames->items);
		if (flames->failure)
			break;
		flames->open[i] = flames->count++;
		flames->items[flames->open[i]] = (struct flame){ functions[i], i, flames->total, 0 };
	}
	if (flames->failure)
		return;
	for (unsigned i = 0; i < depth; i++)
		flames->items[flames->open[i]].cost += cost;
	flames->depth = depth;
	flames->depth_most = depth > flames->depth_most ? depth : flames->depth_most;
	flames->total += cost;
}

/* So many characters of the text, the last two being dots where there are more. */
static void put_svg_text(FILE *stream, const char *text, size_t room)
{
	size_t length = 0, shown = 0;
	struct text_piece piece;

	for (const char *at = text; *at && length <= room; at += piece.taken, length++)
		text_escape(at, TEXT_WORDS, &piece);
	for (; *text && (length <= room || shown + 2 < room); text += piece.taken, shown++) {
		char one[TEXT_ESCAPED_BYTES + 1] = { 0 }, memory[2 * TEXT_ESCAPED_BYTES];
		struct text_buffer markup;

		text_escape(text, TEXT_WORDS, &piece);
		memcpy(one, text, piece.taken);
		text_init_fixed(&markup, memory, sizeof memory);
		text_append_markup(&markup, one);
		fwrite(markup.bytes, 1, markup.length, stream);
	}
	fputs(*text ? ".." : "", stream);
}

/* A thousandth of a pixel is exact enough. Never as the locale has it. */
static void put_pixels(FILE *stream, const char *key, double pixels)
{
	uint64_t thousandths = (uint64_t)(pixels * 1000 + 0.5);

	fprintf(stream, " %s=\"%u.%03u\"", key, (unsigned)(thousandths / 1000), (unsigned)(thousandths % 1000));
}

static void put_share(FILE *stream, double share)
{
	unsigned hundredths = (unsigned)(share * 10000 + 0.5);

	fprintf(stream, "%u.%02u %%", hundredths / 100, hundredths % 100);
}

static void put_flame(FILE *stream, const struct flames *flames, const struct flame *flame)
{
	const char *name = profile_name(flames->profile, flame->function);
	const char *object = profile_get_text(flames->profile, flames->profile->functions[flame->function].object);
	uint64_t hash = hash_fold(hash_bytes(HASH_START, name, strlen(name)));
	double scale = (WIDTH - 2 * MARGIN) / flames->total, x = MARGIN + flame->start * scale;
	double width = flame->cost * scale;
	unsigned y = HEAD + (flames->depth_most - 1 - flame->level) * ROW;
	size_t room = (size_t)((width - 4) * 10 > 0 ? (width - 4) * 10 / LETTER_TENTHS : 0);

	fputs("<g><title>", stream);
	put_svg_text(stream, name, SIZE_MAX);
	if (*object) {
		fputs(" [", stream);
		put_svg_text(stream, object, SIZE_MAX);
		fputc(']', stream);
	}
	fputs(", ", stream);
	put_share(stream, flame->cost / flames->total);
	fputs("</title><rect", stream);
	put_pixels(stream, "x", x);
	fprintf(stream, " y=\"%u\"", y);
	put_pixels(stream, "width", width);
	fprintf(stream, " height=\"%d\" fill=\"rgb(%u,%u,%u)\"/>", ROW - 1, 205 + (unsigned)(hash % SHADES),
		(unsigned)(hash / 64 % 4 * SHADES + hash / 256 % SHADES), (unsigned)(hash / 65536 % SHADES));
	if (room >= 3) {
		fputs("<text", stream);
		put_pixels(stream, "x", x + 2);
		fprintf(stream, " y=\"%u\">", y + ROW - 5);
		put_svg_text(stream, name, room);
		fputs("</text>", stream);
	}
	fputs("</g>\n", stream);
}

static void put_svg_head(FILE *stream, const struct flames *flames)
{
	const char *cmd = profile_get_info(flames->profile, "cmd");
	unsigned height = HEAD + flames->depth_most * ROW + MARGIN;

	fprintf(stream,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
		"height=\"%u\" viewBox=\"0 0 %d %u\" font-family=\"monospace\" font-size=\"11\">\n<title>",
		WIDTH, height, WIDTH, height);
	put_svg_text(stream, cmd ? cmd : "Profile", SIZE_MAX);
	fprintf(stream,
		"</title>\n<rect width=\"%d\" height=\"%u\" fill=\"#fffaf0\"/>\n<text x=\"%d\" y=\"22\" "
		"font-size=\"15\">",
		WIDTH, height, MARGIN);
	put_svg_text(stream, cmd ? cmd : "Profile", 120);
	fprintf(stream, "</text>\n<text x=\"%d\" y=\"42\">", MARGIN);
	put_svg_text(stream, profile_get_text(flames->profile, flames->profile->events[0]), 40);
	fputs(", stacks estimated</text>\n", stream);
}

int profile_write_svg(FILE *stream, const struct profile *profile, double least, double *left_out)
{
	struct flames *flames = alloc_zero(1, sizeof *flames);
	int result;

	if (!flames)
		return -ENOMEM;
	flames->profile = profile;
	result = profile_each_stack(profile, least, add_stack, flames, left_out);
	if (!result)
		result = flames->failure;
	if (!result) {
		put_svg_head(stream, flames);
		for (size_t i = 0; i < flames->count; i++)
			put_flame(stream, flames, &flames->items[i]);
		fputs("</svg>\n", stream);
		if (ferror(stream))
			result = errno ? -errno : -EIO;
	}
	alloc_free(flames->items);
	alloc_free(flames);
	return result;
}
