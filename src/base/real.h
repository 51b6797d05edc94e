/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_REAL_H
#define BASE_REAL_H

#include <stdio.h>

/* The shortest decimal that reads back as real; null for what JSON has no number for. */
void real_put(FILE *stream, double real);

#endif
