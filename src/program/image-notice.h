/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_IMAGE_NOTICE_H
#define PROGRAM_IMAGE_NOTICE_H

/* What the transitions of machines report: rows of PROGRAM_NOTICES and PROGRAM_PIECES, and the trail. */

#include <stdint.h>

enum program_notice_flag {
	PROGRAM_NOTICE_SILENT = 1 << 0, /* nothing but EMIT: no match */
};

/* What one transition of a machine tells, besides the returns and statements that carry its number. */
struct program_notice {
	uint32_t first_piece, piece_count; /* of the warning */
	uint32_t flags;
	uint32_t reserved;
};

/* A piece of a warning: text, then a value. */
struct program_piece {
	uint32_t text;  /* text; or NONE */
	uint32_t value; /* return of the rule (from 0) of the same notice; or NONE */
};

/*
 * A place of the trail, three U64 slots: ts; transition (of the rule, from 1; 0: none yet) << 32 | cpu; pid << 32 |
 * tid.
 */
enum { PROGRAM_TRAIL_WORDS = 3, PROGRAM_TRAIL_MAX = 16 };

#endif
