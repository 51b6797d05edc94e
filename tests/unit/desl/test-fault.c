// SPDX-License-Identifier: BSD-2-Clause
/*
 * Programs read, run and written with every allocation failing in turn: -ENOMEM with a sentence each time, or what they
 * come to without. Arguments: the folders of golden queries and of metrics.
 */

#include "base/alloc.h"
#include "base/proc.h"
#include "desl/desl.h"
#include "desl/input/input.h"
#include "desl/output/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_BYTES = 1 << 16, EVERY_ONE = 400, RARER = 13 };

/* A program in a golden's folder, or "@metric", and the file of all its inputs. */
static const struct {
	const char *folder, *program, *file;
	const char *inputs[4];
} cases[] = {
	{ "advice", "good.desl", "loads.csv", { "loads" } },
	{ "metrics", "@syscall-share", "callgrind.out", { "functions", "calls" } },
	{ "metrics", "@lock-waits", "stragglers.jsonl", { "waits" } },
	{ "metrics", "@soft-faults", "faults.csv", { "faults", "hard" } },
	{ "check", "quirks.desl", NULL, { NULL } },
	{ "misses", "printed.desl", "L1_MISSES.out", { NULL } },
	{ "worked", "quotient.desl", NULL, { NULL } },
};

struct attempt {
	struct diag_source source;
	size_t which;
	struct asterism_diag *diag;
	char *written; /* in all formats; NULL: nothing */
};

static int write_all(const struct desl_program *program, struct attempt *attempt)
{
	size_t length = 0;
	FILE *stream = open_memstream(&attempt->written, &length);
	int result = stream ? 0 : -EPROTO;

	for (enum desl_format format = DESL_TEXT; !result && format <= DESL_CSV; format++)
		result = desl_write(program, format, stream);
	if (stream)
		fclose(stream);
	return result;
}

static int try(struct attempt *attempt, unsigned long failing)
{
	struct desl_binding bindings[4];
	struct desl_program *program = NULL;
	char *corrected = NULL;
	size_t count = 0;
	int result;

	for (; cases[attempt->which].file && cases[attempt->which].inputs[count]; count++)
		bindings[count] =
			(struct desl_binding){ cases[attempt->which].inputs[count], cases[attempt->which].file };
	asterism_diag_clear(attempt->diag);
	alloc_fail_at(failing);
	result = desl_read(&attempt->source, false, attempt->diag, &program, &corrected);
	if (!result && (cases[attempt->which].file || strcmp(cases[attempt->which].folder, "worked") == 0))
		result = desl_run(program, bindings, count, desl_provide, attempt->diag);
	if (result && !asterism_diag_count(attempt->diag, ASTERISM_ERROR))
		result = -EPROTO;
	if (!result)
		result = write_all(program, attempt);
	alloc_fail_at(0);
	alloc_free(corrected);
	desl_free(program);
	return result;
}

static int read_source(struct attempt *attempt, const char *metrics, char text[TEXT_BYTES])
{
	const char *program = cases[attempt->which].program;
	char path[4096];
	ssize_t length;

	if (*program == '@')
		snprintf(path, sizeof path, "%s/%s.desl", metrics, program + 1);
	else
		snprintf(path, sizeof path, "%s", program);
	length = proc_read(path, text, TEXT_BYTES);
	attempt->source =
		(struct diag_source){ .file = program, .text = text, .length = length < 0 ? 0 : (size_t)length };
	return length > 0 ? 0 : -ENOENT;
}

/* Returns how many allocations there are; 0: something is wrong. */
static unsigned long try_all(struct attempt *attempt)
{
	unsigned long failing = 1;
	int expected = try(attempt, 0), result;
	char *wanted = attempt->written;

	attempt->written = NULL;
	while ((result = try(attempt, failing)) == -ENOMEM) {
		failing += failing < EVERY_ONE ? 1 : RARER;
		free(attempt->written);
		attempt->written = NULL;
	}
	if (result != expected || (wanted && (!attempt->written || strcmp(wanted, attempt->written) != 0))) {
		fprintf(stderr, "%d in place of %d\n", result, expected);
		failing = 0;
	}
	free(wanted);
	free(attempt->written);
	return failing;
}

int main(int argc, char **argv)
{
	static char text[TEXT_BYTES];
	struct attempt attempt = { .diag = asterism_diag_new() };
	int status = argc == 3 && attempt.diag ? 0 : 2;

	for (size_t i = 0; !status && i < sizeof cases / sizeof *cases; i++) {
		unsigned long count;

		attempt.which = i;
		attempt.written = NULL;
		if (chdir(argv[1]) || chdir(cases[i].folder) || read_source(&attempt, argv[2], text))
			return 2;
		count = try_all(&attempt);
		printf("%s %s: %lu allocations\n", cases[i].folder, cases[i].program, count);
		status = !count;
	}
	asterism_diag_free(attempt.diag);
	return status;
}
