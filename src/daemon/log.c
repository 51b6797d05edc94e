// SPDX-License-Identifier: BSD-2-Clause
/* Writes lines of the log. */

#include "daemon/log.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool to_journal;

void log_open(void)
{
	to_journal = getenv("JOURNAL_STREAM") != NULL;
}

void log_line(enum log_level level, const char *format, ...)
{
	static const char *const words[] = { [LOG_LEVEL_ERROR] = "error: ", [LOG_LEVEL_WARNING] = "warning: " };
	char line[1024], text[1024];
	struct text_buffer shown;
	va_list arguments;
	int start;

	if (to_journal)
		start = snprintf(line, sizeof line, "<%d>", (int)level);
	else
		start = snprintf(line, sizeof line, "asterismd: %s", level < LOG_LEVEL_INFO ? words[level] : "");
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	text_init_fixed(&shown, line + start, sizeof line - (size_t)start - 1);
	text_append_as(&shown, text, TEXT_WORDS);
	line[start + (int)shown.length] = '\n';
	if (write(STDERR_FILENO, line, (size_t)start + shown.length + 1) < 0)
		return; /* there is no one left to be told */
}
