/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_COUNTERS_COUNTERS_PRIV_H
#define CMD_COUNTERS_COUNTERS_PRIV_H

/* What parts of `asterism counters` share. Each returns an exit status. */

#include "cli/arguments.h"
#include "counters/counters.h"

int counters_list(const struct cli_arguments *arguments, const struct counters *counters);
int counters_explain(const struct cli_arguments *arguments, const struct counters *counters);
int counters_platform(const struct cli_arguments *arguments, const struct counters *counters);
int counters_probe(const struct cli_arguments *arguments, const struct counters *counters);
int counters_read_types(const struct cli_arguments *arguments, const struct counters *counters);

/* The type of this name; NULL after a message. */
const struct counter_type *counters_wanted(const struct counters *counters, const char *name);

bool counters_want_json(const struct cli_arguments *arguments);

#endif
