// SPDX-License-Identifier: BSD-2-Clause
/* Message: a text with values in it, told with the match. */

#include "react/actions/actions-priv.h"

static const struct react_param message_params[] = {
	{ .name = "text", .type = REACT_TEXT },
	{ .name = "value", .type = REACT_ANY, .repeats = true },
};

static int perform_message(struct react_agent *agent, struct react_call *call)
{
	(void)agent;
	(void)call;
	return 0; /* the match is reported with its texts */
}

const struct react_action react_message = {
	.name = "Message",
	.aliases = { "DbgMessage" },
	REACT_PARAMS(message_params),
	.summary = "reports a text with the match; each {} in it is replaced by the next value",
	.guarantee = "Reported by asterism, in the order of matches.",
	.perform = perform_message,
};
