// SPDX-License-Identifier: BSD-2-Clause
/* Prints messages. Whatever a source line holds, no control character of it reaches the terminal. */

#include "cli/print.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TAB_WIDTH = 8 };

enum style { STYLE_ERROR, STYLE_WARNING, STYLE_NOTE, STYLE_HELP, STYLE_PLACE, STYLE_MARK };

static const char *const style_codes[] = {
	[STYLE_ERROR] = "\033[1;31m", [STYLE_WARNING] = "\033[1;35m", [STYLE_NOTE] = "\033[1;36m",
	[STYLE_HELP] = "\033[1;32m",  [STYLE_PLACE] = "\033[1m",      [STYLE_MARK] = "\033[1;32m",
};

static const char *program_name = "asterism";
static bool coloured, quiet_notes;
static cli_message_writer *writer;

void cli_program_name(const char *name)
{
	program_name = name;
}

void cli_color(const char *choice)
{
	const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

	if (choice && strcmp(choice, "auto") != 0)
		coloured = strcmp(choice, "always") == 0;
	else
		coloured = isatty(STDERR_FILENO) && !(none && *none) && !(term && strcmp(term, "dumb") == 0);
}

void cli_quiet(bool quiet)
{
	quiet_notes = quiet;
}

void cli_messages_to(cli_message_writer *chosen)
{
	writer = chosen;
}

static void style_begin(enum style style)
{
	if (coloured)
		fputs(style_codes[style], stderr);
}

static void style_end(void)
{
	if (coloured)
		fputs("\033[0m", stderr);
}

static void styled(enum style style, const char *text)
{
	style_begin(style);
	fputs(text, stderr);
	style_end();
}

/* Writes the character at text; one that a terminal may obey, or that is none, shows as `?`. Returns its bytes. */
static size_t put_character(const char *text)
{
	size_t length = text_character(text);

	if (text_is_shown(text))
		fwrite(text, 1, length, stderr);
	else
		fputc('?', stderr);
	return length ? length : 1;
}

/*
 * Names from rule files and of files may stand in texts, so these are cleaned as well. They may have several lines, of
 * which none looks like the first of another message.
 */
static void put_clean_text(const char *text)
{
	while (*text) {
		if (*text == '\n')
			fputs("\n    ", stderr), text++;
		else if (*text == '\t')
			fputc(*text++, stderr);
		else
			text += put_character(text);
	}
	fputc('\n', stderr);
}

/* Writes the line with tabs as blanks; control characters show as `?`. */
static void put_clean_line(const char *line)
{
	unsigned column = 0;

	while (*line) {
		if (*line == '\t') {
			do
				fputc(' ', stderr);
			while (++column % TAB_WIDTH);
			line++;
			continue;
		}
		line += put_character(line);
		column++;
	}
	fputc('\n', stderr);
}

/* The width on the screen of the bytes of line up to end, from column on. */
static unsigned width(const char *line, size_t start, size_t end, unsigned column)
{
	unsigned first = column;

	for (size_t i = start, length; i < end && line[i]; i += length ? length : 1) {
		length = text_character(line + i);
		column += line[i] == '\t' ? TAB_WIDTH - column % TAB_WIDTH : 1;
	}
	return column - first;
}

static void put_mark(const struct asterism_message *message, int margin)
{
	size_t start = message->column - 1, length = message->length;
	unsigned before = width(message->source, 0, start, 0);
	unsigned under = width(message->source, start, start + length, before);

	fprintf(stderr, "%*s | %*s", margin, "", (int)before, "");
	style_begin(STYLE_MARK);
	fputc('^', stderr);
	for (unsigned i = 1; i < under; i++)
		fputc('~', stderr);
	style_end();
	fputc('\n', stderr);
}

static void put_place(const struct asterism_message *message)
{
	char place[32] = "";

	if (message->file && message->line)
		snprintf(place, sizeof place, ":%u:%u", message->line, message->column);
	else if (message->file && message->offset)
		snprintf(place, sizeof place, ": byte %llu", (unsigned long long)message->offset);
	style_begin(STYLE_PLACE);
	for (const char *at = message->file ? message->file : program_name; *at;)
		at += put_character(at);
	fputs(place, stderr);
	fputs(": ", stderr);
	style_end();
}

static void put_diag_message(const struct asterism_message *message)
{
	static const struct {
		enum style style;
		const char *word;
	} severities[] = {
		[ASTERISM_NOTE] = { STYLE_NOTE, "note: " },
		[ASTERISM_WARNING] = { STYLE_WARNING, "warning: " },
		[ASTERISM_ERROR] = { STYLE_ERROR, "error: " },
	};

	if (writer) {
		writer(message);
		return;
	}
	put_place(message);
	styled(severities[message->severity].style, severities[message->severity].word);
	put_clean_text(message->text);
	if (message->source && message->line) {
		int margin = fprintf(stderr, "%5u", message->line);

		fputs(" | ", stderr);
		put_clean_line(message->source);
		put_mark(message, margin);
	}
	if (message->hint)
		cli_hint("%s", message->hint);
}

void cli_print(const struct asterism_diag *diag)
{
	const struct asterism_message *message;

	for (size_t i = 0; (message = asterism_diag_get(diag, i)); i++) {
		if (quiet_notes && message->severity == ASTERISM_NOTE)
			continue;
		put_diag_message(message);
	}
}

static void print_one(enum asterism_severity severity, const char *format, va_list args)
{
	char text[1024];

	vsnprintf(text, sizeof text, format, args);
	put_diag_message(&(struct asterism_message){ .severity = severity, .text = text });
}

void cli_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_one(ASTERISM_ERROR, format, args);
	va_end(args);
}

void cli_warning(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_one(ASTERISM_WARNING, format, args);
	va_end(args);
}

void cli_note(const char *format, ...)
{
	va_list args;

	if (quiet_notes)
		return;
	va_start(args, format);
	print_one(ASTERISM_NOTE, format, args);
	va_end(args);
}

void cli_hint(const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (writer) {
		writer(&(struct asterism_message){ .severity = ASTERISM_NOTE, .text = text });
		return;
	}
	styled(STYLE_HELP, "help: ");
	put_clean_text(text);
}
