// SPDX-License-Identifier: BSD-2-Clause
/* Prints replies of asterismd. */

#include "cmd/ctl/print.h"

#include "base/text.h"
#include "cmd/text/json-text.h"
#include "cmd/text/json.h"
#include "session/output/result.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char *string_of(const json_t *object, const char *name)
{
	const char *value = json_string_value(json_object_get(object, name));

	return value ? value : "";
}

static long long reply_number(const json_t *object, const char *name)
{
	return (long long)json_integer_value(json_object_get(object, name));
}

/* What others wrote goes to a terminal: control characters are escaped. */
static const char *safe(const char *text, struct text_buffer *buffer, char *memory, size_t size)
{
	text_init_fixed(buffer, memory, size);
	text_append_as(buffer, text, TEXT_VALUE);
	return memory;
}

static void put_counts(struct text_buffer *text, long long one, long long other)
{
	text_printf(text, "  %12lld%12lld", one, other);
}

static void put_words(struct text_buffer *text, const json_t *object, const char *name)
{
	text_append_as(text, string_of(object, name), TEXT_WORDS);
}

static void put_daemon_condition(struct text_buffer *text, const json_t *condition)
{
	long long asked = reply_number(condition, "asked"), was_true = reply_number(condition, "true");

	put_counts(text, asked, was_true);
	if (asked)
		text_printf(text, "%10.3g %%      ", 100.0 * (double)was_true / (double)asked);
	else
		text_printf(text, "%18s", "");
	put_words(text, condition, "condition");
	text_append(text, "\n");
}

static void put_transition(struct text_buffer *text, const json_t *transition)
{
	const json_t *conditions = json_object_get(transition, "conditions");

	put_counts(text, reply_number(transition, "tried"), reply_number(transition, "taken"));
	text_printf(text, "%12lld  ", reply_number(transition, "taken") - reply_number(transition, "failed"));
	put_words(text, transition, "state");
	text_append(text, ": ");
	put_words(text, transition, "event");
	text_append(text, " -> ");
	put_words(text, transition, "target");
	text_append(text, "\n");
	for (size_t i = 0; i < json_array_size(conditions); i++)
		put_daemon_condition(text, json_array_get(conditions, i));
}

/* As `run -v` has it: program/why/transitions.c. */
void ctl_put_transitions(const json_t *why, struct text_buffer *text)
{
	const json_t *transitions = json_object_get(why, "transitions");

	text_printf(text, "  %12s%12s%12s  transition; of a condition: asked, true, share\n", "tried", "taken", "held");
	for (size_t i = 0; i < json_array_size(transitions); i++)
		put_transition(text, json_array_get(transitions, i));
}

static void print_rows(const json_t *rows, void (*print)(const json_t *row))
{
	for (size_t i = 0; i < json_array_size(rows); i++)
		print(json_array_get(rows, i));
}

static void print_rule(const json_t *rule)
{
	const json_t *why = json_object_get(rule, "why");
	struct text_buffer buffer, transitions = { 0 };
	char memory[256];

	printf("  %-24s %-8s %10lld matches  %8lld runs  %6lld lost",
	       safe(string_of(rule, "rule"), &buffer, memory, sizeof memory), string_of(rule, "place"),
	       reply_number(rule, "matches"), reply_number(rule, "runs_opened"), reply_number(rule, "lost"));
	if (reply_number(rule, "refused"))
		printf("  %lld counted but not written", reply_number(rule, "refused"));
	if (reply_number(rule, "below_severity"))
		printf("  %lld below --min-severity", reply_number(rule, "below_severity"));
	putchar('\n');
	if (why)
		ctl_put_transitions(why, &transitions);
	fputs(transitions.bytes ? transitions.bytes : "", stdout);
	text_fini(&transitions);
}

static void print_tally(const json_t *tally)
{
	struct text_buffer buffer;
	char memory[256];

	printf("  %-24s %-8s %10lld\n", safe(string_of(tally, "name"), &buffer, memory, sizeof memory),
	       string_of(tally, "kind"), reply_number(tally, "count"));
}

static void print_unit(const json_t *unit)
{
	const char *error = string_of(unit, "error");
	struct text_buffer buffer;
	char memory[1024];

	printf("%s: %s, ", safe(string_of(unit, "unit"), &buffer, memory, sizeof memory), string_of(unit, "state"));
	if (reply_number(unit, "owner") || *string_of(unit, "from") != 'd')
		printf("loaded by user %lld\n", reply_number(unit, "owner"));
	else
		puts("from the directory");
	if (*error) {
		fputs("  error: ", stdout);
		text_write(stdout, error, TEXT_WORDS);
		putchar('\n');
	}
	print_rows(json_object_get(unit, "rules"), print_rule);
	print_rows(json_object_get(unit, "tallies"), print_tally);
}

/* Who was sent away is nothing that anybody else hears of. */
static void print_sensors(const json_t *sensors)
{
	if (!sensors)
		return;
	printf("sensors: %lld processes, %lld refused, %lld clients disconnected", reply_number(sensors, "processes"),
	       reply_number(sensors, "refused"), reply_number(sensors, "lacking"));
	if (reply_number(sensors, "lacking")) {
		fputs(": ", stdout);
		text_write(stdout, string_of(sensors, "lack"), TEXT_WORDS);
	}
	putchar('\n');
}

void ctl_print_units(const json_t *reply, const char *command)
{
	(void)command;
	const json_t *daemon = json_object_get(reply, "daemon");

	print_rows(json_object_get(reply, "units"), print_unit);
	printf("asterismd: %lld KiB of memory, %lld KiB in the kernel, %.2f s of CPU time, %lld lines lost\n",
	       reply_number(daemon, "rss_bytes") >> 10, reply_number(daemon, "kernel_bytes") >> 10,
	       (double)reply_number(daemon, "cpu_ns") * 1e-9, reply_number(daemon, "lines_dropped"));
	print_sensors(json_object_get(daemon, "sensors"));
}

static void print_value(const json_t *value)
{
	bool is_large = json_is_string(value) && cmd_json_is_number(value);
	char *text = is_large ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);

	fputs(is_large ? json_string_value(value) : text ? text : "?", stdout);
	free(text);
}

/*
 * As the daemon shows them; an older one only sends the names that the match has. What the match does not have is left
 * out.
 */
static void print_values(const json_t *values, const json_t *names, const json_t *shown)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)values, name, value)
	{
		const char *read = json_string_value(json_object_get(shown, name));
		const char *named = read ? read : json_string_value(json_object_get(names, name));

		if (json_is_null(value))
			continue;
		putchar(' ');
		text_write(stdout, name, TEXT_VALUE);
		putchar('=');
		if (named)
			text_write(stdout, named, TEXT_VALUE);
		else
			print_value(value);
	}
}

/* The warning says what the values are. */
static void print_warning(const json_t *warning)
{
	if (!json_string_length(warning))
		return;
	fputs(": ", stdout);
	text_write(stdout, json_string_value(warning), TEXT_WORDS);
}

static void print_trail(const json_t *match)
{
	const json_t *trail = json_object_get(match, "trail");

	for (size_t i = 0; i < json_array_size(trail); i++) {
		const json_t *step = json_array_get(trail, i);
		struct text_buffer buffers[3];
		char ago[RESULT_AGO_BYTES], memory[3][256];

		result_print_ago((uint64_t)reply_number(step, "ts"), (uint64_t)reply_number(match, "ts"), ago);
		printf("  %14s  %s: %s -> %s (process %lld, thread %lld)\n", ago,
		       safe(string_of(step, "event"), &buffers[0], memory[0], sizeof memory[0]),
		       safe(string_of(step, "from"), &buffers[1], memory[1], sizeof memory[1]),
		       safe(string_of(step, "to"), &buffers[2], memory[2], sizeof memory[2]), reply_number(step, "pid"),
		       reply_number(step, "tid"));
	}
}

static void print_match(const json_t *match, const json_t *shown)
{
	struct text_buffer buffer;
	char memory[256];

	printf("%s", safe(string_of(match, "match"), &buffer, memory, sizeof memory));
	printf(" by %s (process %lld, thread %lld)", safe(string_of(match, "comm"), &buffer, memory, sizeof memory),
	       reply_number(match, "pid"), reply_number(match, "tid"));
	if (json_object_get(match, "warning"))
		print_warning(json_object_get(match, "warning"));
	else
		print_values(json_object_get(match, "return"), json_object_get(match, "names"), shown);
	putchar('\n');
	print_trail(match);
}

void ctl_print_result(const json_t *reply, const char *command)
{
	const json_t *result = json_object_get(reply, "result");
	struct text_buffer buffer;
	char memory[256];

	printf("%s: ", safe(string_of(reply, "unit"), &buffer, memory, sizeof memory));
	if (json_object_get(result, "match"))
		print_match(result, json_object_get(reply, "shown"));
	else /* what matches come to is a row of any shape */
		json_text_put(json_incref((json_t *)result));
	if (reply_number(reply, "ticket"))
		printf("It is stopped and waits: '%s continue %lld' or '%s abort %lld'\n", command,
		       reply_number(reply, "ticket"), command, reply_number(reply, "ticket"));
	if (reply_number(reply, "dropped"))
		printf("%lld results before it were lost\n", reply_number(reply, "dropped"));
}
