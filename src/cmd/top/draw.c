// SPDX-License-Identifier: BSD-2-Clause
/* Draws the screen: what fits, in the order of what matters; 80 columns hold everything. */

#include "cmd/top/top.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

enum { RULES_SHARE = 3, LINE_BYTES = 512 };

/* Appends string in exactly width columns (one character each), cut or filled up; what a terminal obeys is escaped. */
static void put_padded_cell(struct text_buffer *text, const char *string, unsigned width)
{
	char bytes[LINE_BYTES];
	struct text_buffer shown;
	unsigned column = 0;

	text_init_fixed(&shown, bytes, sizeof bytes);
	text_append_as(&shown, string, TEXT_WORDS);
	for (size_t at = 0; at < shown.length && column < width; column++) {
		size_t length = 1;

		while (at + length < shown.length && ((unsigned char)bytes[at + length] & 0xc0) == 0x80)
			length++;
		text_append_bytes(text, bytes + at, length);
		at += length;
	}
	for (; column < width; column++)
		text_append(text, " ");
}

/* Lines are made whole and cut to the terminal's columns, counted in characters. */
static void put_cut_line(struct text_buffer *text, const struct top_room *room, const struct text_buffer *line)
{
	unsigned column = 0;
	size_t at = 0;

	for (; at < line->length; at++) {
		column += ((unsigned char)line->bytes[at] & 0xc0) != 0x80;
		if (column > room->columns)
			break;
	}
	while (at && line->bytes[at - 1] == ' ')
		at--;
	text_append_bytes(text, line->bytes, at);
	text_append(text, "\n");
}

static void put_top_head(const struct top *top, const struct top_room *room, struct text_buffer *text)
{
	static const char *const sorts[] = { "running", "ready", "blocked", "switches", "pid" };
	char bytes[LINE_BYTES], clock[16] = "";
	struct text_buffer line;
	time_t now = time(NULL);
	double matches = 0;
	uint64_t lost = top->lost;
	struct tm parts;

	for (size_t i = 0; i < top->rule_count; i++) {
		matches += top->rules[i].matches_per_s;
		lost += top->rules[i].lost;
	}
	if (localtime_r(&now, &parts))
		strftime(clock, sizeof clock, "%H:%M:%S", &parts);
	text_init_fixed(&line, bytes, sizeof bytes);
	text_printf(&line, "asterism top %s  %.1f matches/s  %" PRIu64 " lost", clock, matches, lost);
	if (top->missed)
		text_printf(&line, "  %" PRIu64 " times not counted", top->missed);
	text_printf(&line, "  by %s%s", sorts[top->sort], top->is_paused ? "  PAUSED" : "");
	if (top->asks_filter || top->filter[0]) {
		text_append(&line, "  filter: ");
		text_append_as(&line, top->filter, TEXT_WORDS);
		text_append(&line, top->asks_filter ? "_" : "");
	}
	put_cut_line(text, room, &line);
}

static void put_top_rule(const struct top_rule *rule, const struct top_room *room, struct text_buffer *text)
{
	char bytes[LINE_BYTES];
	struct text_buffer line;

	text_init_fixed(&line, bytes, sizeof bytes);
	put_padded_cell(&line, rule->name, 20);
	text_printf(&line, " %-6.6s %8.1f %9" PRIu64 " %8.1f %6" PRIu64, rule->place, rule->matches_per_s,
		    rule->matches, rule->opened_per_s, rule->peak);
	if (rule->is_measured && rule->is_first)
		text_printf(&line, " %6.2f", rule->cpu_percent);
	else
		text_printf(&line, " %6s", rule->is_measured ? "\"" : "-");
	text_printf(&line, " %5" PRIu64 "  ", rule->lost);
	text_append_as(&line, rule->key, TEXT_WORDS);
	put_cut_line(text, room, &line);
}

static void put_text_in_room(const char *string, const struct top_room *room, struct text_buffer *text)
{
	char bytes[LINE_BYTES];
	struct text_buffer line;

	text_init_fixed(&line, bytes, sizeof bytes);
	text_append(&line, string);
	put_cut_line(text, room, &line);
}

/* How many lines are left, with one for the keys. */
static size_t lines_left(const struct text_buffer *text, const struct top_room *room)
{
	size_t lines = 1;

	if (!room->rows)
		return SIZE_MAX;
	for (size_t i = 0; i < text->length; i++)
		lines += text->bytes[i] == '\n';
	return lines < room->rows ? room->rows - lines : 0;
}

static void put_rules(const struct top *top, const struct top_room *room, struct text_buffer *text)
{
	size_t shown = top->rule_count;
	char more[64];

	if (!shown)
		return;
	put_text_in_room("RULE                 PLACE   MATCH/S   MATCHES OPENED/S   PEAK   CPU%  LOST  MOST OF", room,
			 text);
	if (room->rows && shown > room->rows / RULES_SHARE)
		shown = room->rows / RULES_SHARE;
	for (size_t i = 0; i < shown; i++)
		put_top_rule(&top->rules[i], room, text);
	if (shown < top->rule_count) {
		snprintf(more, sizeof more, "and %zu more", top->rule_count - shown);
		put_text_in_room(more, room, text);
	}
	put_text_in_room("", room, text);
}

static void put_transitions(const struct top *top, const struct top_room *room, struct text_buffer *text)
{
	size_t left = room->rows ? room->rows / RULES_SHARE : SIZE_MAX;
	char bytes[LINE_BYTES];
	struct text_buffer line;

	if (!top->chosen)
		return;
	text_init_fixed(&line, bytes, sizeof bytes);
	text_append(&line, "TRANSITIONS OF ");
	text_append_as(&line, top->chosen, TEXT_WORDS);
	text_append(&line, top->transitions.length ? "" : ": there is no such rule");
	put_cut_line(text, room, &line);
	for (size_t at = 0; at < top->transitions.length; left--) {
		char *start = top->transitions.bytes + at;
		size_t length = strcspn(start, "\n");

		if (!left) {
			put_text_in_room("and more: use a taller terminal, or --batch", room, text);
			break;
		}
		put_cut_line(text, room, &(struct text_buffer){ .bytes = start, .length = length });
		at += length + 1;
	}
	put_text_in_room("", room, text);
}

static bool is_process_shown(const struct top *top, const struct top_process *process)
{
	return !top->filter[0] || strstr(process->name, top->filter);
}

static void put_process(const struct top_process *process, const struct top_room *room, struct text_buffer *text)
{
	char bytes[LINE_BYTES];
	struct text_buffer line;

	text_init_fixed(&line, bytes, sizeof bytes);
	text_printf(&line, "%7d ", (int)process->now.pid);
	put_padded_cell(&line, process->name, 24);
	text_printf(&line, " %9.1f %9.1f %9.1f %11.1f", process->percent[STATES_RUNNING],
		    process->percent[STATES_READY], process->percent[STATES_BLOCKED], process->switches_per_s);
	put_cut_line(text, room, &line);
}

static void put_processes(const struct top *top, const struct top_room *room, struct text_buffer *text)
{
	if (!top->states) {
		put_text_in_room(top->no_states, room, text);
		return;
	}
	put_text_in_room("    PID PROCESS                   RUNNING%    READY%  BLOCKED%  SWITCHES/S", room, text);
	size_t left = lines_left(text, room);

	for (size_t i = 0; i < top->process_count && left; i++) {
		if (!is_process_shown(top, &top->processes[i]))
			continue;
		put_process(&top->processes[i], room, text);
		left -= left != SIZE_MAX;
	}
}

void top_draw(const struct top *top, const struct top_room *room, struct text_buffer *text)
{
	put_top_head(top, room, text);
	put_text_in_room("", room, text);
	put_rules(top, room, text);
	put_transitions(top, room, text);
	put_processes(top, room, text);
	if (room->rows) {
		while (lines_left(text, room))
			text_append(text, "\n");
		put_text_in_room(top->counts ? "q quit  space pause  / filter  t next rule  sort by r w b s p"
					     : "q quit  space pause  / filter  sort: r running  w ready  b blocked  "
					       "s switches  p pid",
				 room, text);
	}
}
