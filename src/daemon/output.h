/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DAEMON_OUTPUT_H
#define DAEMON_OUTPUT_H

/*
 * Where matches go: lines of JSON to a file, a Unix stream socket, or standard output. Lines are kept until the next
 * flush and go out in one piece; a client that does not take them in time loses them, counted, and blocks no other. A
 * line is never written in part and forgotten: the rest of it comes first when there is room again.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { OUTPUT_BYTES = 1 << 20 };

struct output {
	const char *where;
	mode_t mode;  /* of a file that is made; 0: for its owner alone */
	int fd;       /* -1: there is none now */
	bool is_open; /* what fails from here on is no end */
	bool is_socket, is_open_line;
	char *bytes;
	size_t length;
	uint64_t retry_ns; /* when to look for a reader once more */
	int error;         /* that was told last */
	uint64_t lines_written, lines_dropped;
};

/* Returns 0 or -errno after a line in the log; a socket without a listener is no error. */
int output_open(struct output *output, const char *where, mode_t mode);
void output_close(struct output *output);

/* The file of this name may be another one by now. */
void output_reopen(struct output *output);

/* Adds a line: {"unit":unit, and text from its second byte on. */
void output_match(struct output *output, const char *unit, const char *text, size_t length);
void output_line(struct output *output, const char *text, size_t length);

/* Writes what there is. Never blocks. */
void output_flush(struct output *output, uint64_t now_ns);

/* Whether something still waits to be written. */
static inline bool output_is_pending(const struct output *output)
{
	return output->length != 0;
}

#endif
