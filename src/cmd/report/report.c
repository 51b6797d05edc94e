// SPDX-License-Identifier: BSD-2-Clause
/* `asterism report`: what a recording tells about threads, CPUs and time. */

#include "base/diag.h"
#include "cli/print.h"
#include "cmd/input/inputs.h"
#include "cmd/options/commands.h"
#include "cmd/options/status.h"
#include "cmd/report/exports.h"
#include "cmd/report/functions.h"
#include "cmd/report/progress.h"
#include "cmd/report/rules.h"
#include "cmd/text/output.h"
#include "cmd/text/signals.h"
#include "report/kind/kinds.h"
#include "report/page/page.h"
#include "report/pass.h"
#include "report/table.h"
#include "trace/ctf/read.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { REPORTS_MAX = 32, ROWS_SHOWN = 30, PAGE_ROWS = 1000, PAGE_BYTES = 32 << 20, LARGE_BYTES = 1 << 20 };

typedef int (*picture_writer)(struct report *report, FILE *stream);

struct command {
	struct inputs inputs;
	struct report_rules *rules; /* NULL: none run over the traces */
	struct functions functions;
	struct exports exports;
	bool is_silent; /* the exports are all that is wanted */
	struct report_pass *pass;
	struct report *reports[REPORTS_MAX];
	size_t report_count;
	struct report *page; /* NULL: none is written */
	uint64_t page_bytes_max;
	const struct report_form *form;
	picture_writer picture; /* written in place of a form; or NULL */
	const char *file;       /* NULL: standard output */
};

/* Forms in the order of the choices of -f, with the endings of files that mean them. */
static const struct {
	const struct report_form *form; /* NULL: it is a picture */
	bool is_graph;
	const char *ending;
} forms[] = {
	{ &report_form_text, false, ".txt" },
	{ &report_form_json, false, ".json" },
	{ &report_form_csv, false, ".csv" },
	{ &report_form_html, false, ".html" },
	{ NULL, false, ".svg" },
	{ NULL, true, ".dot" },
};

enum { FORMS = sizeof forms / sizeof *forms };

/* The ending of a file's name, or NULL. */
static const char *ending_of(const char *file)
{
	const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file, *dot = strrchr(base, '.');

	return dot > base ? dot : NULL;
}

static picture_writer picture_of(const struct report_kind *kind, size_t form)
{
	return forms[form].is_graph ? kind->graph : kind->draw;
}

/* The picture is that of the report that only names. */
static int choose_picture(struct command *command, const char *only, size_t form)
{
	struct text_buffer names = { 0 };

	for (const struct report_kind *const *kind = report_kinds; *kind; kind++) {
		if (!picture_of(*kind, form))
			continue;
		text_printf(&names, "%s%s", names.length ? ", " : "", (*kind)->name);
		if (only && strcmp((*kind)->name, only) == 0)
			command->picture = picture_of(*kind, form);
	}
	if (!command->picture) {
		cli_error("%s can show only one report", forms[form].ending);
		cli_hint("name it with --only: %s", names.bytes ? names.bytes : "");
	}
	text_fini(&names);
	return command->picture ? STATUS_FINE : STATUS_USAGE;
}

static int choose_form(struct command *command, const struct cli_arguments *arguments)
{
	const char *file = arguments->options[OPTION_OUTPUT].text, *ending = file ? ending_of(file) : NULL;
	size_t form = 0;

	if (cli_has(arguments, OPTION_FORMAT_REPORT)) {
		form = arguments->options[OPTION_FORMAT_REPORT].number;
	} else if (ending) {
		while (form < FORMS && strcmp(ending, forms[form].ending) != 0)
			form++;
	}
	if (form == FORMS) {
		cli_error("reports cannot be written as %s: %s", ending, file);
		cli_hint("use .txt, .json, .csv, .html, .svg or .dot; -f text writes text to a file of any name");
		return STATUS_USAGE;
	}
	command->form = forms[form].form;
	return command->form ? STATUS_FINE : choose_picture(command, arguments->options[OPTION_ONLY].text, form);
}

static int unknown_report(const char *name, size_t length)
{
	const char *names[REPORTS_MAX], *nearest;
	char wanted[64];
	size_t count = 0;

	for (const struct report_kind *const *kind = report_kinds; *kind; kind++)
		names[count++] = (*kind)->name;
	snprintf(wanted, sizeof wanted, "%.*s", (int)length, name);
	nearest = diag_nearest(wanted, names, count);
	cli_error("unknown report '%s'", wanted);
	if (nearest)
		cli_hint("did you mean %s?", nearest);
	return STATUS_USAGE;
}

static bool is_report_named(const char *only, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = only; at; at = strchr(at, ','), at = at ? at + 1 : NULL) {
		if (strcspn(at, ",") == length && memcmp(at, name, length) == 0)
			return true;
	}
	return false;
}

/* Whether all names in only are those of reports. */
static int check_only(const char *only)
{
	for (const char *at = only; at && *at; at += strcspn(at, ","), at += *at == ',') {
		size_t length = strcspn(at, ",");
		bool found = false;

		for (const struct report_kind *const *kind = report_kinds; *kind && !found; kind++)
			found = strlen((*kind)->name) == length && memcmp((*kind)->name, at, length) == 0;
		if (!found)
			return unknown_report(at, length);
	}
	return STATUS_FINE;
}

static int report_no_memory(void)
{
	cli_error("out of memory");
	return STATUS_USAGE;
}

/* The page listens for itself, beside the reports whose tables it has. */
static int add_page(struct command *command, const struct cli_arguments *arguments)
{
	const struct cli_value *size = &arguments->options[OPTION_SIZE];

	if (command->form != &report_form_html)
		return STATUS_FINE;
	if (report_page.open(report_pass_view(command->pass), &command->page))
		return report_no_memory();
	command->page_bytes_max = size->text ? size->number : PAGE_BYTES;
	report_page_limit(command->page, command->page_bytes_max);
	return report_pass_add(command->pass, command->page) ? report_no_memory() : STATUS_FINE;
}

static int add_reports(struct command *command, const char *only)
{
	const struct report_view *view = report_pass_view(command->pass);

	for (const struct report_kind *const *kind = report_kinds; *kind; kind++) {
		struct report **report = &command->reports[command->report_count];

		if (only ? !is_report_named(only, (*kind)->name) : (*kind)->is_asked)
			continue;
		if ((*kind)->open(view, report))
			return report_no_memory();
		**report = (struct report){ .kind = *kind, .view = view };
		command->report_count++;
		if (report_pass_add(command->pass, *report))
			return report_no_memory();
	}
	return STATUS_FINE;
}

/* A trace of ours declares what it was to hold. */
static void tell_held(struct command *command, const struct cli_arguments *arguments)
{
	const struct event_type *type;

	for (size_t i = 0; i < command->inputs.count; i++) {
		if (!trace_ctf_is_own(arguments->operands[i]))
			continue;
		for (size_t j = 0; (type = event_catalog_get(command->inputs.catalogs[i], j)); j++)
			report_pass_hold(command->pass, type);
	}
}

static struct report_options options_of(struct command *command, const struct cli_arguments *arguments)
{
	const struct cli_value *from = &arguments->options[OPTION_FROM], *to = &arguments->options[OPTION_TO];

	return (struct report_options){
		.function = cli_has(arguments, OPTION_REDACT) ? NULL : functions_name,
		.context = &command->functions,
		.from_ns = from->text ? from->number : 0,
		.to_ns = to->text ? to->number : UINT64_MAX,
		.from_is_relative = from->text && *from->text != '@',
		.to_is_relative = to->text && *to->text != '@',
		.is_redacted = cli_has(arguments, OPTION_REDACT),
		.pair = arguments->options[OPTION_PAIR].text,
		.tid = cli_has(arguments, OPTION_THREAD) ? (uint32_t)arguments->options[OPTION_THREAD].number : 0,
	};
}

static int read_report_input(struct command *command)
{
	struct progress progress = { .source = command->inputs.source };
	struct event event;
	bool is_empty = true;
	int result = 0;

	while (!result && inputs_next(&command->inputs, &event)) {
		is_empty = false;
		result = report_rules_tell(command->rules, command->pass, event.record->ts);
		if (!result)
			result = report_pass_event(command->pass, &event);
		progress_count(&progress);
	}
	progress_hide(&progress);
	if (is_empty && command->inputs.errors) {
		cli_error("nothing to report: no event could be read");
		return STATUS_USAGE;
	}
	if (result >= 0 && report_rules_tell(command->rules, command->pass, UINT64_MAX))
		result = -ENOMEM;
	if (result >= 0)
		result = report_pass_finish(command->pass);
	return result ? report_no_memory() : STATUS_FINE;
}

static int write_page(struct command *command, const struct report_tables *tables, const char *trace)
{
	const char *name = strrchr(trace, '/');
	struct report_page_options page = {
		.title = name && name[1] != '\0' ? name + 1 : trace,
		.reports = command->reports,
		.count = command->report_count,
		.rows_most = tables->rows_most == ROWS_SHOWN ? PAGE_ROWS : tables->rows_most,
	};
	int result = report_page_write(tables->stream, command->page, &page);
	uint64_t bytes = report_page_bytes(command->page);

	if (!result && command->page_bytes_max && bytes > command->page_bytes_max)
		cli_warning("the page has %" PRIu64
			    " bytes, more than --size: it has no exact slices, and nothing more "
			    "can be left out",
			    bytes);
	return result;
}

static int write_form(struct command *command, struct report_tables *tables, const char *trace)
{
	if (command->picture) {
		int result = command->picture(command->reports[0], tables->stream);

		if (!result && (fflush(tables->stream) || ferror(tables->stream)))
			result = errno ? -errno : -EIO;
		return result;
	}
	if (command->page)
		return write_page(command, tables, trace);
	return report_write(tables, command->reports, command->report_count);
}

static int write_reports(struct command *command, const struct cli_arguments *arguments)
{
	struct report_tables tables = { .form = command->form, .view = report_pass_view(command->pass) };
	int fd = STDOUT_FILENO, result = 0;

	tables.rows_most = cli_has(arguments, OPTION_VERBOSE) ? UINT32_MAX : ROWS_SHOWN;
	tables.stream = stdout;
	if (command->file) {
		fd = cmd_output_open(arguments, command->file);
		if (fd < 0)
			return STATUS_USAGE;
		tables.stream = fdopen(fd, "w");
		if (!tables.stream) {
			close(fd);
			return report_no_memory();
		}
	}
	result = write_form(command, &tables, arguments->operands[0]);
	if (command->file && fclose(tables.stream) && !result)
		result = -errno;
	if (result == -ENOMEM)
		return report_no_memory();
	if (result && result != -EPIPE)
		cli_error("cannot write %s: %s", command->file ? command->file : "standard output", strerror(-result));
	return result && result != -EPIPE ? STATUS_USAGE : STATUS_FINE;
}

static int check_pair(const char *pair)
{
	const char *comma = pair ? strchr(pair, ',') : NULL;

	if (!pair || (comma && comma > pair && comma[1] && !strchr(comma + 1, ',')))
		return STATUS_FINE;
	cli_error("--pair needs the names of two events: %s", pair);
	cli_hint("an example: --pair sys_enter_read,sys_exit_read");
	return STATUS_USAGE;
}

static int prepare_command(struct command *command, const struct cli_arguments *arguments)
{
	const char *only = arguments->options[OPTION_ONLY].text;
	const char *file = arguments->options[OPTION_OUTPUT].text;
	struct report_options options = options_of(command, arguments);
	int status = check_only(only);

	if (!status)
		status = check_pair(options.pair);
	if (!status)
		status = choose_form(command, arguments);
	command->file = file && strcmp(file, "-") != 0 ? file : NULL;
	if (!status)
		status = report_rules_run(arguments, &command->rules);
	if (!status)
		status = inputs_open(&command->inputs, arguments);
	if (!status && report_pass_new(command->inputs.source, &options, &command->pass))
		status = report_no_memory();
	if (status)
		return status;
	tell_held(command, arguments);
	status = exports_open(&command->exports, arguments, command->pass);
	command->is_silent =
		exports_are_asked(arguments) && !only && !file && !cli_has(arguments, OPTION_FORMAT_REPORT);
	if (!status)
		status = add_page(command, arguments);
	return status || command->is_silent ? status : add_reports(command, only);
}

/* So that vectors which grew leave nothing behind: by itself, free keeps what is as large as what was freed before. */
static void give_memory_back(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
	mallopt(M_TRIM_THRESHOLD, LARGE_BYTES);
#endif
}

static int run_report(const struct cli_arguments *arguments)
{
	struct command command = { 0 };
	int status, closed;

	give_memory_back();
	status = prepare_command(&command, arguments);

	if (!status)
		status = read_report_input(&command);
	if (!status && !command.is_silent)
		status = write_reports(&command, arguments);
	closed = exports_close(&command.exports);
	if (!status)
		status = signals_status(inputs_status(&command.inputs));
	if (!status && report_rules_are_cut(command.rules))
		status = STATUS_LOST;
	if (!status || closed == STATUS_USAGE)
		status = closed ? closed : status;
	for (size_t i = 0; i < command.report_count; i++)
		command.reports[i]->kind->free(command.reports[i]);
	if (command.page)
		command.page->kind->free(command.page);
	report_pass_free(command.pass);
	functions_fini(&command.functions);
	report_rules_free(command.rules);
	inputs_close(&command.inputs);
	return status;
}

static const struct cli_example examples[] = {
	{ "asterism report trace", "Shows all reports about a recording." },
	{ "asterism report --only latency --from 2s --to 3s trace", "Shows one report about one second." },
	{ "asterism report -o trace.html trace",
	  "Writes a page for a browser: lanes of CPUs and threads, and all reports." },
	{ "asterism report --only processes -o tree.svg trace", "Draws one report." },
	{ "asterism report --perfetto trace.pftrace trace", "Writes a trace for https://ui.perfetto.dev." },
	{ "asterism report --only path --thread 4711 trace", "Shows where the time of one thread went." },
	{ "asterism report -o trace.json trace", "Writes all reports for other programs." },
	{ NULL, NULL },
};

const struct cli_command cmd_report = {
	.name = "report",
	.summary = "analyse a recording: thread states, waits, critical path, latencies",
	.operands = "TRACE...",
	.operands_min = 1,
	.description =
		"Reads all traces of one machine once (asterism-dump(1) says what a trace is), works out the state of "
		"each thread over time - running, ready, or blocked and why - and writes reports about it. If a trace "
		"lacks events for a report, the report names them; 'record --for-report' records all of them.\n\nIf "
		"only some processes were recorded, the rest of the system is shown as 'others'. Where events were "
		"lost, states are unknown until the next event that shows them.\n\nIn text, tables have at most 30 "
		"rows; -v shows all. JSON and CSV have all rows; their times are in ns, either since the first event "
		"or as durations. The report 'slices', every interval of every thread, is written only if --only names "
		"it.\n\n--rules runs rules over the traces first; their matches are in the report 'matches', and on "
		"the HTML page.\n\n--perfetto, --chrome, --folded and --speedscope write files for other viewers. With "
		"one of them, reports are only written if -o, -f or --only asks for them.\n\n--redact omits the names "
		"of threads, programs and files.",
	.options = { OPTION_CATALOG,      OPTION_CHROME,     OPTION_FOLDED,       OPTION_FORMAT_REPORT, OPTION_FROM,
		     OPTION_LENIENT,      OPTION_MODE,       OPTION_ONLY,         OPTION_OUTPUT,        OPTION_PAIR,
		     OPTION_PERFETTO,     OPTION_REDACT,     OPTION_RULES_REPORT, OPTION_SET,           OPTION_SIZE,
		     OPTION_SKIP_MISSING, OPTION_SPEEDSCOPE, OPTION_THREAD,       OPTION_TIME_FIELD,    OPTION_TO,
		     OPTION_VERBOSE },
	.examples = examples,
	.run = run_report,
};
