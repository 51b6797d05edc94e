/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_PREDICT_H
#define CMD_PREDICT_H

/* `asterism explain --trace`: what rules will do and cost, from what they do in recorded events. */

#include "base/text.h"
#include "cmd/options/options.h"
#include "session/load/rules.h"

/* Appends to out in the form of --format. Returns a status. */
int cmd_predict(const struct cli_arguments *arguments, const struct session_rules *rules, struct text_buffer *out);

#endif
