/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_REPORT_FUNCTIONS_H
#define CMD_REPORT_FUNCTIONS_H

/*
 * The names of the functions that threads begin with, from the symbols of their programs' files as they are now. A
 * trace may name any file: only regular ones are looked into, each once, and only such as can be what was recorded. All
 * zero: nothing is known yet.
 */

#include "report/pass.h"

struct functions {
	struct functions_program *programs;
	size_t count, capacity, bytes;
};

/* As report_options has it; context: the functions. */
const char *functions_name(void *context, const struct report_start *start);
void functions_fini(struct functions *functions);

#endif
