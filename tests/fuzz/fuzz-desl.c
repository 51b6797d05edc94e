// SPDX-License-Identifier: BSD-2-Clause
/*
 * Programs in DESL, and the files that they read: what is before the first NUL is the program, the rest is the file of
 * all its inputs. Whatever the bytes are, reading and running come to an end; what is refused has an error with a
 * sentence, and what is worked out is written as JSON that a reader of JSON takes, each record with all its fields.
 */

#include "base/alloc.h"
#include "base/diag.h"
#include "desl/input/input.h"
#include "desl/output/output.h"
#include "desl/program-priv.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Combinations are bounded by DESL_LOOKS_MAX, which takes longer than one input may. */
enum { FILE_BYTES_MAX = 4096, INPUTS_MAX = 16, LOOKS_MAX = 100000, TYPES_MAX = 64 };

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static int file_of(const uint8_t *data, size_t size)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("desl", 0);
	expect(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
	return fd;
}

/* What is combined at most: each record with each. */
static bool is_soon_done(const struct desl_program *program, const uint8_t *data, size_t size)
{
	double rows[TYPES_MAX], lines = 1;
	size_t count = 0;

	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	for (const struct desl_type *type = program->types; type; type = type->next, count++) {
		if (count == TYPES_MAX)
			return false;
		rows[count] = type->is_input ? lines : 1;
		for (unsigned i = 0; i < type->source_count; i++) {
			size_t at = 0;

			for (const struct desl_type *of = program->types; of != type->sources[i].type; of = of->next)
				at++;
			rows[count] *= rows[at] + 1;
		}
		if (rows[count] > LOOKS_MAX)
			return false;
	}
	return true;
}

static void check_lines(const struct desl_program *program, char *text)
{
	for (char *line = text, *end; *line; line = end + 1) {
		const struct desl_type *type;
		json_error_t error;
		json_t *record;

		end = strchr(line, '\n');
		expect(end != NULL);
		record = json_loadb(line, (size_t)(end - line), JSON_REJECT_DUPLICATES, &error);
		expect(json_is_object(record));
		type = desl_find_type(program, json_string_value(json_object_get(record, "eventtype")));
		/* A field may be called eventtype itself. */
		for (unsigned i = 0; type && i < type->field_count; i++)
			expect(json_object_get(record, type->fields[i].name.text) != NULL);
		json_decref(record);
	}
}

static void check_written(const struct desl_program *program, enum desl_format format)
{
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	expect(stream && desl_write(program, format, stream) == 0 && fclose(stream) == 0);
	if (format == DESL_JSON)
		check_lines(program, text);
	free(text);
}

static void run(struct desl_program *program, const uint8_t *data, size_t size, struct asterism_diag *diag)
{
	struct desl_binding bindings[INPUTS_MAX];
	char path[64];
	size_t count = 0;
	int result;

	snprintf(path, sizeof path, "/proc/self/fd/%d", file_of(data, size));
	for (const struct desl_type *type = program->types; type; type = type->next) {
		if (!type->is_input)
			continue;
		if (count == INPUTS_MAX)
			return;
		bindings[count++] = (struct desl_binding){ type->name.text, path };
	}
	result = desl_run(program, bindings, count, desl_provide, diag);
	expect(result <= 0 && !result == !asterism_diag_count(diag, ASTERISM_ERROR));
	for (enum desl_format format = DESL_TEXT; !result && format <= DESL_CSV; format++)
		check_written(program, format);
}

static void read_program(const struct diag_source *source, bool is_strict, const uint8_t *data, size_t size)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct desl_program *program = NULL;
	char *corrected = NULL;
	int result = desl_read(source, is_strict, diag, &program, &corrected);

	expect(result == 0 || result == -EINVAL);
	expect(!result == !asterism_diag_count(diag, ASTERISM_ERROR) && !result == (program != NULL));
	alloc_free(corrected);
	if (!result) {
		FILE *nothing = fopen("/dev/null", "w");
		struct asterism_diag *said = asterism_diag_new();

		result = desl_write_sql(program, nothing, said);
		expect(result == 0 || asterism_diag_count(said, ASTERISM_ERROR) == 1);
		asterism_diag_free(said);
		fclose(nothing);
		if (is_soon_done(program, data, size))
			run(program, data, size, diag);
	}
	desl_free(program);
	asterism_diag_free(diag);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, 0, size) : NULL;
	size_t length = end ? (size_t)(end - data) : size, rest = end ? size - length - 1 : 0;
	const struct diag_source source = { .file = "fuzz", .text = (const char *)data, .length = length };

	if (rest > FILE_BYTES_MAX)
		return 0;
	read_program(&source, false, end ? end + 1 : data, rest);
	read_program(&source, true, end ? end + 1 : data, rest);
	return 0;
}
