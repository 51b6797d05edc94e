/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_HELP_H
#define CMD_HELP_H

#include <stdio.h>

/* What `asterism --help` writes. */
void help_program(FILE *stream);

#endif
