// SPDX-License-Identifier: BSD-2-Clause
/*
 * Loads files into a program: rule texts are read as one unit and compiled, an image is taken as it is. Either way what
 * comes out went through program_load, so nothing later has to care where it came from.
 */

#include "session/load/rules.h"

#include "automaton/compile.h"
#include "base/alloc.h"
#include "event/about.h"
#include "lang/parse.h"
#include "meaning/meaning.h"
#include "program/query.h"
#include "sensor/catalog.h"
#include "session/load/input.h"

#include <errno.h>
#include <string.h>

#define LINUX_CATALOG "linux.events"

struct session_rules {
	struct event_catalog *catalog;
	struct lang_input *inputs;
	size_t input_count;
	const struct lang_setting *settings; /* borrowed, until they are compiled */
	size_t setting_count;
	struct lang_input *exceptions;
	size_t exception_count;
	struct program_measures *measures; /* borrowed, until all went well */
	bool as_written;
	bool wants_events;
	struct session_parameter *parameters;
	uint32_t parameter_count;
	bool from_image;
	void *image;
	size_t image_length;
	struct program *program;
	struct meaning_users *users;
	char *host_name;
};

static void free_inputs(struct lang_input *inputs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		alloc_free((void *)inputs[i].file);
		alloc_free((void *)inputs[i].folder);
		alloc_free((void *)inputs[i].bare_rule);
		alloc_free((void *)inputs[i].text);
	}
	alloc_free(inputs);
}

void session_rules_free(struct session_rules *rules)
{
	if (!rules)
		return;
	program_free(rules->program);
	meaning_users_free(rules->users);
	alloc_free(rules->host_name);
	alloc_free(rules->image);
	for (uint32_t i = 0; i < rules->parameter_count; i++) {
		alloc_free((void *)rules->parameters[i].name);
		alloc_free((void *)rules->parameters[i].file);
		alloc_free((void *)rules->parameters[i].value);
		alloc_free((void *)rules->parameters[i].usual);
	}
	alloc_free(rules->parameters);
	program_measures_free(rules->measures);
	free_inputs(rules->inputs, rules->input_count);
	free_inputs(rules->exceptions, rules->exception_count);
	event_catalog_free(rules->catalog);
	alloc_free(rules);
}

static bool is_image(const struct lang_input *input)
{
	return input->length >= 4 && memcmp(input->text, PROGRAM_MAGIC, 4) == 0;
}

/* The folder part of file, "." where there is none; NULL when memory is short. */
static char *folder_of(const char *file)
{
	const char *slash = strrchr(file, '/');
	char *folder = alloc_text(slash ? file : ".");

	if (folder && slash)
		folder[slash == file ? 1 : slash - file] = 0;
	return folder;
}

static int read_input(struct lang_input *input, const struct session_rules_file *file, struct asterism_diag *diag)
{
	char *text;
	int result = session_input_read(file->path, LANG_FILE_BYTES_MAX, diag, &text, &input->length);

	if (result)
		return result;
	input->text = text;
	input->file = alloc_text(session_input_name(file->path));
	input->folder = folder_of(file->path);
	return input->file && input->folder ? 0 : diag_no_memory(diag);
}

/* A copy with a NUL behind it. */
static int copy_input_text(struct lang_input *input, const char *name, const void *bytes, size_t length)
{
	char *text = alloc_zero(length + 1, 1);

	if (text && length)
		memcpy(text, bytes, length);
	*input = (struct lang_input){ .text = text, .length = length, .file = alloc_text(name) };
	return text && input->file ? 0 : -ENOMEM;
}

/* A text that somebody has typed. */
static int take_bare(struct lang_input *input, const struct session_rules_file *file)
{
	if (!file->bare_rule)
		return 0;
	input->bare_rule = alloc_text(file->bare_rule);
	input->folder = alloc_text(".");
	return input->bare_rule && input->folder ? 0 : -ENOMEM;
}

static int read_inputs(struct session_rules *rules, const struct session_rules_files *files, struct asterism_diag *diag)
{
	int result = 0;

	rules->inputs = alloc_zero(files->count, sizeof *rules->inputs);
	if (!rules->inputs)
		return diag_no_memory(diag);
	for (size_t i = 0; i < files->count && !result; i++) {
		const struct session_rules_file *file = &files->files[i];
		struct lang_input *input = &rules->inputs[rules->input_count++];

		if (!file->text)
			result = read_input(input, file, diag);
		else if (copy_input_text(input, file->path, file->text, file->length) || take_bare(input, file))
			result = diag_no_memory(diag);
	}
	if (!result)
		rules->from_image = is_image(&rules->inputs[0]);
	return result;
}

static int read_exceptions(struct session_rules *rules, const struct session_rules_files *files,
			   struct asterism_diag *diag)
{
	int result = 0;

	rules->exceptions = alloc_zero(files->exception_count, sizeof *rules->exceptions);
	if (!rules->exceptions)
		return diag_no_memory(diag);
	while (rules->exception_count < files->exception_count && !result) {
		const struct session_rules_file file = { .path = files->exceptions[rules->exception_count] };

		result = read_input(&rules->exceptions[rules->exception_count++], &file, diag);
	}
	return result;
}

static int copy_input(struct session_rules *rules, const struct session_rules_source *source,
		      struct asterism_diag *diag)
{
	if (source->length > LANG_FILE_BYTES_MAX)
		return diag_error(diag,
				  &(struct diag_location){ .source = &(struct diag_source){ .file = source->name } },
				  -EINVAL, "this is too large: rules may have 16 MiB");
	rules->inputs = alloc_zero(1, sizeof *rules->inputs);
	if (!rules->inputs)
		return diag_no_memory(diag);
	rules->input_count = 1;
	rules->from_image = source->is_image;
	return copy_input_text(rules->inputs, source->name, source->bytes, source->length) ? diag_no_memory(diag) : 0;
}

int session_catalog_new(struct asterism_diag *diag, struct event_catalog **made)
{
	struct event_catalog *catalog = event_catalog_new();
	int result;

	if (!catalog)
		return diag_no_memory(diag);
	sensor_catalog_supply(catalog);
	result = event_catalog_read(catalog, NULL, LINUX_CATALOG, diag);
	if (result)
		event_catalog_free(catalog);
	else
		*made = catalog;
	return result;
}

static int keep_parameters(struct session_rules *rules, const struct lang_unit *unit)
{
	rules->parameters = alloc_zero(unit->parameter_count, sizeof *rules->parameters);
	if (!rules->parameters)
		return -ENOMEM;
	for (; rules->parameter_count < unit->parameter_count; rules->parameter_count++) {
		const struct lang_parameter *from = &unit->parameters[rules->parameter_count];
		struct session_parameter *to = &rules->parameters[rules->parameter_count];

		to->name = alloc_text(from->name);
		to->file = alloc_text(from->file);
		to->value = alloc_text(from->text);
		to->usual = alloc_text(from->default_text);
		if (!to->name || !to->file || !to->value || !to->usual) {
			rules->parameter_count++;
			return -ENOMEM;
		}
	}
	return 0;
}

static int keep_host_name(struct session_rules *rules, const char *name)
{
	rules->host_name = name ? alloc_text(name) : NULL;
	return name && !rules->host_name ? -ENOMEM : 0;
}

static int compile(struct session_rules *rules, struct asterism_diag *diag)
{
	const struct lang_sources sources = {
		.inputs = rules->inputs,
		.input_count = rules->input_count,
		.settings = rules->settings,
		.setting_count = rules->setting_count,
		.exceptions = rules->exceptions,
		.exception_count = rules->exception_count,
		.wants_events = rules->wants_events,
	};
	struct lang_program *unit = NULL;
	int result = lang_read_with(&sources, rules->catalog, diag, &unit);

	if (result)
		return result;
	result = keep_parameters(rules, lang_program_unit(unit));
	if (!result)
		result = keep_host_name(rules, lang_program_unit(unit)->host_name);
	if (result)
		diag_no_memory(diag);
	else
		result = automaton_compile(lang_program_unit(unit), rules->catalog, diag, &rules->image,
					   &rules->image_length);
	lang_program_free(unit);
	return result == -E2BIG ? -EINVAL : result;
}

/* The type gains what the image's has gained. -ENOMEM. */
static int ask_as(struct event_catalog *catalog, const struct event_type *type, const struct event_field_spec *fields,
		  uint32_t count)
{
	const struct event_field *known;
	int result = 0;

	for (uint32_t i = 0; i < count && type && result != -ENOMEM; i++)
		result = event_about_ask(catalog, type, fields[i].name, &known);
	return result == -ENOMEM ? result : 0;
}

/* The image's own types join the catalog, so that events can be read and named without its rule text. */
static int declare_type(struct event_catalog *catalog, const struct program *program, const struct program_type *type,
			struct asterism_diag *diag)
{
	struct event_field_spec fields[EVENT_FIELDS_MAX];
	const char *name = program_text(program, type->name);
	const struct event_type *added;
	int result;

	if (type->field_count > EVENT_FIELDS_MAX)
		return diag_error(diag, NULL, -EINVAL, "the image's event type %s has too many fields", name);
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct program_field *field = &program_fields(program, type)[i];

		fields[i] = (struct event_field_spec){ .name = program_text(program, field->name),
						       .value = field->value,
						       .bytes = field->value == EVENT_STRING ? field->bytes : 0 };
	}
	if (ask_as(catalog, event_catalog_find(catalog, name), fields, type->field_count))
		return diag_no_memory(diag);
	result = event_catalog_add(
		catalog,
		&(struct event_type_spec){ .sensor = type->sensor ? program_text(program, type->sensor - 1) : NULL,
					   .name = name,
					   .fields = fields,
					   .field_count = type->field_count,
					   .origin = EVENT_DECLARED },
		&added);
	if (result == -EEXIST)
		return diag_error(diag, NULL, -EINVAL,
				  "the image was compiled for another catalog: its event type %s has other fields",
				  name);
	if (result == -ENOMEM)
		return diag_no_memory(diag);
	if (result)
		return diag_error(diag, NULL, -EINVAL, "the image's event type %s is too large", name);
	return 0;
}

static int declare_types(struct session_rules *rules, struct asterism_diag *diag)
{
	int result = 0;

	for (uint32_t i = 0; i < rules->program->type_count && !result; i++)
		result = declare_type(rules->catalog, rules->program, &rules->program->types[i], diag);
	return result;
}

/* An image is what its text was when it was compiled. */
static int refuse_change(const struct session_rules *rules, struct asterism_diag *diag)
{
	struct diag_source source = { .file = rules->inputs[0].file };
	const struct diag_location location = { .source = &source };

	if (rules->setting_count)
		diag_add(diag, ASTERISM_ERROR, &location, "compile the rule text with the same --set instead",
			 "cannot set %s: this is a compiled image, whose parameters are fixed",
			 rules->settings[0].name);
	if (rules->exception_count)
		diag_add(diag, ASTERISM_ERROR, &location, "compile the rule text with the same --except instead",
			 "cannot add exceptions: this is a compiled image, whose exceptions are fixed");
	return -EINVAL;
}

static void warn_unmeasured(const struct session_rules *rules, struct asterism_diag *diag)
{
	const struct program *program = rules->program;

	for (uint32_t i = 0; i < program->rule_count && rules->measures; i++)
		if (!program_order_knows(program, &program->rules[i], rules->measures))
			diag_add(
				diag, ASTERISM_WARNING, NULL, NULL,
				"the file of --order-by has no figures for %s '%s': its cheapest conditions come first",
				program_sort(&program->rules[i]), program_text(program, program->rules[i].name));
}

/* Conditions are asked in the order that costs least. An image has one already, which other measures may change. */
static int order_conditions(struct session_rules *rules, struct asterism_diag *diag)
{
	struct program *ordered;
	void *image = NULL;
	size_t length;
	int result = 0;

	if (rules->as_written || (rules->from_image && !rules->measures))
		return 0;
	if (program_order(rules->program, rules->measures, &image, &length))
		return diag_no_memory(diag);
	if (image)
		result = program_load(image, length, rules->inputs[0].file, diag, &ordered);
	if (result) {
		alloc_free(image);
	} else if (image) {
		program_free(rules->program);
		alloc_free(rules->image);
		rules->program = ordered;
		rules->image = image;
		rules->image_length = length;
	}
	if (!result)
		warn_unmeasured(rules, diag);
	return result;
}

static int make_program(struct session_rules *rules, struct asterism_diag *diag)
{
	const struct lang_input *first = &rules->inputs[0];
	int result;

	for (size_t i = 0; i < rules->input_count; i++) {
		struct diag_source source = { .file = rules->inputs[i].file };

		if (rules->input_count > 1 && is_image(&rules->inputs[i]))
			return diag_error(diag, &(struct diag_location){ .source = &source }, -EINVAL,
					  "a compiled image cannot be combined with other rule files");
	}
	if (rules->from_image && (rules->setting_count || rules->exception_count))
		return refuse_change(rules, diag);
	if (rules->from_image) {
		result = program_load(first->text, first->length, first->file, diag, &rules->program);
		return result ? result : declare_types(rules, diag);
	}
	result = compile(rules, diag);
	if (result)
		return result;
	return program_load(rules->image, rules->image_length, first->file, diag, &rules->program);
}

/* Consumes rules. */
static int make_session_rules(struct session_rules *rules, const struct event_catalog_access *access,
			      struct asterism_diag *diag, struct session_rules **made)
{
	int result = session_catalog_new(diag, &rules->catalog);

	if (!result && access)
		event_catalog_restrict(rules->catalog, access);
	if (!result)
		result = make_program(rules, diag);
	if (!result)
		result = order_conditions(rules, diag);
	if (!result && meaning_users_new(&rules->users))
		result = diag_no_memory(diag);
	if (!result)
		rules->program->users = rules->users;
	if (!result) {
		*made = rules;
		return 0;
	}
	rules->measures = NULL;
	session_rules_free(rules);
	return result;
}

int session_rules_read(const char *const *files, size_t count, struct asterism_diag *diag,
		       struct session_rules **read_rules)
{
	struct session_rules_file *rows = alloc_zero(count, sizeof *rows);
	int result;

	if (!rows)
		return diag_no_memory(diag);
	for (size_t i = 0; i < count; i++)
		rows[i].path = files[i];
	result = session_rules_read_files(&(struct session_rules_files){ .files = rows, .count = count }, diag,
					  read_rules);
	alloc_free(rows);
	return result;
}

int session_rules_read_files(const struct session_rules_files *files, struct asterism_diag *diag,
			     struct session_rules **read_rules)
{
	struct session_rules *rules = alloc_zero(1, sizeof *rules);
	int result;

	if (!rules)
		return diag_no_memory(diag);
	rules->settings = files->settings;
	rules->setting_count = files->setting_count;
	rules->measures = files->measures;
	rules->as_written = files->as_written;
	rules->wants_events = files->wants_events;
	result = read_inputs(rules, files, diag);
	if (!result)
		result = read_exceptions(rules, files, diag);
	if (!result)
		return make_session_rules(rules, NULL, diag, read_rules);
	rules->measures = NULL;
	session_rules_free(rules);
	return result;
}

int session_rules_take(const struct session_rules_source *source, struct asterism_diag *diag,
		       struct session_rules **taken)
{
	struct session_rules *rules = alloc_zero(1, sizeof *rules);
	int result;

	if (!rules)
		return diag_no_memory(diag);
	result = copy_input(rules, source, diag);
	if (!result)
		return make_session_rules(rules, &source->access, diag, taken);
	session_rules_free(rules);
	return result;
}

const struct program *session_rules_program(const struct session_rules *rules)
{
	return rules->program;
}

const struct program_measures *session_rules_measures(const struct session_rules *rules)
{
	return rules->measures;
}

const char *session_rules_host_name(const struct session_rules *rules)
{
	return rules->host_name;
}

const void *session_rules_image(const struct session_rules *rules, size_t *length)
{
	*length = rules->image ? rules->image_length : rules->inputs[0].length;
	return rules->image ? rules->image : rules->inputs[0].text;
}

bool session_rules_text(const struct session_rules *rules, const char *file, struct diag_source *source)
{
	const struct lang_input *found = NULL;

	for (size_t i = 0; i < rules->input_count && !rules->from_image; i++) {
		if (strcmp(rules->inputs[i].file, file) != 0)
			continue;
		if (found)
			return false;
		found = &rules->inputs[i];
	}
	if (found)
		*source = (struct diag_source){ .file = found->file, .text = found->text, .length = found->length };
	return found;
}

const struct session_parameter *session_rules_parameters(const struct session_rules *rules, uint32_t *count)
{
	*count = rules->parameter_count;
	return rules->parameters;
}

struct event_catalog *session_rules_catalog(const struct session_rules *rules)
{
	return rules->catalog;
}
