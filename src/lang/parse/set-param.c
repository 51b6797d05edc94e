// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the parameters that a setting means - those of its name in all files, or in the one that it names - and gives
 * them its value, which must be of the sort that each declaration has.
 */

#include "lang/parse/params-priv.h"

#include <string.h>

/* What the parameter takes. */
static const char *sort_name(const struct lang_token *value)
{
	switch (value->kind) {
	case LANG_TOKEN_REAL:
		return "a real number";
	case LANG_TOKEN_STRING:
		return "a string";
	case LANG_TOKEN_TRUTH:
		return "TRUE or FALSE";
	default:
		return value->unit == LANG_TIME   ? "a time"
		       : value->unit == LANG_SIZE ? "a size"
						  : "an integer or the name of a constant";
	}
}

/* Whether value does for what was declared; a number may become one. */
static bool suits(const struct lang_token *declared, struct lang_token *value)
{
	if (declared->kind == LANG_TOKEN_REAL && value->kind == LANG_TOKEN_INTEGER && value->unit == LANG_PLAIN) {
		value->real = value->negative ? (double)(int64_t)value->integer : (double)value->integer;
		value->kind = LANG_TOKEN_REAL;
		return true;
	}
	if (value->kind == LANG_TOKEN_WORD)
		return declared->kind == LANG_TOKEN_INTEGER && declared->unit == LANG_PLAIN;
	if (declared->kind != value->kind)
		return false;
	if (value->kind != LANG_TOKEN_INTEGER || declared->unit == value->unit)
		return true;
	return value->unit == LANG_PLAIN && (value->negative || value->integer <= INT64_MAX);
}

/* One setting on its way to the parameters that it means. */
struct assignment {
	const struct lang_params_of_all *all;
	const struct lang_setting *setting;
	const char *kept; /* its text, in the memory of the program */
	struct diag_location name, text;
	struct lang_token value;
	bool read, broken; /* value: looked at; was no constant */
	bool several;      /* files have the parameter */
};

/* Whether a setting of this name means the parameter. */
static bool is_param_meant(const char *name, const struct lang_params *file, const struct lang_param *param)
{
	const char *dot = strrchr(name, '.');
	size_t length = dot ? (size_t)(dot - name) : 0;

	if (!dot)
		return strcmp(param->name, name) == 0;
	return strcmp(param->name, dot + 1) == 0 && strlen(file->file) == length &&
	       memcmp(file->file, name, length) == 0;
}

/* What the parameter is called where files are told apart. */
static const char *full_name(struct lang_report *report, const struct lang_params *file, const struct lang_param *param)
{
	return lang_hint(report, "%s.%s", file->file, param->name);
}

/* "the parameters are a b c", of as many as may be read. */
static const char *list_names(struct lang_report *report, const char *const *names, size_t count)
{
	char list[2000] = "";
	size_t used = 0;

	if (count == 0)
		return "these rules have no parameters";
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(names[i]);

		if (used + length + sizeof " ..." >= sizeof list) {
			memcpy(list + used, " ...", sizeof " ...");
			break;
		}
		list[used] = ' ';
		memcpy(list + used + 1, names[i], length + 1);
		used += length + 1;
	}
	return lang_hint(report, "the parameters are%s", list);
}

static void unknown_param(const struct assignment *assignment)
{
	const struct lang_params_of_all *all = assignment->all;
	const char *name = assignment->setting->name, **plain, **full;
	size_t count = 0, room = 1;

	for (size_t i = 0; i < all->count; i++)
		room += all->files[i].count;
	plain = arena_zero(all->scratch, room, sizeof *plain);
	full = arena_zero(all->scratch, room, sizeof *full);
	for (size_t i = 0; i < all->count && plain && full; i++) {
		for (const struct lang_param *at = all->files[i].first; at; at = at->next, count++) {
			plain[count] = at->name;
			full[count] = full_name(all->report, &all->files[i], at);
			if (!full[count])
				return;
		}
	}
	if (!plain || !full) {
		lang_no_memory(all->report);
		return;
	}
	const char *nearest = diag_nearest(name, strchr(name, '.') ? full : plain, count);
	const char *hint = lang_did_you_mean(all->report, name, nearest);

	if (!hint)
		hint = list_names(all->report, all->count > 1 || strchr(name, '.') ? full : plain, count);
	lang_error(all->report, &assignment->name, hint, "unknown parameter '%s'", name);
}

static void set_raw_string(const struct assignment *assignment, struct lang_param *param)
{
	if (strlen(assignment->kept) > LANG_STRING_BYTES_MAX) {
		lang_error(assignment->all->report, &assignment->text, NULL, "a string has at most %d bytes",
			   LANG_STRING_BYTES_MAX);
		return;
	}
	param->value.text = param->text = assignment->kept;
}

static void set_one(struct assignment *assignment, const struct lang_params *file, struct lang_param *param)
{
	struct lang_report *report = assignment->all->report;
	struct lang_token value;

	if (param->declared.kind == LANG_TOKEN_STRING && assignment->kept[0] != '"') {
		set_raw_string(assignment, param);
		return;
	}
	if (!assignment->read)
		assignment->broken =
			!lang_parse_setting(file, &assignment->text, assignment->all->scratch, &assignment->value);
	assignment->read = true;
	if (assignment->broken)
		return;
	value = assignment->value;
	if (!suits(&param->declared, &value)) {
		const char *name = assignment->several ? full_name(report, file, param) : param->name;

		lang_error(report, &assignment->text, lang_hint(report, "it is %s in the file", param->default_text),
			   "the parameter '%s' takes %s", name ? name : param->name, sort_name(&param->declared));
		lang_note(report, &param->location, "the parameter is declared here");
		return;
	}
	if (param->declared.unit == LANG_TIME && value.unit == LANG_PLAIN && value.integer != 0)
		lang_warn(
			report, &assignment->text,
			lang_hint(report, "say the unit: %s=%sns, or us, ms, s, min, h", param->name, assignment->kept),
			"the parameter '%s' takes a time: a bare number counts nanoseconds", param->name);
	param->value = value;
	param->text = assignment->kept;
}

/* Where in its line a setting stands. */
static struct diag_location setting_location(const struct diag_source *source, size_t at, uint32_t line,
					     const char *text)
{
	return (struct diag_location){ .source = source,
				       .offset = at,
				       .line = line,
				       .column = (uint32_t)at + 1,
				       .length = (uint32_t)strlen(text) };
}

void lang_params_set(const struct lang_params_of_all *all, const struct lang_setting *setting,
		     const struct diag_source *source)
{
	const struct lang_setting_line *line = &setting->line;
	uint32_t number = line->file ? line->number : 1;
	struct assignment assignment = {
		.all = all,
		.setting = setting,
		.kept = arena_text(all->arena, setting->text, strlen(setting->text)),
		.name = setting_location(source, line->file ? line->name_at : 0, number, setting->name),
		.text = setting_location(source, line->file ? line->value_at : strlen(setting->name) + 1, number,
					 setting->text),
	};
	size_t found = 0;

	if (!assignment.kept) {
		lang_no_memory(all->report);
		return;
	}
	for (size_t pass = 0; pass < 2; pass++) {
		assignment.several = found > 1;
		for (size_t i = 0; i < all->count; i++) {
			for (struct lang_param *at = all->files[i].first; at; at = at->next) {
				if (!is_param_meant(setting->name, &all->files[i], at))
					continue;
				if (pass == 0)
					found++;
				else if (at->value.kind != LANG_TOKEN_BAD)
					set_one(&assignment, &all->files[i], at);
			}
		}
	}
	if (found == 0)
		unknown_param(&assignment);
}
