/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_OUTPUT_SYMBOL_READER_H
#define SESSION_OUTPUT_SYMBOL_READER_H

/*
 * Symbols of files, read by a thread of its own: a file of an observed process may have very many, and who wants them
 * has verdicts to see to. One file at a time; a reader belongs to one thread.
 */

#include "session/output/symbols.h"

#include <stdint.h>

struct symbol_reader;

/* Returns 0, -ENOMEM, -EAGAIN: there is no thread to be had. */
int symbol_reader_new(struct symbol_reader **made);
void symbol_reader_free(struct symbol_reader *reader);

/*
 * As symbols_read; fd stays the caller's. -ETIMEDOUT: not within patience_ns, symbol_reader_take will have them;
 * -EAGAIN: those of a file before are still being read, or were not taken.
 */
int symbol_reader_read(struct symbol_reader *reader, int fd, enum elf_part part, uint64_t patience_ns,
		       struct symbols **made);

/* Whether what timed out was read by now; *made is NULL where it could not be. */
bool symbol_reader_take(struct symbol_reader *reader, struct symbols **made);

#endif
