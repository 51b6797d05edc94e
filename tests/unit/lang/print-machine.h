/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_LANG_PRINT_MACHINE_H
#define TESTS_LANG_PRINT_MACHINE_H

#include "base/text.h"
#include "lang/syntax/ast-machine.h"

/* A checked state machine, one line for each part; variables are var0, keys key0, fields .name. */
void print_machine(struct text_buffer *text, const struct lang_machine *machine);

#endif
