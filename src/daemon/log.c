// SPDX-License-Identifier: BSD-2-Clause
/* Decides how a line of the log looks. */

#include "daemon/log.h"

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
	char line[1024];
	int start, length;
	va_list arguments;

	if (to_journal)
		start = snprintf(line, sizeof line, "<%d>", (int)level);
	else
		start = snprintf(line, sizeof line, "asterismd: %s", level < LOG_LEVEL_INFO ? words[level] : "");
	va_start(arguments, format);
	length = start + vsnprintf(line + start, sizeof line - (size_t)start - 1, format, arguments);
	va_end(arguments);
	if (length > (int)sizeof line - 2)
		length = sizeof line - 2;
	for (int i = start; i < length; i++)
		if ((unsigned char)line[i] < ' ')
			line[i] = ' ';
	line[length++] = '\n';
	if (write(STDERR_FILENO, line, (size_t)length) < 0)
		return; /* nobody is left to be told */
}
