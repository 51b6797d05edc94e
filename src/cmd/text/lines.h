/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_TEXT_LINES_H
#define CMD_TEXT_LINES_H

/*
 * Results on their way to a descriptor. What does not get through is counted by results, and a result is there whole or
 * not at all: where a write ends in the midst of one, its rest is the first to be written when that is possible again.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct lines {
	int fd;
	FILE *stream; /* a result is put together there */
	char *text;   /* what the stream holds, up to length */
	size_t length;
	char *waiting; /* results that are not written yet */
	size_t used, capacity;
	size_t *ends; /* of each of them in waiting */
	size_t count;
	size_t begun_bytes; /* that piece */
	uint64_t unwritten; /* results that found no room, or were given up */
	int error;          /* errno of the last write, 0: it succeeded */
};

/* Returns 0 or -ENOMEM; then lines_fini is needed all the same. */
int lines_init(struct lines *lines, int fd);
void lines_fini(struct lines *lines);

/* The result that lines->stream got since the last call is complete. Returns as lines_flush. */
int lines_put(struct lines *lines);

/* Writes out what waits. Returns 0, or -errno: all that is left waits for another attempt. */
int lines_flush(struct lines *lines);

/* Gives up what waits, counted, and cuts the file, where it is the caller's own, behind the last whole result. */
void lines_give_up(struct lines *lines, bool own_file);

#endif
