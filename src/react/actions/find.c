// SPDX-License-Identifier: BSD-2-Clause
/* Finds the action that a name means, and checks its arguments. */

#include "react/react.h"

#include "base/diag.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { NAMES_MAX = 128 };

const struct react_action *react_find(const char *name)
{
	for (size_t i = 0; react_actions[i]; i++) {
		const struct react_action *action = react_actions[i];

		if (strcmp(action->name, name) == 0)
			return action;
		for (size_t j = 0; j < sizeof action->aliases / sizeof *action->aliases && action->aliases[j]; j++)
			if (strcmp(action->aliases[j], name) == 0)
				return action;
	}
	return NULL;
}

const char *react_nearest(const char *name)
{
	const char *names[NAMES_MAX];
	size_t count = 0;

	for (size_t i = 0; react_actions[i] && count < NAMES_MAX; i++)
		names[count++] = react_actions[i]->name;
	return diag_nearest(name, names, count);
}

void react_arity(const struct react_action *action, uint32_t *least, uint32_t *most)
{
	*least = 0;
	*most = action->param_count;
	for (uint32_t i = 0; i < action->param_count; i++) {
		const struct react_param *param = &action->params[i];

		if (param->repeats)
			*most = UINT32_MAX;
		else if (!param->optional)
			*least = i + 1;
	}
}

static bool is_integer_shape(const struct react_shape *shape)
{
	return shape->kind == REACT_I64 || shape->kind == REACT_U64;
}

const char *react_expects(const struct react_action *action, uint32_t index, const struct react_shape *shape)
{
	uint32_t last = action->param_count - 1;
	const struct react_param *param = &action->params[index < last ? index : last];

	switch (param->type) {
	case REACT_TARGET:
		return is_integer_shape(shape) ? NULL : "a thread or process: a#TID, a#PID or a number";
	case REACT_INTEGER:
		return is_integer_shape(shape) ? NULL : "an integer";
	case REACT_TIME:
		return is_integer_shape(shape) ? NULL : "a time";
	case REACT_SIGNAL:
		if (shape->text)
			return react_signal_number(shape->text) ? NULL : "the name of a signal";
		return is_integer_shape(shape) ? NULL : "a signal: its number, or its name as a constant text";
	case REACT_ERRNO:
		if (shape->text)
			return react_errno_number(shape->text) ? NULL : "the name of an error";
		return is_integer_shape(shape) ? NULL : "an error: its number, or its name as a constant text";
	case REACT_SIGNAL_NAME:
		return shape->text && react_signal_number(shape->text) ? NULL : "the name of a signal";
	case REACT_VERDICT:
		return shape->text && (strcmp(shape->text, "CONTINUE") == 0 || strcmp(shape->text, "ABORT") == 0)
			       ? NULL
			       : "\"CONTINUE\" or \"ABORT\"";
	case REACT_TEXT:
		return shape->text ? NULL : "a constant text";
	case REACT_ANY:
		break;
	}
	return NULL;
}

void react_print(const struct react_action *action, char *buffer, size_t size)
{
	size_t used = (size_t)snprintf(buffer, size, "%s(", action->name);

	for (uint32_t i = 0; i < action->param_count && used < size; i++) {
		const struct react_param *param = &action->params[i];

		used += (size_t)snprintf(buffer + used, size - used, "%s%s%s%s", param->optional ? "[" : "",
					 i ? ", " : "", param->name, param->repeats ? "..." : "");
		if (param->optional && used < size)
			used += (size_t)snprintf(buffer + used, size - used, "]");
	}
	if (used < size)
		snprintf(buffer + used, size - used, ")");
}

const char *react_late_guarantee(const struct react_action *action)
{
	if (action->primitive != REACT_SEND_SIGNAL)
		return action->guarantee;
	return action->is_undone ? "sent when asterism learns of the match; the thread that completed it may have run "
				   "on, or have ended. Undone when the session ends, however it ends."
				 : "sent when asterism learns of the match; the thread that completed it may have run "
				   "on, or have ended.";
}
