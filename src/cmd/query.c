// SPDX-License-Identifier: BSD-2-Clause
/* `asterism query`: works out derived event types of a DESL program. */

#include "base/alloc.h"
#include "base/diag.h"
#include "base/embedded.h"
#include "cli/print.h"
#include "cmd/options/commands.h"
#include "cmd/options/status.h"
#include "desl/input/input.h"
#include "desl/output/output.h"
#include "session/load/input.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Of the choices of --format, those that are no formats of records. */
enum { SQL = 3, EVENTS, CATALOG };

enum { PROGRAM_BYTES_MAX = 1 << 20, QUERY_NAME_BYTES = 256, SHIPPED_MAX = 64 };

extern const struct embedded_file metrics_embedded[];

struct query {
	const struct cli_arguments *arguments;
	struct diag_source source;
	char *text; /* of the source */
	struct desl_program *program;
	struct desl_binding *bindings;
	size_t binding_count;
	struct asterism_diag *diag;
};

/* @name: what is shipped. */
static int read_shipped(struct query *query, const char *name)
{
	const char *names[SHIPPED_MAX], *nearest;
	static char bases[SHIPPED_MAX][QUERY_NAME_BYTES];
	size_t count = 0;

	for (const struct embedded_file *file = metrics_embedded; file->name && count < SHIPPED_MAX; file++) {
		snprintf(bases[count], sizeof bases[count], "%.*s", (int)strcspn(file->name, "."), file->name);
		names[count] = bases[count];
		if (strcmp(names[count++], name) != 0)
			continue;
		query->text = embedded_text(file, NULL);
		query->source.text = query->text;
		query->source.length = file->length;
		if (!query->text)
			cli_error("out of memory");
		return query->text ? STATUS_FINE : STATUS_USAGE;
	}
	nearest = diag_nearest(name, names, count);
	cli_error("there is no shipped query @%s", name);
	if (nearest)
		cli_hint("did you mean @%s?", nearest);
	else
		cli_hint("'asterism query --help' lists them; a file whose name begins with @ is written ./@...");
	return STATUS_USAGE;
}

static int read_query_text(struct query *query)
{
	const char *file = query->arguments->operands[0];
	int result;

	query->source.file = session_input_name(file);
	if (*file == '@')
		return read_shipped(query, file + 1);
	result = session_input_read(file, PROGRAM_BYTES_MAX, query->diag, &query->text, &query->source.length);
	query->source.text = query->text;
	return result ? STATUS_USAGE : STATUS_FINE;
}

/* NAME=FILE: the file of an input. The name is copied, the file is a part of the operand. */
static int read_bindings(struct query *query)
{
	const struct cli_arguments *arguments = query->arguments;

	query->bindings = alloc_zero(arguments->operand_count, sizeof *query->bindings);
	if (!query->bindings)
		return -ENOMEM;
	for (size_t i = 1; i < arguments->operand_count; i++) {
		const char *operand = arguments->operands[i], *equals = strchr(operand, '=');
		char *name;

		if (!equals || equals == operand || !equals[1]) {
			cli_error("'%s' is not NAME=FILE", operand);
			cli_hint("asterism query %s input=%s says that the records of the input come from there",
				 arguments->operands[0], operand);
			return -EINVAL;
		}
		name = alloc_text(operand);
		if (!name)
			return -ENOMEM;
		name[equals - operand] = 0;
		query->bindings[query->binding_count].type = name;
		query->bindings[query->binding_count++].file = equals + 1;
	}
	return 0;
}

static int read_program(struct query *query)
{
	char *corrected;
	int result = desl_read(&query->source, cli_has(query->arguments, OPTION_STRICT_QUERY), query->diag,
			       &query->program, &corrected);

	cli_print(query->diag);
	asterism_diag_clear(query->diag);
	if (corrected)
		fputs(corrected, stdout);
	alloc_free(corrected);
	return result;
}

static int run_query(struct query *query)
{
	unsigned format = (unsigned)query->arguments->options[OPTION_FORMAT_QUERY].number;
	int result = read_bindings(query);

	if (!result)
		result = read_program(query);
	if (result || cli_has(query->arguments, OPTION_CHECK))
		return result;
	if (format == SQL)
		return desl_write_sql(query->program, stdout, query->diag);
	if (format == CATALOG)
		return desl_write_catalog(query->program, stdout, query->diag);
	result = desl_run(query->program, query->bindings, query->binding_count, desl_provide, query->diag);
	if (!result && format == EVENTS)
		return desl_write_events(query->program, stdout, query->diag);
	if (!result)
		result = desl_write(query->program, (enum desl_format)format, stdout);
	return result;
}

static int run_query_command(const struct cli_arguments *arguments)
{
	struct query query = { .arguments = arguments, .diag = asterism_diag_new() };
	int status = query.diag ? read_query_text(&query) : STATUS_USAGE;

	if (!status && run_query(&query))
		status = STATUS_USAGE;
	if (query.diag)
		cli_print(query.diag);
	else
		cli_error("out of memory");
	desl_free(query.program);
	for (size_t i = 0; i < query.binding_count; i++)
		alloc_free((char *)query.bindings[i].type);
	alloc_free(query.bindings);
	alloc_free(query.text);
	asterism_diag_free(query.diag);
	return status;
}

static const struct cli_section shipped = {
	.title = "QUERIES",
	.heading = "Queries",
	.entries =
		(const struct cli_entry[]){
			{ "@quotient",
			  { "inclusive costs of samples, split among callers by their costs in a simulation; inputs: "
			    "simulation, functions, sampling" } },
			{ "@calls", { "the same, split by numbers of calls; inputs: calls, functions, sampling" } },
			{ "@lock-waits", { "waiting time for locks, per call path; input: waits" } },
			{ "@syscall-share", { "share of the system calls, per function; inputs: functions, calls" } },
			{ "@soft-faults", { "page faults without I/O, per function; inputs: faults, hard" } },
			{ NULL, { NULL } },
		},
};

static const struct cli_example query_examples[] = {
	{ "asterism query --check ratio.desl", "Checks a program without reading its files." },
	{ "asterism query ratio.desl loads=today.csv -f csv",
	  "Reads the input loads from another file, and writes CSV." },
	{ "asterism query ratio.desl -f catalog > ratio.events",
	  "Writes the declaration of its records as events, for rules." },
	{ "asterism query ratio.desl -f events | asterism replay high.rule -",
	  "Writes the records as events, and runs a rule over them." },
	{ "asterism query @quotient simulation=callgrind.out functions=callgrind.out sampling=samples.csv",
	  "Computes inclusive costs of samples, with the call graph of a simulated run." },
	{ NULL, NULL },
};

const struct cli_command cmd_query = {
	.name = "query",
	.summary = "derive event types from records in files: counts, ratios, joins",
	.operands = "FILE.desl|@NAME [INPUT=FILE]...",
	.operands_min = 1,
	.description =
		"Runs a program in DESL, the Derived Event Specification Language. The program has three sections. "
		"'input' names files with records. 'heuristics' derives event types from these records, with "
		"constraints (joins and filters), groups and aggregates. 'output' names the types to write. @NAME is a "
		"shipped query.\n\nINPUT=FILE reads an input from another file; - is standard input. A file is CSV "
		"whose first line names the fields, JSON lines with events or matches, a recording, or a profile in "
		"any format that 'asterism profile' reads. For gmon.out, write gmon.out:PROGRAM.\n\nA record is left "
		"out if its formula divides by zero, and a warning counts these records. Programs that are printed in "
		"the thesis on DESL contain mistakes. asterism repairs most of them, with a warning for each. It "
		"recognises the programs that cannot be repaired, and prints the corrected ones.",
	.options = { OPTION_CHECK, OPTION_FORMAT_QUERY, OPTION_STRICT_QUERY },
	.words = &shipped,
	.examples = query_examples,
	.run = run_query_command,
};
