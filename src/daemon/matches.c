// SPDX-License-Identifier: BSD-2-Clause
/*
 * Passes on a match: written, handed to clients, or only counted. A rule that floods costs a counter for each match
 * above its rate, and nothing else.
 */

#include "base/text.h"
#include "daemon/daemon.h"
#include "daemon/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Of a number as people read it; what is longer, such as a set of all flags, stays a number. */
enum { SHOWN_BYTES = 256 };

static struct unit *unit_of(const struct asterism_match *match)
{
	return asterism_rules_context(asterism_match_unit(match));
}

/* Whether the rule may have one more match told. */
static bool take_turn(const struct daemon *daemon, struct unit_rule *rule)
{
	if (budget_is_above(&daemon->budget) || rule->handed_now >= daemon->options->rate) {
		rule->refused_now++;
		rule->refused++;
		return false;
	}
	rule->handed_now++;
	rule->handed++;
	return true;
}

static size_t give_to_judges(struct daemon *daemon, const char *unit, const struct asterism_ask *ask, const char *text,
			     size_t length)
{
	struct result *result = result_new(unit, text, length);
	size_t judges;

	if (!result) {
		daemon->clients.dropped++;
		return 0;
	}
	if (ask) {
		result->ticket = ask->ticket;
		result->deadline_ns = ask->deadline_ns;
	}
	judges = clients_give(&daemon->clients, result);
	result_drop(result);
	return judges;
}

/*
 * The match, and beside it its numbers as people read them: only those who know the rule know which are durations.
 * Where memory is short the match is given without.
 */
static void add_shown(struct text_buffer *text, const struct asterism_match *match)
{
	struct asterism_value value;
	size_t count = 0;
	int result;

	for (size_t i = 0; (result = asterism_match_value(match, i, &value)) != -EINVAL; i++) {
		char shown[SHOWN_BYTES];

		if (result || value.kind == ASTERISM_STRING || value.kind == ASTERISM_BOOL)
			continue;
		result = asterism_match_value_shown(match, i, shown, sizeof shown);
		if (result < 0 || result >= (int)sizeof shown)
			continue;
		text_append(text, count++ ? "," : ",\"shown\":{");
		text_json(text, value.name);
		text_append(text, ":");
		text_json(text, shown);
	}
	text_append(text, count ? "}" : "");
}

static size_t give_match(struct daemon *daemon, const struct asterism_match *match, const struct asterism_ask *ask,
			 const char *json, size_t length)
{
	struct text_buffer text = { 0 };
	size_t judges;

	text_append_bytes(&text, json, length);
	add_shown(&text, match);
	judges = text.failure ? give_to_judges(daemon, unit_of(match)->name, ask, json, length)
			      : give_to_judges(daemon, unit_of(match)->name, ask, text.bytes, text.length);
	text_fini(&text);
	return judges;
}

int daemon_on_match(void *context, const struct asterism_match *match)
{
	struct daemon *daemon = context;
	struct unit *unit = unit_of(match);
	struct unit_rule *rule = &unit->counts[asterism_match_rule_index(match)];
	char *text;
	int length;

	if (asterism_match_time_ns(match) < unit->from_ns ||
	    (unit->until_ns && asterism_match_time_ns(match) >= unit->until_ns))
		return ASTERISM_CONTINUE;
	if (rule->severity < daemon->options->min_severity) {
		rule->below_severity++;
		return ASTERISM_CONTINUE;
	}
	if (!take_turn(daemon, rule))
		return ASTERISM_CONTINUE;
	length = asterism_match_json_text(match, &text);
	if (length < 0) {
		daemon->output.lines_dropped++;
		return ASTERISM_CONTINUE;
	}
	output_match(&daemon->output, unit->name, text, (size_t)length);
	if (clients_want(&daemon->clients, unit->name, false))
		give_match(daemon, match, NULL, text, (size_t)length);
	free(text);
	return ASTERISM_CONTINUE;
}

void daemon_on_aggregate(void *context, struct asterism_rules *rules, const char *json)
{
	struct daemon *daemon = context;
	const char *unit = asterism_rules_name(rules);

	output_match(&daemon->output, unit, json, strlen(json));
	if (clients_want(&daemon->clients, unit, false))
		give_to_judges(daemon, unit, NULL, json, strlen(json));
}

/* Only who may answer can be waited for: where none of them listens, the rule's own answer holds at once. */
int daemon_on_ask(void *context, const struct asterism_match *match, const struct asterism_ask *ask)
{
	struct daemon *daemon = context;
	struct unit *unit = unit_of(match);
	size_t judges;
	char *text;
	int length;

	if (!clients_want(&daemon->clients, unit->name, true))
		return ASTERISM_DEFAULT;
	length = asterism_match_json_text(match, &text);
	if (length < 0)
		return ASTERISM_DEFAULT;
	judges = give_match(daemon, match, ask, text, (size_t)length);
	free(text);
	return judges ? ASTERISM_LATER : ASTERISM_DEFAULT;
}

static void report_refused(struct daemon *daemon, const struct unit *unit, size_t rule)
{
	struct asterism_rule_info info = { .size = sizeof info };
	struct text_buffer line = { 0 };

	if (asterism_rules_info(unit->rules, rule, &info))
		return;
	text_append(&line, "{\"dropped\":{\"unit\":");
	text_json(&line, unit->name);
	text_append(&line, ",\"rule\":");
	text_json(&line, info.name);
	text_printf(&line, ",\"matches\":%" PRIu32 "}}", unit->counts[rule].refused_now);
	if (!line.failure)
		output_line(&daemon->output, line.bytes, line.length);
	text_fini(&line);
	log_line(LOG_LEVEL_WARNING, "%s: %" PRIu32 " matches of rule %s were only counted in the last second",
		 unit->name, unit->counts[rule].refused_now, info.name);
}

/* A rule whose places are all taken no longer sees everything: told the first time. */
static void look_for_crowd(struct daemon *daemon, struct unit *unit, size_t rule)
{
	struct asterism_rule_info info = { .size = sizeof info };
	struct text_buffer line = { 0 };
	uint64_t refused, replaced;

	if (unit->counts[rule].crowded || asterism_rules_crowded(unit->rules, rule, &refused, &replaced) ||
	    !(refused || replaced) || asterism_rules_info(unit->rules, rule, &info))
		return;
	unit->counts[rule].crowded = true;
	text_append(&line, "{\"notice\":\"pool\",\"unit\":");
	text_json(&line, unit->name);
	text_append(&line, ",\"rule\":");
	text_json(&line, info.name);
	text_printf(&line, ",\"refused\":%" PRIu64 ",\"replaced\":%" PRIu64 "}", refused, replaced);
	if (!line.failure)
		output_line(&daemon->output, line.bytes, line.length);
	text_fini(&line);
	log_line(LOG_LEVEL_WARNING,
		 "%s: the pool of rule %s was full: %" PRIu64 " runs were refused, %" PRIu64
		 " were replaced by newer ones; use a larger POOL, LATEST or a shorter WITHIN",
		 unit->name, info.name, refused, replaced);
}

/* A rule that looks for calls no longer sees all that processes do: told the first time. */
static void look_for_bypass(struct daemon *daemon, struct unit *unit, size_t rule)
{
	struct asterism_rule_info info = { .size = sizeof info };
	struct text_buffer line = { 0 };
	uint64_t calls_32bit, io_uring;

	if (unit->counts[rule].bypassed || asterism_rules_bypassed(unit->rules, rule, &calls_32bit, &io_uring) ||
	    !(calls_32bit || io_uring) || asterism_rules_info(unit->rules, rule, &info))
		return;
	unit->counts[rule].bypassed = true;
	text_append(&line, "{\"notice\":\"bypass\",\"unit\":");
	text_json(&line, unit->name);
	text_append(&line, ",\"rule\":");
	text_json(&line, info.name);
	text_printf(&line, ",\"calls_32bit\":%" PRIu64 ",\"io_uring\":%" PRIu64 "}", calls_32bit, io_uring);
	if (!line.failure)
		output_line(&daemon->output, line.bytes, line.length);
	text_fini(&line);
	log_line(LOG_LEVEL_WARNING,
		 "%s: rule %s did not see %" PRIu64 " 32-bit system calls and %" PRIu64
		 " io_uring operations: the kernel raises no event for them",
		 unit->name, info.name, calls_32bit, io_uring);
}

/* A rule that could not read an event, or not whole, may have missed a match: told the first time. */
static void look_for_unread(struct unit *unit, size_t rule)
{
	struct asterism_rule_info info = { .size = sizeof info };
	char last[128] = "", process[32] = "";
	uint64_t unread;
	const char *event;
	uint32_t pid;

	if (unit->counts[rule].unread || asterism_rules_unread(unit->rules, rule, &unread, &event, &pid) || !unread ||
	    asterism_rules_info(unit->rules, rule, &info))
		return;
	unit->counts[rule].unread = true;
	if (pid)
		snprintf(process, sizeof process, " of process %" PRIu32, pid);
	if (event)
		snprintf(last, sizeof last, "; %s: %.64s%s", unread == 1 ? "it was" : "the last one", event, process);
	log_line(LOG_LEVEL_WARNING,
		 "%s: rule %s did not see %" PRIu64 " %s completely: a string could not be read, or was truncated; "
		 "matches may be missing%s; 'asterism record -e %s' records such events",
		 unit->name, info.name, unread, unread == 1 ? "event" : "events", last, event ? event : "EVENT");
}

void daemon_count_second(struct daemon *daemon)
{
	for (struct unit *unit = daemon->units.first; unit; unit = unit->next) {
		for (size_t i = 0; unit->rules && i < asterism_rules_count(unit->rules); i++) {
			if (unit->counts[i].refused_now)
				report_refused(daemon, unit, i);
			look_for_crowd(daemon, unit, i);
			look_for_bypass(daemon, unit, i);
			look_for_unread(unit, i);
			unit->counts[i].handed_now = unit->counts[i].refused_now = 0;
		}
	}
}
