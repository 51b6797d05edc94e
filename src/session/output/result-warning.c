// SPDX-License-Identifier: BSD-2-Clause
/* Writes a machine's warning and the trail that led to it. */

#include "session/output/result-priv.h"

#include "base/text.h"
#include "program/machine.h"
#include "program/query.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { AGO_WIDTH = 16 };

#define NS_PER_MINUTE UINT64_C(60000000000)

static void put_piece_value(FILE *stream, const struct program_operand *operand, const struct program_return *row,
			    bool is_shown, const struct program_match *match)
{
	struct program_value value;
	struct result_room room;

	if (program_eval(operand, row->node, &value))
		putc('?', stream);
	else if (is_shown)
		result_show_value(stream, operand->program, row->meaning, &value,
				  result_owner(operand->program, match, row->node, row->meaning, &room));
	else if (value.kind != PROGRAM_STRING)
		result_put_value(stream, &value);
	else
		fputs(value.text, stream);
}

char *result_warning(const struct program *program, const struct program_match *match, bool is_shown)
{
	const struct program_rule *rule = &program->rules[match->rule];
	const struct program_notice *notice = program_match_notice(program, match);
	const struct program_operand operand = { .program = program, .rule = rule, .slots = match->slots };
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	if (!stream)
		return NULL;
	for (uint32_t i = 0; notice && i < notice->piece_count; i++) {
		const struct program_piece *piece = &program_pieces(program, notice)[i];

		fputs(program_text(program, piece->text), stream);
		if (piece->value != PROGRAM_NONE)
			put_piece_value(stream, &operand, &program_returns(program, rule)[piece->value], is_shown,
					match);
	}
	if (fclose(stream)) {
		free(text);
		return NULL;
	}
	return text;
}

void result_put_warning(FILE *stream, const struct program *program, const struct program_match *match)
{
	char *text = result_warning(program, match, false);

	fputs(",\"warning\":", stream);
	if (text)
		result_put_string(stream, text);
	else
		fputs("null", stream);
	free(text);
}

void result_put_trail(FILE *stream, const struct program *program, const struct program_match *match)
{
	struct program_trail_event events[PROGRAM_TRAIL_MAX];
	uint32_t count = program_trail(program, match, events);

	fputs(",\"trail\":[", stream);
	for (uint32_t i = 0; i < count; i++) {
		fputs(i ? ",{\"event\":" : "{\"event\":", stream);
		result_put_string(stream, events[i].name);
		fputs(",\"from\":", stream);
		result_put_string(stream, events[i].from);
		fputs(",\"to\":", stream);
		result_put_string(stream, events[i].to);
		result_put_place(stream, events[i].ts, events[i].cpu, events[i].pid, events[i].tid);
		putc('}', stream);
	}
	putc(']', stream);
}

void result_print_ago(uint64_t ts, uint64_t warned, char text[RESULT_AGO_BYTES])
{
	static const struct {
		uint64_t below, ns; /* below 0: whatever is left */
		const char *name;
	} units[] = {
		{ 1000000, 1000, "us" },
		{ 1000000000, 1000000, "ms" },
		{ 10 * NS_PER_MINUTE, 1000000000, "s" },
		{ 600 * NS_PER_MINUTE, NS_PER_MINUTE, "min" },
		{ 0, 60 * NS_PER_MINUTE, "h" },
	};
	uint64_t ns = ts < warned ? warned - ts : ts - warned;
	const char *sign = ts < warned ? "-" : ts > warned ? "+" : "";
	size_t unit = 0;

	if (ns < 1000) {
		snprintf(text, RESULT_AGO_BYTES, "%s%" PRIu64 " ns", sign, ns);
		return;
	}
	while (units[unit].below && ns >= units[unit].below)
		unit++;
	snprintf(text, RESULT_AGO_BYTES, "%s%" PRIu64 ".%" PRIu64 " %s", sign, ns / units[unit].ns,
		 ns % units[unit].ns * 10 / units[unit].ns, units[unit].name);
}

static int wider(int width, const char *text)
{
	int length = (int)strlen(text);

	return length > width ? length : width;
}

/* States of an image are called anything that is text. */
static void put_column(FILE *stream, const char *text, int width)
{
	int left = width - text_write(stream, text, TEXT_WORDS);

	fprintf(stream, "%*s", left > 0 ? left : 0, "");
}

void result_write_trail(FILE *stream, const struct program *program, const struct program_match *match)
{
	struct program_trail_event events[PROGRAM_TRAIL_MAX];
	uint32_t count = program_trail(program, match, events);
	int name = 0, from = 0, to = 0;

	for (uint32_t i = 0; i < count; i++) {
		name = wider(name, events[i].name);
		from = wider(from, events[i].from);
		to = wider(to, events[i].to);
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct program_trail_event *event = &events[i];
		char ago[RESULT_AGO_BYTES];

		result_print_ago(event->ts, match->ts, ago);
		fprintf(stream, "    %*s  ", AGO_WIDTH, ago);
		put_column(stream, event->name, name);
		fputs("  ", stream);
		put_column(stream, event->from, from);
		fputs(" -> ", stream);
		put_column(stream, event->to, to);
		result_put_cpu(stream, event->cpu);
		fputs("  ", stream);
		result_put_ids(stream, event->pid, event->tid);
		putc('\n', stream);
	}
}
