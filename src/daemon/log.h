/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DAEMON_LOG_H
#define DAEMON_LOG_H

/*
 * What the daemon says to its operator: lines on standard error. Under systemd each begins with its level, as
 * sd-daemon(3) has it; elsewhere with a word.
 */

enum log_level { LOG_LEVEL_ERROR = 3, LOG_LEVEL_WARNING = 4, LOG_LEVEL_INFO = 6 };

/* Finds out where standard error goes. */
void log_open(void);

/* One line, without a newline; control characters in it come out as spaces. Never blocks for long, never fails. */
void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
