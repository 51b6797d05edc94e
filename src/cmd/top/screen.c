// SPDX-License-Identifier: BSD-2-Clause
/* Controls the terminal: control sequences that all of them know (ECMA-48), one write per look. */

#include "cmd/top/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPEN_SCREEN  "\033[?1049h\033[?25l\033[2J"
#define CLOSE_SCREEN "\033[?25h\033[?1049l"

enum { COLUMNS = 80, ROWS = 24, COLUMNS_MIN = 20, COLUMNS_MAX = 400, ROWS_MAX = 1000 };

static int put_screen_bytes(const char *bytes, size_t length)
{
	while (length) {
		ssize_t written = write(STDOUT_FILENO, bytes, length);

		if (written < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (written > 0) {
			bytes += written;
			length -= (size_t)written;
		}
	}
	return 0;
}

static void restore(const struct termios *before)
{
	tcsetattr(STDIN_FILENO, TCSAFLUSH, before);
	put_screen_bytes(CLOSE_SCREEN, sizeof CLOSE_SCREEN - 1);
}

/* Keeps nothing of the process but the terminal; signals are the process's, whose end is all that is waited for. */
static void guard(int from, const struct termios *before)
{
	static const int others[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTTOU, SIGTSTP, SIGPIPE };
	char word;
	ssize_t length;

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		signal(others[i], SIG_IGN);
	if (from != STDERR_FILENO + 1)
		dup2(from, STDERR_FILENO + 1);
	close_range(STDERR_FILENO + 2, ~0U, 0);
	prctl(PR_SET_NAME, "asterism-top");
	do
		length = read(STDERR_FILENO + 1, &word, 1);
	while (length < 0 && errno == EINTR);
	if (length <= 0)
		restore(before);
	_exit(0);
}

static int start_guardian(struct screen *screen)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	screen->guardian = fork();
	if (screen->guardian == 0) {
		close(ends[1]);
		guard(ends[0], &screen->before);
	}
	close(ends[0]);
	if (screen->guardian < 0) {
		int error = -errno;

		close(ends[1]);
		return error;
	}
	screen->guard = ends[1];
	return 0;
}

int screen_open(struct screen *screen)
{
	const char *term = getenv("TERM");
	struct termios raw;
	int result;

	if (!term || !*term || strcmp(term, "dumb") == 0 || !isatty(STDOUT_FILENO) ||
	    tcgetattr(STDIN_FILENO, &screen->before))
		return -ENOTTY;
	result = start_guardian(screen);
	if (result)
		return result;
	raw = screen->before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 1; /* a shell that reads before the guardian has restored it would take 0 bytes for the end */
	raw.c_cc[VTIME] = 0;
	raw.c_cc[VSUSP] = _POSIX_VDISABLE; /* a shell would find its terminal as it is here */
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
	return put_screen_bytes(OPEN_SCREEN, sizeof OPEN_SCREEN - 1);
}

void screen_close(struct screen *screen)
{
	ssize_t ignored;

	restore(&screen->before);
	ignored = write(screen->guard, "x", 1);
	(void)ignored; /* it is gone: all the better */
	close(screen->guard);
	while (waitpid(screen->guardian, NULL, 0) < 0 && errno == EINTR)
		;
}

struct top_room screen_room(void)
{
	struct top_room room = { COLUMNS, ROWS };
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= COLUMNS_MIN && size.ws_row > 3)
		room = (struct top_room){ size.ws_col, size.ws_row };
	room.columns = room.columns > COLUMNS_MAX ? COLUMNS_MAX : room.columns;
	room.rows = room.rows > ROWS_MAX ? ROWS_MAX : room.rows;
	return room;
}

int screen_show(const struct text_buffer *text)
{
	struct text_buffer frame = { 0 };
	const char *at = text->bytes, *end = text->bytes + text->length;
	int result;

	text_append(&frame, "\033[H");
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t length = newline ? (size_t)(newline - at) : (size_t)(end - at);

		text_append_bytes(&frame, at, length);
		text_append(&frame, "\033[K");
		at += length + 1;
		if (at < end)
			text_append(&frame, "\r\n");
	}
	text_append(&frame, "\033[J");
	result = frame.failure ? -ENOMEM : put_screen_bytes(frame.bytes, frame.length);
	text_fini(&frame);
	return result;
}
