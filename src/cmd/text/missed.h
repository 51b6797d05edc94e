/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ASTERISM_CMD_TEXT_MISSED_H
#define ASTERISM_CMD_TEXT_MISSED_H

#include "program/image.h"
#include "session/output/totals.h"

/*
 * Warns of what rules did not see: events with strings that could not be read, 32-bit system calls, operations of
 * io_uring. Many rules that missed the same number of the same are told in one line.
 */
void missed_report(const struct program *program, const struct session_totals *totals);

/*
 * While rules run: a rule did not see calls, which others did not see either. Warns of each sort of them once, for the
 * first rule that missed any. told holds which sorts were told, 0 at first.
 */
void missed_tell(const struct program *program, uint32_t rule, const struct program_rule_stats *stats, unsigned *told);

#endif
