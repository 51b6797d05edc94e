/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_MONITOR_DECLARED_H
#define CMD_MONITOR_DECLARED_H

/* What --sensor says: NAME,rate=COUNT/TIME[,burst=COUNT][,spacing=TIME][,cost=TIME]. */

#include "cli/option.h"
#include "session/monitor/monitor.h"

/* All values of the option. */
struct declared {
	struct monitor_declared *items; /* names are their own */
	size_t count;
};

/* Returns 0, -EINVAL, -ENOMEM, with a sentence; declared_fini either way. */
int declared_read(const struct cli_value *value, struct asterism_diag *diag, struct declared *declared);
void declared_fini(struct declared *declared);

/* As check of an option. */
int declared_check(const struct cli_value *before, const char *text, struct asterism_diag *diag);

#endif
