/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_RETURNED_H
#define PROGRAM_RETURNED_H

/* What a match says under each of the names that its rule returns. */

#include "program/eval.h"
#include "program/match.h"

/*
 * The value that match has under the name of return number index of its rule. Of a machine, several rows of a notice
 * may have one text: the names of the first, the second ... of them stand for the first, the second ... of their
 * different values. Returns 0; -EDOM: an integer was divided by zero; -ENODATA: the way that the match took does not
 * bind the value's events; -ENOENT: the match has no such name, as it is another notice's or there are fewer values.
 */
int program_returned(const struct program *program, const struct program_match *match, uint32_t index,
		     struct program_value *value);

#endif
