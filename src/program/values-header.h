/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_VALUES_HEADER_H
#define PROGRAM_VALUES_HEADER_H

#include "program/load.h"

#include <stdio.h>

/*
 * Writes a C header with a structure for the returned values of each rule of program (values.h) that returns any.
 * Names become identifiers; whatever they hold, the header compiles as C and C++. Returns 0; -EINVAL (a rule returns
 * more values than VALUES_HEADER_MAX, the diag says which), -ENOMEM. What cannot be written shows in ferror(stream).
 */
int program_write_values_header(FILE *stream, const struct program *program, struct asterism_diag *diag);

enum { VALUES_HEADER_MAX = 64 }; /* as many as missing has bits */

#endif
