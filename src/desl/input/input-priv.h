/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DESL_INPUT_INPUT_PRIV_H
#define DESL_INPUT_INPUT_PRIV_H

/* Files as records. */

#include "desl/run-priv.h"

struct desl_providing {
	struct desl_program *program;
	struct desl_type *type;
	struct asterism_diag *diag;
	const struct diag_source *source;
	uint32_t line;
	const char *named_by; /* of gmon.out: the program that has the names; NULL: none is given */
};

/* All: 0 or -errno after a message. The table has its columns, and no record yet. */
int desl_provide_csv(struct desl_providing *providing);
int desl_provide_profile(struct desl_providing *providing);
int desl_provide_jsonl(struct desl_providing *providing);
int desl_provide_trace(struct desl_providing *providing); /* source has a file alone */

/* What is wrong at a place of the file. */
int desl_provide_wrong(const struct desl_providing *providing, const char *at, const char *hint, const char *format,
		       ...) __attribute__((format(printf, 4, 5)));

/* Says that the file has no such field; names: those that it has. */
int desl_provide_unknown(const struct desl_providing *providing, const struct desl_field *field,
			 const char *const *names, size_t count);

/* A cell from a text; empty: absent. Returns -EINVAL without a message where a Number is none. */
int desl_provide_cell(struct desl_providing *providing, unsigned column, const char *bytes, size_t length,
		      union desl_cell *cell);

/* What growing the table came to. */
int desl_provide_failed(const struct desl_providing *providing, int result);

#endif
