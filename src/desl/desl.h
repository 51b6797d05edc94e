/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DESL_DESL_H
#define DESL_DESL_H

/*
 * The Derived Event Specification Language (Christopeit, "Vervollstaendigung von Profile-Messungen durch Kombination",
 * 2004): event types with records in files, types derived from them, and which of them are wanted. A program is
 * read and judged without its files, then run once. One thread at a time.
 */

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct desl_program;

/* A file that stands for the one that the program names for an input. */
struct desl_binding {
	const char *type, *file;
};

/*
 * Reads and judges the text of a program; is_strict: what the printed programs of the thesis do wrong is an error, not
 * repaired. The source outlives the program. Returns 0, or -EINVAL or -ENOMEM after messages. *corrected is for
 * alloc_free: a program that cannot be repaired, put right; NULL else.
 */
int desl_read(const struct diag_source *source, bool is_strict, struct asterism_diag *diag,
	      struct desl_program **program, char **corrected);

void desl_free(struct desl_program *program);

/* Reads the records of an input from its file (desl/input). 0 or -errno after a message. */
struct desl_type;
typedef int desl_provide_fn(struct desl_program *program, struct desl_type *type, const char *file,
			    struct asterism_diag *diag);

/*
 * Reads the files of all inputs that are needed and works out the wanted types. What was left out is told in warnings.
 * Returns 0 or -errno after a message.
 */
int desl_run(struct desl_program *program, const struct desl_binding *bindings, size_t count, desl_provide_fn *provide,
	     struct asterism_diag *diag);

#endif
