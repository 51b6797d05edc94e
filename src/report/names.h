/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_NAMES_H
#define REPORT_NAMES_H

/* Names that slices and threads refer to by number, each once: reasons, programs, functions. 0 is no name. */

#include "base/hash-table.h"

#include <stddef.h>
#include <stdint.h>

struct report_names {
	char **texts;
	size_t count, capacity;
	struct hash_table table;
};

/* A trace may invent names without end; those beyond are "(others)". */
enum { REPORT_NAMES_MAX = 65536 };

void report_names_fini(struct report_names *names);

/* The number of text, which is copied if it is new. "" is 0. Returns 0, -ENOMEM. */
int report_names_add(struct report_names *names, const char *text, uint32_t *number);

#endif
