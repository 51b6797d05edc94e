// SPDX-License-Identifier: BSD-2-Clause
/* Decides which value a setting gives a parameter: one of the sort that its declaration has. */

#include "lang/params-priv.h"

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
		return value->unit == LANG_TIME ? "a time" : value->unit == LANG_SIZE ? "a size" : "an integer";
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
	if (declared->kind != value->kind)
		return false;
	if (value->kind != LANG_TOKEN_INTEGER || declared->unit == value->unit)
		return true;
	return value->unit == LANG_PLAIN && (value->negative || value->integer <= INT64_MAX);
}

static struct lang_param *find(struct lang_params *params, const struct lang_setting *setting, struct diag_place *place)
{
	const char *names[LANG_PARAMS_MAX] = { NULL };
	char list[400] = "";
	size_t count = 0, used = 0;

	for (struct lang_param *at = params->first; at; at = at->next) {
		if (strcmp(at->name, setting->name) == 0)
			return at;
		size_t length = strlen(at->name);

		if (used + length + 2 < sizeof list) {
			memcpy(list + used, " ", 1);
			memcpy(list + used + 1, at->name, length + 1);
			used += length + 1;
		}
		names[count++] = at->name;
	}
	const char *nearest =
		lang_did_you_mean(params->report, setting->name, diag_nearest(setting->name, names, count));

	place->length = (uint32_t)strlen(setting->name);
	if (count == 0)
		nearest = "these rules have no parameters";
	else if (!nearest)
		nearest = lang_hint(params->report, "the parameters are%s", list);
	lang_error(params->report, place, nearest, "there is no parameter '%s'", setting->name);
	return NULL;
}

static void set_raw_string(struct lang_params *params, struct lang_param *param, const char *text,
			   const struct diag_place *place)
{
	size_t length = strlen(text);

	if (length > LANG_STRING_BYTES_MAX) {
		lang_error(params->report, place, NULL, "a string has at most %d bytes", LANG_STRING_BYTES_MAX);
		return;
	}
	param->value.text = param->text = text;
}

void lang_params_set(struct lang_params *params, const struct lang_setting *setting, const struct diag_source *source,
		     struct arena *scratch)
{
	struct diag_place place = { .source = source, .line = 1, .column = 1 };
	struct lang_param *param = find(params, setting, &place);
	struct lang_token value;

	if (!param || param->value.kind == LANG_TOKEN_BAD)
		return;
	size_t start = strlen(setting->name) + 1;
	const char *text = source->text + start;

	place.offset = start;
	place.column = (uint32_t)start + 1;
	place.length = (uint32_t)strlen(text);
	if (param->declared.kind == LANG_TOKEN_STRING && text[0] != '"') {
		set_raw_string(params, param, text, &place);
		return;
	}
	if (!lang_parse_setting(params, &place, scratch, &value))
		return;
	if (!suits(&param->declared, &value)) {
		lang_error(params->report, &place,
			   lang_hint(params->report, "it is %s in the file", param->default_text),
			   "the parameter '%s' takes %s", param->name, sort_name(&param->declared));
		lang_note(params->report, &param->place, "the parameter is declared here");
		return;
	}
	param->value = value;
	param->text = text;
}
