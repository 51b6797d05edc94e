/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CLI_VALUE_H
#define CLI_VALUE_H

/* What the text of one value means. */

#include "cli/option.h"

/* Stores the number that text is for an option of its kind; kinds that are texts have none. 0, or -EINVAL and a
 * message. */
int cli_value_read(const struct cli_option *option, const char *text, uint64_t *number, struct asterism_diag *diag);

#endif
