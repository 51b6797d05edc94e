/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LANG_SYNTAX_LIMITS_H
#define LANG_SYNTAX_LIMITS_H

/* How much of everything a file may have. */

enum {
	LANG_POOL_DEFAULT = 16384,
	LANG_POOL_MAX = 1 << 24,
	LANG_DEPTH_MAX = 64, /* of structures and of every struct lang_expr */
	LANG_FILE_BYTES_MAX = 1 << 24,
	LANG_WORD_BYTES_MAX = 255,     /* of a name; what an image takes */
	LANG_STRING_BYTES_MAX = 8191,  /* of a string between its quotes; likewise */
	LANG_ELEMENTS_MAX = 1024,      /* of one rule */
	LANG_LENGTH_MAX = 1000000000,  /* largest finite length or repeat */
	LANG_NODES_MAX = 1 << 20,      /* of one file: events, conditions, operators, ... */
	LANG_EXPRESSION_MAX = 1 << 16, /* nodes of one expression */
	LANG_AGGREGATES_MAX = 32,      /* of one rule */
	LANG_BY_MAX = 8,               /* values of BY */
	LANG_BY_BYTES_MAX = 1024,      /* of a key of BY, strings with their capacity */
};

#endif
