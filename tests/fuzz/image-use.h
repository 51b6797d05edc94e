/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FUZZ_IMAGE_USE_H
#define FUZZ_IMAGE_USE_H

#include "program/load.h"

/*
 * Explains every rule of the program, evaluates its conditions and executes it over events drawn from seed; what is
 * matched is written in every form. Aborts where a result is not what its reader may rely on.
 */
void image_use(const struct program *program, uint64_t seed);

#endif
