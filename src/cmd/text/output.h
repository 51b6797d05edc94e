/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_TEXT_OUTPUT_H
#define CMD_TEXT_OUTPUT_H

#include "cmd/options/options.h"

/* Opens the file that results go to, for those whom --mode lets read it. Returns a descriptor, or -1 after saying why.
 */
int cmd_output_open(const struct cli_arguments *arguments, const char *file);

#endif
