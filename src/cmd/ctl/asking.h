/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_CTL_ASKING_H
#define CMD_CTL_ASKING_H

/* One request of `asterism ctl` on its way to the daemon. */

#include "cmd/options/options.h"

#include <jansson.h>
#include <stddef.h>

struct asking {
	const struct cli_arguments *arguments;
	const struct operation *operation;
	const char *const *operands; /* behind the words of the operation */
	size_t operand_count;
	const char *operand; /* the first; NULL: there is none */
	const char *command; /* as it has to be typed to ask the same daemon */
	char *body;
	size_t body_length;
};

struct operation {
	const char *op; /* in the protocol */
	unsigned words; /* of the row, that name it */
	size_t operands_min, operands_max;
	/* Adds to the request what the operation needs; a status. */
	int (*prepare)(struct asking *asking, json_t *request);
	void (*print)(const json_t *reply, const char *command);
	const char *failed; /* a number in the reply; unless it is 0, not everything was done; NULL: there is none */
	int failed_status;
};

#endif
