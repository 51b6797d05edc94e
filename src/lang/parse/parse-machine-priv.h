/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LANG_PARSE_PARSE_MACHINE_PRIV_H
#define LANG_PARSE_PARSE_MACHINE_PRIV_H

/* The parts of a state machine. NULL or false: reported. */

#include "lang/parse/parser-priv.h"
#include "lang/syntax/syntax-machine.h"

#include <string.h>

/* ON or AFTER is next; state: the number of the one around it, or LANG_OUTSIDE. */
bool lang_parse_transition(struct lang_parser *p, struct lang_syntax_machine *machine, uint32_t state);

/* { action; ... } */
bool lang_parse_block(struct lang_parser *p, struct lang_syntax_block *block);

/* The text of WARN, which is the next token, taken apart. */
bool lang_parse_warn(struct lang_parser *p, struct lang_syntax_action *action);

/* Where a part of the machine that stands in no state begins. */
bool lang_at_frame(const struct lang_parser *p);

#endif
