// SPDX-License-Identifier: BSD-2-Clause
/* `asterism ctl`: what asterismd is asked for. */

#include "base/alloc.h"
#include "base/text.h"
#include "cli/print.h"
#include "cmd/ctl/asking.h"
#include "cmd/ctl/client.h"
#include "cmd/ctl/print.h"
#include "cmd/ctl/record.h"
#include "cmd/input/library.h"
#include "cmd/options/commands.h"
#include "cmd/options/status.h"
#include "cmd/text/json-text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPERANDS_MAX = 64,
	RULES_BYTES_MAX = 1 << 24,
	UNIT_CHARACTERS_MAX = 64,
	WORD_BYTES = 24,
	TIMEOUT_MS = 30 * 1000
};

/* For a daemon that is busy with loading; beyond the time that it waits itself; and for one that is there. */
#define BUSY_NS     UINT64_C(90000000000)
#define GRACE_NS    UINT64_C(5000000000)
#define SHORTEST_NS UINT64_C(1000000)

static int name_unit(struct asking *asking, json_t *request)
{
	if (asking->operand)
		json_object_set_new(request, "unit", json_text(asking->operand));
	return STATUS_FINE;
}

/* The name of a unit that has been made from a file: no folder, no suffix, and other characters are dashes. */
static void unit_of_file(const char *file, char name[UNIT_CHARACTERS_MAX + 1])
{
	const char *slash = strrchr(file, '/');
	size_t length;

	snprintf(name, UNIT_CHARACTERS_MAX + 1, "%s", slash ? slash + 1 : file);
	length = strlen(name);
	if (length > 5 && (strcmp(name + length - 5, ".rule") == 0 || strcmp(name + length - 5, ".astc") == 0))
		name[length - 5] = 0;
	for (char *c = name; *c; c++)
		if (!isascii(*c) || (!isalnum((unsigned char)*c) && *c != '_'))
			*c = '-';
}

/* Reads the operand, a file or a shipped rule, and gives the name of its unit. */
static int read_unit_operand(struct asking *asking, char name[UNIT_CHARACTERS_MAX + 1])
{
	struct asterism_diag *diag = asterism_diag_new();
	struct library_files resolved;
	int status = library_resolve(&asking->operand, 1, &resolved);

	if (!status && resolved.count != 1) {
		cli_error("a unit is a single file, but %s has several", asking->operand);
		status = STATUS_USAGE;
	}
	if (!status && library_text(resolved.files, RULES_BYTES_MAX, diag, &asking->body, &asking->body_length))
		status = STATUS_USAGE;
	if (!status)
		unit_of_file(resolved.files[0].path, name);
	cli_print(diag);
	asterism_diag_free(diag);
	library_files_fini(&resolved);
	return status;
}

static int send_file(struct asking *asking, json_t *request)
{
	char name[UNIT_CHARACTERS_MAX + 1];
	int status = read_unit_operand(asking, name);

	if (status)
		return status;
	json_object_set_new(request, "unit", json_text(asking->operand_count > 1 ? asking->operands[1] : name));
	json_object_set_new(request, "length", json_integer((json_int_t)asking->body_length));
	json_object_set_new(request, "activate", json_true());
	return STATUS_FINE;
}

static int wait_for(struct asking *asking, json_t *request)
{
	const struct cli_value *timeout = &asking->arguments->options[OPTION_TIMEOUT];

	json_object_set_new(request, "timeout_ms",
			    json_integer(timeout->text ? (json_int_t)(timeout->number / 1000000) : TIMEOUT_MS));
	return name_unit(asking, request);
}

static int give_ticket(struct asking *asking, json_t *request)
{
	char *end;
	unsigned long long ticket;

	errno = 0;
	ticket = strtoull(asking->operand, &end, 10);
	if (errno || *end || !isdigit((unsigned char)*asking->operand) || ticket == 0 || ticket > INT64_MAX) {
		cli_error("'%s' is not a ticket", asking->operand);
		cli_hint("'%s next' shows the ticket of a verdict request", asking->command);
		return STATUS_USAGE;
	}
	json_object_set_new(request, "ticket", json_integer((json_int_t)ticket));
	return STATUS_FINE;
}

static void print_version(const json_t *reply, const char *command)
{
	(void)command;
	const char *version = json_string_value(json_object_get(reply, "version"));

	fputs("asterismd ", stdout);
	text_write(stdout, version ? version : "", TEXT_WORDS);
	puts(" runs");
}

static void print_loaded(const json_t *reply, const char *command)
{
	(void)command;
	const char *unit = json_string_value(json_object_get(reply, "unit"));
	long long rules = json_integer_value(json_object_get(reply, "rules"));

	text_write(stdout, unit ? unit : "", TEXT_WORDS);
	printf(": %lld rule%s loaded\n", rules, rules == 1 ? "" : "s");
}

static void print_reloaded(const json_t *reply, const char *command)
{
	long long units = json_integer_value(json_object_get(reply, "units"));
	long long wrong = json_integer_value(json_object_get(reply, "wrong"));

	printf("reloaded: %lld unit%s", units, units == 1 ? "" : "s");
	if (wrong)
		printf(", %lld file%s with errors (see '%s query')", wrong, wrong == 1 ? "" : "s", command);
	putchar('\n');
}

enum {
	PING,
	LOAD,
	UNLOAD,
	QUERY,
	ACTIVATE,
	DEACTIVATE,
	NEXT,
	CONTINUE,
	ABORT,
	RELOAD,
	START,
	STOP,
	MASK,
	FLUSH,
	TAKE,
	STATUS,
	OPERATIONS
};

static const struct cli_entry rows[OPERATIONS + 1] = {
	[PING] = { "ping", { "check whether asterismd is running" } },
	[LOAD] = { "load FILE [UNIT]", { "load a rule file (text or image) as a unit and activate it" } },
	[UNLOAD] = { "unload UNIT", { "unload a unit" } },
	[QUERY] = { "query [UNIT]", { "show one or all units: their rules, counts and errors" } },
	[ACTIVATE] = { "activate UNIT", { "activate a unit" } },
	[DEACTIVATE] = { "deactivate UNIT", { "deactivate a unit" } },
	[NEXT] = { "next [UNIT]", { "wait for the next match" } },
	[CONTINUE] = { "continue TICKET", { "answer a verdict request: the process continues" } },
	[ABORT] = { "abort TICKET", { "answer a verdict request: the process gets its signal" } },
	[RELOAD] = { "reload", { "reload the rules directory; units with unchanged files keep running" } },
	[START] = { "record start [NAME] [RULE...]",
		    { "start a recording in the daemon's directory: of the default events, the events of -e, or those "
		      "that rules need; RULE is @NAME or a path" } },
	[STOP] = { "record stop [NAME]", { "end a recording" } },
	[MASK] = { "record mask EVENT...",
		   { "record exactly these events from now on; +EVENT adds one, !EVENT removes one" } },
	[FLUSH] = { "record flush [NAME]", { "write everything recorded so far" } },
	[TAKE] = { "record snapshot [NAME]", { "write what a recording with --flight holds" } },
	[STATUS] = { "record status [NAME]", { "show what is being recorded, and what was lost" } },
};

static const struct operation operations[OPERATIONS] = {
	[PING] = { "ping", 1, 0, 0, NULL, print_version },
	[LOAD] = { "load", 1, 1, 2, send_file, print_loaded },
	[UNLOAD] = { "unload", 1, 1, 1, name_unit, NULL },
	[QUERY] = { "query", 1, 0, 1, name_unit, ctl_print_units },
	[ACTIVATE] = { "activate", 1, 1, 1, name_unit, NULL },
	[DEACTIVATE] = { "deactivate", 1, 1, 1, name_unit, NULL },
	[NEXT] = { "next-result", 1, 0, 1, wait_for, ctl_print_result },
	[CONTINUE] = { "continue", 1, 1, 1, give_ticket, NULL },
	[ABORT] = { "abort", 1, 1, 1, give_ticket, NULL },
	[RELOAD] = { "reload", 1, 0, 0, NULL, print_reloaded, "wrong", STATUS_USAGE },
	[START] = { "record-start", 2, 0, OPERANDS_MAX, ctl_record_start, ctl_print_record_started },
	[STOP] = { "record-stop", 2, 0, 1, ctl_record_name, ctl_print_record_stopped, "lost", STATUS_LOST },
	[MASK] = { "record-mask", 2, 0, OPERANDS_MAX, ctl_record_mask, ctl_print_record_masked },
	[FLUSH] = { "record-flush", 2, 0, 1, ctl_record_name, ctl_print_record_flushed },
	[TAKE] = { "record-snapshot", 2, 0, 1, ctl_record_name, ctl_print_record_snapshot },
	[STATUS] = { "record-status", 2, 0, 1, ctl_record_name, ctl_print_record_status },
};

/* The words of a row that name its operation, as they are typed. */
static void operation_name(size_t row, char name[WORD_BYTES])
{
	const char *end = rows[row].term;

	for (unsigned i = 0; i < operations[row].words; i++)
		end += strcspn(end + (i > 0), " ") + (i > 0);
	snprintf(name, WORD_BYTES, "%.*s", (int)(end - rows[row].term), rows[row].term);
}

/* What is asked for, with its words in typed. */
static const struct operation *find_operation(const struct cli_arguments *arguments, char typed[WORD_BYTES])
{
	char names[OPERATIONS][WORD_BYTES];
	const char *known[OPERATIONS], *nearest;
	bool is_record = strcmp(arguments->operands[0], "record") == 0;

	snprintf(typed, WORD_BYTES, "%s%s%s", arguments->operands[0], is_record ? " " : "",
		 !is_record                     ? ""
		 : arguments->operand_count > 1 ? arguments->operands[1]
						: "status");
	for (size_t i = 0; i < OPERATIONS; i++) {
		operation_name(i, names[i]);
		if (strcmp(names[i], typed) == 0)
			return &operations[i];
		known[i] = names[i];
	}
	nearest = diag_nearest(typed, known, OPERATIONS);
	cli_error("asterism ctl has no operation '%s'", typed);
	if (nearest)
		cli_hint("did you mean %s?", nearest);
	else
		cli_hint("'asterism ctl --help' lists the operations");
	return NULL;
}

/* The status that a refusal stands for. */
static int refused(const json_t *reply)
{
	const char *word = json_string_value(json_object_get(reply, "error"));
	const char *message = json_string_value(json_object_get(reply, "message"));

	cli_error("%s", message ? message : "asterismd refused this");
	if (word && strcmp(word, "timeout") == 0)
		return STATUS_MATCH;
	return word && strcmp(word, "denied") == 0 ? STATUS_KERNEL : STATUS_USAGE;
}

/* What else the daemon says, such as that actions are only reported: the results stay as they are. */
static void report_notes(const json_t *reply)
{
	const json_t *note;
	size_t i;

	json_array_foreach(json_object_get(reply, "notes"), i, note)
	{
		if (json_is_string(note))
			cli_note("asterismd: %s", json_string_value(note));
	}
}

static int show_reply(const struct asking *asking, const json_t *reply)
{
	const char *failed = asking->operation->failed;
	bool is_fine = json_is_true(json_object_get(reply, "ok"));

	if (asking->arguments->options[OPTION_FORMAT_EVENTS].number == 1) {
		json_text_put(json_incref((json_t *)reply));
	} else if (is_fine) {
		report_notes(reply);
		if (asking->operation->print)
			asking->operation->print(reply, asking->command);
	}
	if (!is_fine)
		return refused(reply);
	return failed && json_integer_value(json_object_get(reply, failed)) ? asking->operation->failed_status
									    : STATUS_FINE;
}

/* A daemon that waits for a result itself says so when its time is up, and gets some more to do it. */
static uint64_t patience_of(const struct asking *asking)
{
	const struct cli_value *timeout = &asking->arguments->options[OPTION_TIMEOUT];
	uint64_t wanted_ns = timeout->text ? (uint64_t)timeout->number : BUSY_NS;

	return asking->operation->prepare == wait_for ? wanted_ns + GRACE_NS
	       : wanted_ns > SHORTEST_NS              ? wanted_ns
						      : SHORTEST_NS;
}

static int ask_daemon(struct asking *asking)
{
	const char *path = asking->arguments->options[OPTION_SOCKET].text;
	const struct ctl_way way = { .path = path ? path : "/run/asterism.sock", .patience_ns = patience_of(asking) };
	json_t *request = json_pack("{s:s}", "op", asking->operation->op), *reply = NULL;
	int status = STATUS_FINE;

	if (asking->operation->prepare)
		status = asking->operation->prepare(asking, request);
	if (status) {
		json_decref(request);
		return status;
	}
	status = ctl_ask(&way, request, asking->body, asking->body_length, &reply);
	if (!status)
		status = show_reply(asking, reply);
	json_decref(reply);
	return status;
}

/* A word as a shell takes it. */
static void append_word(struct text_buffer *command, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+,:@%";

	if (word[strspn(word, plain)] == 0)
		return text_append(command, word);
	text_append(command, "'");
	for (; *word; word++)
		text_append_bytes(command, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
	text_append(command, "'");
}

/* `asterism ctl` with the socket. */
static char *command_for(const char *socket)
{
	struct text_buffer command = { 0 };
	char *text = NULL;

	text_append(&command, "asterism ctl");
	if (socket) {
		text_append(&command, " --socket ");
		append_word(&command, socket);
	}
	text_take(&command, &text);
	return text;
}

static int run_ctl(const struct cli_arguments *arguments)
{
	char typed[WORD_BYTES];
	struct asking asking = { .arguments = arguments, .operation = find_operation(arguments, typed) };
	size_t words, count;
	int status;

	if (!asking.operation)
		return STATUS_USAGE;
	words = asking.operation->words < arguments->operand_count ? asking.operation->words : arguments->operand_count;
	count = arguments->operand_count - words;
	if (count < asking.operation->operands_min || count > asking.operation->operands_max) {
		cli_error(count < asking.operation->operands_min ? "'asterism ctl %s' needs an argument"
								 : "too many arguments for 'asterism ctl %s'",
			  typed);
		cli_hint("try 'asterism ctl --help'");
		return STATUS_USAGE;
	}
	char *command = command_for(arguments->options[OPTION_SOCKET].text);

	asking.operands = arguments->operands + words;
	asking.operand_count = count;
	asking.operand = count ? asking.operands[0] : NULL;
	asking.command = command ? command : "asterism ctl";
	status = ask_daemon(&asking);
	alloc_free(command);
	alloc_free(asking.body);
	return status;
}

static const struct cli_example examples[] = {
	{ "asterism ctl query", "Lists the units of rules, and how many matches each has." },
	{ "asterism ctl load slow-syscall.rule", "Runs the rules of the file as the unit slow-syscall." },
	{ "asterism ctl next slow-syscall --timeout 1min", "Waits for the next match of the unit." },
	{ "asterism ctl record start lunch -e 'sched_*' --max-size 200M", "Records the scheduler's events." },
	{ "asterism ctl record mask '!sched_waking' +page_fault_user",
	  "Changes which events the running recording holds." },
	{ NULL, NULL },
};

const struct cli_command cmd_ctl = {
	.name = "ctl",
	.summary = "control asterismd, the daemon that runs rules",
	.operands = "OPERATION [OPERAND...]",
	.description = "Sends a request to asterismd at its control socket, and shows the reply.\n\nA rule can ask for "
		       "a verdict on a process. Such a request has a ticket, which 'next' shows.\n\nMembers of the "
		       "socket's group may ping, query, wait for results, load rules that do not change the system, "
		       "and manage the units that they loaded. Everything else is reserved for root, and so are "
		       "recordings unless the daemon was started with --clients-record. Traces always belong to root.",
	.words = &(const struct cli_section){ .title = "OPERATIONS", .heading = "Operations", .entries = rows },
	.options = { OPTION_EVENTS, OPTION_FLIGHT, OPTION_FORMAT_EVENTS, OPTION_LAST, OPTION_MAX_SIZE, OPTION_RECORDING,
		     OPTION_RING, OPTION_RULE, OPTION_SOCKET, OPTION_TIMEOUT },
	.examples = examples,
	.operands_min = 1,
	.operands_max = OPERANDS_MAX,
	.run = run_ctl,
};
