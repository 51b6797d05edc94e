/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COUNTERS_INSTALLED_H
#define COUNTERS_INSTALLED_H

/* The counters that every program has. */

#include "counters/counters.h"

/*
 * Reads the shipped catalogs (of ASTERISM_CATALOGS, installed or built in), then the further files, and finishes.
 * Returns 0, or -errno after a message.
 */
int counters_load(const char *const *files, size_t count, struct asterism_diag *diag, struct counters **counters);

#endif
