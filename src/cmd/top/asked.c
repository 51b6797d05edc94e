// SPDX-License-Identifier: BSD-2-Clause
/* Reads asterismd's reply to a query for what is shown. Nothing of it is trusted. */

#include "cmd/top/asked.h"

#include "cli/print.h"
#include "cmd/ctl/client.h"
#include "cmd/ctl/print.h"
#include "cmd/options/status.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static uint64_t asked_number(const json_t *object, const char *name)
{
	json_int_t value = json_integer_value(json_object_get(object, name));

	return value < 0 ? 0 : (uint64_t)value;
}

static void copy_member_text(const json_t *object, const char *name, char *to, size_t size)
{
	const char *value = json_string_value(json_object_get(object, name));

	snprintf(to, size, "%s", value ? value : "");
}

static bool take_unit(const json_t *unit, struct top *top)
{
	const json_t *rules = json_object_get(unit, "rules");

	for (size_t i = 0; i < json_array_size(rules); i++) {
		const json_t *from = json_array_get(rules, i);
		struct top_rule *rule = top_add_rule(top);

		if (!rule)
			return false;
		copy_member_text(from, "rule", rule->name, sizeof rule->name);
		copy_member_text(unit, "unit", rule->unit, sizeof rule->unit);
		copy_member_text(from, "place", rule->place, sizeof rule->place);
		rule->matches = asked_number(from, "matches");
		rule->opened = asked_number(from, "runs_opened");
		rule->peak = asked_number(from, "runs_live_max");
		rule->lost = asked_number(from, "lost");
		rule->kernel_ns = asked_number(unit, "kernel_ns");
		rule->is_measured = rule->kernel_ns != 0;
		rule->is_first = i == 0;
	}
	return true;
}

/* A daemon that answers no sooner is stopped, or has no CPU. */
static const uint64_t ASK_PATIENCE_NS = 10000000000;

static int ask_socket(const char *socket, json_t *request, json_t **reply)
{
	const struct ctl_way way = { .path = socket, .patience_ns = ASK_PATIENCE_NS };

	return request ? ctl_ask(&way, request, NULL, 0, reply) : STATUS_USAGE;
}

/* The daemon tells transitions of one unit at a time. */
static int ask_transitions(const char *socket, const char *unit, struct top *top)
{
	json_t *reply = NULL;
	int status = ask_socket(socket, json_pack("{s:s,s:s}", "op", "query", "unit", unit), &reply);

	if (status)
		return status;

	const json_t *rules = json_object_get(json_array_get(json_object_get(reply, "units"), 0), "rules");

	for (size_t i = 0; i < json_array_size(rules); i++) {
		const json_t *rule = json_array_get(rules, i), *why = json_object_get(rule, "why");
		const char *name = json_string_value(json_object_get(rule, "rule"));

		if (!name || !top_is_chosen(top, name))
			continue;
		if (why)
			ctl_put_transitions(why, &top->transitions);
		else
			text_append(&top->transitions, "asterismd does not count transitions: start it with "
						       "--count-transitions\n");
	}
	json_decref(reply);
	return STATUS_FINE;
}

int top_ask(const char *socket, struct top *top)
{
	json_t *reply = NULL;
	int status = ask_socket(socket, json_pack("{s:s}", "op", "query"), &reply);
	bool fits = true;

	if (status)
		return status;

	const json_t *units = json_object_get(reply, "units"), *daemon = json_object_get(reply, "daemon");

	for (size_t i = 0; i < json_array_size(units) && fits; i++)
		fits = take_unit(json_array_get(units, i), top);
	top->lost = asked_number(daemon, "lines_dropped") + asked_number(daemon, "results_dropped");
	for (size_t i = 0; top->chosen && i < top->rule_count && fits && !status; i++) {
		if (!top->transitions.length && top_is_chosen(top, top->rules[i].name))
			status = ask_transitions(socket, top->rules[i].unit, top);
	}
	json_decref(reply);
	if (fits)
		return status;
	cli_error("out of memory");
	return STATUS_USAGE;
}
