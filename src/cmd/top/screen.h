/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_TOP_SCREEN_H
#define CMD_TOP_SCREEN_H

/*
 * The terminal while somebody looks: its other screen, keys as they are typed. It is as before when this ends, however
 * that comes about: a child waits for the end of the process and puts it right where the process could not.
 */

#include "cmd/top/top.h"

#include <sys/types.h>
#include <termios.h>

struct screen {
	struct termios before;
	pid_t guardian;
	int guard; /* to it; closed without a word: put the terminal right */
};

/* Returns 0; -ENOTTY (standard input or output is no terminal, or one that cannot move its cursor), -errno. */
int screen_open(struct screen *screen);
void screen_close(struct screen *screen);

struct top_room screen_room(void);

/* Shows lines in place of what is there. Returns 0 or -errno. */
int screen_show(const struct text_buffer *text);

#endif
