/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DESL_INPUT_INPUT_H
#define DESL_INPUT_INPUT_H

/* Files as records: CSV, JSON lines, profiles of all formats that are read, and recordings (docs/query.md, "Files"). */

#include "desl/desl.h"

/* A desl_provide_fn. */
int desl_provide(struct desl_program *program, struct desl_type *type, const char *file, struct asterism_diag *diag);

#endif
