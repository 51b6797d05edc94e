/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_PATTERN_H
#define SENSOR_PATTERN_H

/* What people, rules and observers call sensors by: NAME or PROGRAM:NAME, as protocol.h has it. */

#include <stdbool.h>

/* Whether the pattern means sensors of the process whose name and whose program's path these are; path may be "". */
bool sensor_pattern_means_program(const char *pattern, const char *comm, const char *path);

/* Whether it means those called name, of a program that it means. */
bool sensor_pattern_means_name(const char *pattern, const char *name);

#endif
