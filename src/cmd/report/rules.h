/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_REPORT_RULES_H
#define CMD_REPORT_RULES_H

/* Rules that run over the traces before these are reported; what they find is told in its place. */

#include "cmd/options/options.h"
#include "report/pass.h"

struct report_rules;

/* Runs the rules of --rules over the operands. *made is NULL where there are none. Returns a status, after saying why.
 */
int report_rules_run(const struct cli_arguments *arguments, struct report_rules **made);

/* Tells the matches before ts. Returns 0, -ENOMEM. */
int report_rules_tell(struct report_rules *rules, struct report_pass *pass, uint64_t ts);

/* Whether there were more matches than it keeps, which was said. */
bool report_rules_are_cut(const struct report_rules *rules);

void report_rules_free(struct report_rules *rules);

#endif
