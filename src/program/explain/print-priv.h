/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_EXPLAIN_PRINT_PRIV_H
#define PROGRAM_EXPLAIN_PRINT_PRIV_H

#include "base/text.h"
#include "program/load.h"

/* program_print_node into a text of any length. */
void program_print(struct text_buffer *text, const struct program *program, const struct program_rule *rule,
		   uint32_t node);

/* The name of rule's slot, or what stands for one. */
void program_print_slot(struct text_buffer *text, const struct program *program, const struct program_rule *rule,
			uint32_t slot);

#endif
