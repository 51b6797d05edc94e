/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef AUTOMATON_COMPILE_H
#define AUTOMATON_COMPILE_H

#include "base/diag.h"
#include "event/catalog.h"
#include "lang/syntax/ast.h"

#include <stddef.h>

/*
 * Compiles a checked unit to a program image. Reports ambiguous patterns, cycles of EMIT and patterns too large, with
 * both places. catalog serves OVER { * }. The caller frees *bytes with alloc_free.
 * Returns 0, -EINVAL (the diag says why), -E2BIG, -ENOMEM.
 */
int automaton_compile(const struct lang_unit *unit, const struct event_catalog *catalog, struct asterism_diag *diag,
		      void **bytes, size_t *length);

#endif
