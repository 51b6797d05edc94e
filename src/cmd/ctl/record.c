// SPDX-License-Identifier: BSD-2-Clause
/*
 * Asks the daemon for recordings. What rules need is found out here, as a list of names: the daemon reads no rules for
 * it.
 */

#include "cmd/ctl/record.h"

#include "base/alloc.h"
#include "base/text.h"
#include "cli/print.h"
#include "cmd/input/rules.h"
#include "cmd/options/status.h"
#include "cmd/text/json-text.h"
#include "session/record/selection.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* An operand is a name unless it stands for rules. */
static bool is_rule(const char *operand)
{
	return *operand == '@' || strpbrk(operand, "./");
}

static int out_of_memory(void)
{
	cli_error("out of memory");
	return STATUS_USAGE;
}

static int take_body(struct asking *asking, json_t *request, struct text_buffer *events)
{
	size_t length = events->length;

	if (length && text_take(events, &asking->body))
		return out_of_memory();
	asking->body_length = length;
	json_object_set_new(request, "length", json_integer((json_int_t)length));
	return STATUS_FINE;
}

/* What the rules look at, by name. */
static int name_events(struct session_rules *rules, struct text_buffer *events)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct selection selection = { 0 };
	int result =
		selection_add_program(&selection, session_rules_catalog(rules), session_rules_program(rules), diag);

	for (size_t i = 0; i < selection.count && !result; i++) {
		text_append(events, events->length ? "," : "");
		text_append(events, selection.events[i].type->name);
	}
	selection_fini(&selection);
	if (diag)
		cli_print(diag);
	asterism_diag_free(diag);
	return cmd_status_of(result);
}

static int add_operand_rules(struct asking *asking, size_t first, struct text_buffer *events)
{
	struct session_rules *rules = NULL;
	int status;

	if (first == asking->operand_count && !cli_has(asking->arguments, OPTION_RULE))
		return STATUS_FINE;
	status = cmd_read_rules(asking->arguments, asking->operands + first, asking->operand_count - first, &rules);
	if (!status)
		status = name_events(rules, events);
	session_rules_free(rules);
	return status;
}

static void add_wanted(const struct asking *asking, struct text_buffer *events)
{
	const char *wanted = asking->arguments->options[OPTION_EVENTS].text;

	if (!wanted)
		return;
	text_append(events, events->length ? "," : "");
	text_append(events, wanted);
}

/* Sizes and times, as far as they are given. */
static void add_kind(const struct asking *asking, json_t *request)
{
	static const struct {
		enum option_id id;
		const char *name;
	} rows[] = { { OPTION_MAX_SIZE, "max_bytes" }, { OPTION_RING, "ring_bytes" }, { OPTION_LAST, "last_ns" } };

	json_object_set_new(request, "flight", json_boolean(cli_has(asking->arguments, OPTION_FLIGHT)));
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (cli_has(asking->arguments, rows[i].id))
			json_object_set_new(request, rows[i].name,
					    json_integer((json_int_t)asking->arguments->options[rows[i].id].number));
}

int ctl_record_start(struct asking *asking, json_t *request)
{
	struct text_buffer events = { 0 };
	size_t first = asking->operand && !is_rule(asking->operand);
	int status = STATUS_FINE;

	for (size_t i = first; i < asking->operand_count; i++)
		if (!is_rule(asking->operands[i])) {
			cli_error("a recording has only one name: '%s' is a second one", asking->operands[i]);
			cli_hint("name events with -e, and rule files by a path");
			return STATUS_USAGE;
		}
	if (first)
		json_object_set_new(request, "recording", json_text(asking->operand));
	add_kind(asking, request);
	status = add_operand_rules(asking, first, &events);
	add_wanted(asking, &events);
	if (!status)
		status = take_body(asking, request, &events);
	text_fini(&events);
	return status;
}

static void name_option(const struct asking *asking, json_t *request)
{
	const char *name = asking->arguments->options[OPTION_RECORDING].text;

	if (name)
		json_object_set_new(request, "recording", json_text(name));
}

int ctl_record_mask(struct asking *asking, json_t *request)
{
	struct text_buffer events = { 0 };
	int status;

	name_option(asking, request);
	for (size_t i = 0; i < asking->operand_count; i++)
		text_printf(&events, "%s%s", events.length ? "," : "", asking->operands[i]);
	add_wanted(asking, &events);
	if (events.length) {
		status = take_body(asking, request, &events);
	} else {
		cli_error("no events were named to record from now on");
		cli_hint("'asterism ctl record mask sched_switch,sched_wakeup' records exactly these; '+NAME' adds and "
			 "'!NAME' removes one");
		status = STATUS_USAGE;
	}
	text_fini(&events);
	return status;
}

int ctl_record_name(struct asking *asking, json_t *request)
{
	name_option(asking, request);
	if (asking->operand)
		json_object_set_new(request, "recording", json_text(asking->operand));
	return STATUS_FINE;
}

static const char *record_string(const json_t *object, const char *name)
{
	const char *value = json_string_value(json_object_get(object, name));

	return value ? value : "";
}

static long long member_number(const json_t *object, const char *name)
{
	return (long long)json_integer_value(json_object_get(object, name));
}

static void put_named_string(const json_t *object, const char *name)
{
	text_write(stdout, record_string(object, name), TEXT_WORDS);
}

static void put_byte_count(long long bytes)
{
	if (bytes < 10 << 20)
		printf("%lld KiB", bytes >> 10);
	else
		printf("%lld MiB", bytes >> 20);
}

static const char *plural(long long count)
{
	return count == 1 ? "" : "s";
}

void ctl_print_record_started(const json_t *reply, const char *command)
{
	long long types = member_number(reply, "types");

	(void)command;
	put_named_string(reply, "recording");
	printf(": %lld type%s of events recorded, ", types, plural(types));
	if (json_is_true(json_object_get(reply, "flight"))) {
		fputs("kept in memory; snapshots go to ", stdout);
	} else {
		fputs("the newest ", stdout);
		put_byte_count(member_number(reply, "max_bytes"));
		fputs(" in ", stdout);
	}
	put_named_string(reply, "trace");
	putchar('\n');
}

void ctl_print_record_masked(const json_t *reply, const char *command)
{
	long long types = member_number(reply, "types");

	(void)command;
	put_named_string(reply, "recording");
	printf(": %lld type%s of events recorded from here on\n", types, plural(types));
}

static void print_losses(const json_t *counts)
{
	static const struct {
		const char *name, *text;
	} reasons[] = {
		{ "overwritten", "came faster than they could be written" },
		{ "unwritten", "could not be written" },
		{ "dropped", "found no room in the ring" },
		{ "unread", "lie in memory that could not be read" },
		{ "missed", "did not reach the program in the kernel" },
		{ "calls_32bit", "are system calls of 32-bit code, which raise no event" },
		{ "io_uring", "are operations of io_uring, which raise no event" },
		{ "snapshots_cut", "are incomplete snapshots" },
	};

	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (member_number(counts, reasons[i].name))
			printf("  lost: %lld %s\n", member_number(counts, reasons[i].name), reasons[i].text);
}

static void print_counts(const json_t *counts)
{
	long long events = member_number(counts, "events"), snapshots = member_number(counts, "snapshots");

	printf("%lld event%s, %lld lost, ", events, plural(events), member_number(counts, "lost"));
	if (json_is_true(json_object_get(counts, "flight")))
		printf("%lld snapshot%s, ", snapshots, plural(snapshots));
	put_byte_count(member_number(counts, "bytes"));
}

void ctl_print_record_stopped(const json_t *reply, const char *command)
{
	(void)command;
	put_named_string(reply, "recording");
	fputs(": ", stdout);
	print_counts(reply);
	fputs(" in ", stdout);
	put_named_string(reply, "trace");
	putchar('\n');
	print_losses(reply);
}

void ctl_print_record_flushed(const json_t *reply, const char *command)
{
	(void)command;
	fputs("all of ", stdout);
	put_named_string(reply, "recording");
	fputs(" up to now is in ", stdout);
	put_named_string(reply, "trace");
	putchar('\n');
}

void ctl_print_record_snapshot(const json_t *reply, const char *command)
{
	(void)command;
	put_named_string(reply, "trace");
	putchar('/');
	put_named_string(reply, "snapshot");
	putchar('\n');
}

static void print_recording(const json_t *recording)
{
	const json_t *types = json_object_get(recording, "types");

	put_named_string(recording, "recording");
	printf(": %s, begun by user %lld %lld s ago, ",
	       json_is_true(json_object_get(recording, "flight")) ? "kept in memory" : "written",
	       member_number(recording, "owner"), member_number(recording, "age_ns") / 1000000000);
	print_counts(recording);
	putchar('\n');
	if (*record_string(recording, "error")) {
		fputs("  error: ", stdout);
		put_named_string(recording, "error");
		putchar('\n');
	}
	print_losses(recording);
	printf("  %zu type%s of events, changed %lld time%s:", json_array_size(types),
	       plural((long long)json_array_size(types)), member_number(recording, "masked"),
	       plural(member_number(recording, "masked")));
	for (size_t i = 0; i < json_array_size(types) && i < 12; i++) {
		const char *name = json_string_value(json_array_get(types, i));

		putchar(' ');
		text_write(stdout, name ? name : "", TEXT_WORDS);
	}
	puts(json_array_size(types) > 12 ? " ..." : "");
}

void ctl_print_record_status(const json_t *reply, const char *command)
{
	const json_t *recordings = json_object_get(reply, "recordings");
	long long traces = member_number(reply, "traces");

	(void)command;
	for (size_t i = 0; i < json_array_size(recordings); i++)
		print_recording(json_array_get(recordings, i));
	if (!json_array_size(recordings))
		puts("nothing is being recorded");
	if (!*record_string(reply, "folder"))
		return;
	printf("%lld trace%s in ", traces, plural(traces));
	put_named_string(reply, "folder");
	fputs(", ", stdout);
	put_byte_count(member_number(reply, "bytes"));
	fputs(" of ", stdout);
	put_byte_count(member_number(reply, "bytes_max"));
	putchar('\n');
}
