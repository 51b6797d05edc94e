// SPDX-License-Identifier: BSD-2-Clause
/* Writes files for other viewers. */

#include "cmd/report/exports.h"

#include "cli/print.h"
#include "cmd/options/status.h"
#include "cmd/text/output.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static const struct {
	enum option_id option;
	const struct report_kind *kind;
} rows[EXPORTS] = {
	{ OPTION_CHROME, &report_export_chrome },
	{ OPTION_FOLDED, &report_export_folded },
	{ OPTION_PERFETTO, &report_export_perfetto },
	{ OPTION_SPEEDSCOPE, &report_export_speedscope },
};

bool exports_are_asked(const struct cli_arguments *arguments)
{
	bool found = false;

	for (unsigned i = 0; i < EXPORTS; i++)
		found |= cli_has(arguments, rows[i].option);
	return found;
}

static struct report_export *export_of(struct report *report)
{
	return (struct report_export *)report;
}

static int exports_no_memory(void)
{
	cli_error("out of memory");
	return STATUS_USAGE;
}

static int open_export(struct export_file *file, const struct report_kind *kind, const struct cli_arguments *arguments,
		       struct report_pass *pass)
{
	int fd;

	if (kind->open(report_pass_view(pass), &file->report))
		return exports_no_memory();
	*file->report = (struct report){ .kind = kind, .view = report_pass_view(pass) };
	fd = cmd_output_open(arguments, file->name);
	if (fd < 0)
		return STATUS_USAGE;
	export_of(file->report)->stream = fdopen(fd, "w");
	if (!export_of(file->report)->stream)
		close(fd);
	return export_of(file->report)->stream && !report_pass_add(pass, file->report) ? STATUS_FINE
										       : exports_no_memory();
}

static int check_apart(const char *one, const char *other)
{
	if (!cmd_is_same_file(one, other))
		return STATUS_FINE;
	cli_error("%s and %s are the same file", one, other);
	cli_hint("use a file of its own for each format");
	return STATUS_USAGE;
}

int exports_open(struct exports *exports, const struct cli_arguments *arguments, struct report_pass *pass)
{
	const char *output = arguments->options[OPTION_OUTPUT].text;
	int status = STATUS_FINE;

	for (unsigned i = 0; i < EXPORTS && !status; i++) {
		if (!cli_has(arguments, rows[i].option))
			continue;
		exports->files[i].name = arguments->options[rows[i].option].text;
		status = open_export(&exports->files[i], rows[i].kind, arguments, pass);
		for (unsigned j = 0; j < i && !status; j++) {
			if (exports->files[j].name)
				status = check_apart(exports->files[i].name, exports->files[j].name);
		}
		if (output && !status)
			status = check_apart(exports->files[i].name, output);
	}
	return status;
}

int exports_close(struct exports *exports)
{
	int status = STATUS_FINE;

	for (unsigned i = 0; i < EXPORTS; i++) {
		struct report *report = exports->files[i].report;
		FILE *stream = report ? export_of(report)->stream : NULL;
		bool is_failed = stream && ferror(stream);

		if (stream && (fclose(stream) || is_failed)) {
			cli_error("cannot write %s: %s", exports->files[i].name, strerror(errno ? errno : EIO));
			status = STATUS_USAGE;
		}
		if (report && export_of(report)->left_out) {
			cli_warning("%s lacks %" PRIu64 " times or events: it holds no more", exports->files[i].name,
				    export_of(report)->left_out);
			status = status ? status : STATUS_LOST;
		}
		if (report)
			report->kind->free(report);
	}
	return status;
}
