/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_TEXT_JSON_MESSAGE_H
#define CMD_TEXT_JSON_MESSAGE_H

#include "asterism/diag.h"

/*
 * A cli_message_writer: the message as a line of JSON on standard output, for editors. Columns are bytes from 1; "end"
 * is the first column behind what the message speaks of. What is not known is null.
 */
void json_message_put(const struct asterism_message *message);

#endif
