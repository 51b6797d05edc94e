// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes the declarations of returned values in C. An image may name things as it likes, so nothing of it reaches the
 * header but through identifier() and put_comment().
 */

#include "program/values-header.h"

#include "base/alloc.h"
#include "program/values.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { IDENTIFIER_BYTES = 80, IDENTIFIER_LENGTH_MAX = 60 };

/* Identifiers made so far in one name space, in the order of what they stand for. */
struct names {
	char (*items)[IDENTIFIER_BYTES];
	size_t count;
};

/* What C, C++ or usual headers have taken, and our own members. */
static const char *const taken[] = {
	"alignas",      "alignof",
	"and",          "and_eq",
	"asm",          "auto",
	"bitand",       "bitor",
	"bool",         "break",
	"case",         "catch",
	"char",         "char16_t",
	"char32_t",     "char8_t",
	"class",        "co_await",
	"co_return",    "co_yield",
	"compl",        "complex",
	"concept",      "const",
	"const_cast",   "consteval",
	"constexpr",    "constinit",
	"continue",     "decltype",
	"default",      "delete",
	"do",           "double",
	"dynamic_cast", "else",
	"enum",         "errno",
	"explicit",     "export",
	"extern",       "false",
	"float",        "for",
	"friend",       "goto",
	"i386",         "if",
	"inline",       "int",
	"layout",       "linux",
	"long",         "missing",
	"mutable",      "namespace",
	"new",          "noexcept",
	"not",          "not_eq",
	"nullptr",      "offsetof",
	"operator",     "or",
	"or_eq",        "private",
	"protected",    "public",
	"register",     "reinterpret_cast",
	"requires",     "restrict",
	"return",       "short",
	"signed",       "sizeof",
	"static",       "static_assert",
	"static_cast",  "stderr",
	"stdin",        "stdout",
	"struct",       "switch",
	"template",     "this",
	"thread_local", "throw",
	"true",         "try",
	"typedef",      "typeid",
	"typename",     "typeof",
	"union",        "unix",
	"unsigned",     "using",
	"virtual",      "void",
	"volatile",     "wchar_t",
	"while",        "xor",
	"xor_eq",
};

static bool is_value_name_taken(const char *name)
{
	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
		if (strcmp(name, taken[i]) == 0)
			return true;
	}
	return false;
}

static bool is_known_value(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++) {
		if (strcmp(names->items[i], name) == 0)
			return true;
	}
	return false;
}

static bool is_plain_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* The next of names, made of text: letters and digits as they are, one underscore for what stands between them.
 * alone: it is no part of a longer one. */
static const char *identifier(struct names *names, const char *text, bool alone)
{
	char base[IDENTIFIER_LENGTH_MAX + 2] = "", *name = names->items[names->count];
	size_t length = 0;
	bool gap = false;

	for (; *text && length < IDENTIFIER_LENGTH_MAX; text++) {
		if (is_plain_char(*text)) {
			if (gap && length)
				base[length++] = '_';
			if (!length && *text >= '0' && *text <= '9')
				base[length++] = 'v';
			base[length++] = *text;
		}
		gap = !is_plain_char(*text);
	}
	if (!length)
		base[length++] = 'v';
	base[length] = 0;
	snprintf(name, IDENTIFIER_BYTES, "%s%s", base, alone && is_value_name_taken(base) ? "_" : "");
	for (unsigned number = 2; is_known_value(names, name); number++)
		snprintf(name, IDENTIFIER_BYTES, "%s_%u", base, number);
	names->count++;
	return name;
}

/* Nothing that could end the comment, the line, or the patience of a compiler. */
static void put_comment(FILE *stream, const char *text)
{
	char last = 0;

	for (; *text; text++) {
		bool delimits = (*text == '/' && last == '*') || (*text == '*' && last == '/');

		last = delimits || *text == '\\' || *text == '?' || !isprint((unsigned char)*text) ? '_' : *text;
		putc(last, stream);
	}
}

static void put_place_member(FILE *stream, const struct program *program, const struct program_place *place,
			     const char *name)
{
	static const char *const types[] = {
		[PROGRAM_I64] = "int64_t", [PROGRAM_U64] = "uint64_t", [PROGRAM_F64] = "double", [PROGRAM_BOOL] = "bool"
	};

	if (place->kind == PROGRAM_STRING)
		fprintf(stream, "\tchar %s[%zu];", name, place->bytes);
	else
		fprintf(stream, "\t%s %s;", types[place->kind], name);
	fputs(" /* ", stream);
	put_comment(stream, program_text(program, place->name));
	fputs(" */\n", stream);
}

/* The members and, behind the structure, that each is where the library puts it. */
static void put_struct(FILE *stream, const struct program *program, uint32_t rule, const char *name,
		       struct names *members)
{
	struct program_values values = { 0 };
	struct program_place place;

	fprintf(stream,
		"struct %s_values {\n"
		"\tuint64_t layout;  /* %s_values_layout */\n"
		"\tuint64_t missing; /* bit i: value i, from 0, %s */\n",
		name, name,
		program->rules[rule].semantics == PROGRAM_MACHINE ? "divides by zero or is not of this match"
								  : "divides by zero and has none");
	members->count = 0;
	while (program_values_next(program, rule, &values, &place))
		put_place_member(stream, program, &place, identifier(members, program_text(program, place.name), true));
	fprintf(stream,
		"};\n\n#define %s_values_layout UINT64_C(0x%016" PRIx64 ")\n"
		"ASTERISM_STATIC_ASSERT(sizeof(struct %s_values) == %zu, \"layout\");\n",
		name, values.layout, name, values.bytes);
	values = (struct program_values){ 0 };
	while (program_values_next(program, rule, &values, &place))
		fprintf(stream, "ASTERISM_STATIC_ASSERT(offsetof(struct %s_values, %s) == %zu, \"layout\");\n", name,
			members->items[values.count - 1], place.offset);
}

static void put_rule_struct(FILE *stream, const struct program *program, uint32_t rule, const char *name,
			    struct names *members)
{
	fputs("\n/* What rule ", stream);
	put_comment(stream, program_text(program, program->rules[rule].name));
	fputs(" returns. */\n", stream);
	put_struct(stream, program, rule, name, members);
	fprintf(stream,
		"\n/* Fills *values. Returns 0, or -EINVAL: the match is of another rule, or of another version of it. "
		"*/\n"
		"static inline int %s_values_get(const struct asterism_match *match, struct %s_values *values)\n"
		"{\n"
		"\tvalues->layout = %s_values_layout;\n"
		"\treturn asterism_match_values(match, values, sizeof *values);\n"
		"}\n",
		name, name, name);
}

static int check_returned_names(const struct program *program, struct asterism_diag *diag)
{
	for (uint32_t i = 0; i < program->rule_count; i++) {
		if (program->rules[i].return_count > VALUES_HEADER_MAX)
			return diag_error(diag, NULL, -EINVAL, "rule %s returns %u values; a C structure holds %d",
					  program_text(program, program->rules[i].name), program->rules[i].return_count,
					  VALUES_HEADER_MAX);
	}
	return 0;
}

/* Headers of different rules must not shut each other out. */
static uint64_t identity(const struct program *program)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < program->rule_count; i++) {
		struct program_values values;

		program_values_layout(program, i, &values);
		sum = sum * 31 + values.layout;
	}
	return sum;
}

int program_write_values_header(FILE *stream, const struct program *program, struct asterism_diag *diag)
{
	struct names rules = { 0 }, members = { 0 };
	uint64_t guard = identity(program);
	int result = check_returned_names(program, diag);

	if (result)
		return result;
	rules.items = alloc_zero(program->rule_count, sizeof *rules.items);
	members.items = alloc_zero(VALUES_HEADER_MAX, sizeof *members.items);
	if (!rules.items || !members.items) {
		result = diag_no_memory(diag);
		goto out;
	}
	fprintf(stream,
		"/* Made by `asterism compile --header`: change the rules, not this. */\n"
		"#ifndef ASTERISM_VALUES_%016" PRIX64 "\n#define ASTERISM_VALUES_%016" PRIX64 "\n\n"
		"#include <asterism/match.h>\n\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n",
		guard, guard);
	for (uint32_t i = 0; i < program->rule_count; i++) {
		const char *name = identifier(&rules, program_text(program, program->rules[i].name), false);

		if (program->rules[i].return_count)
			put_rule_struct(stream, program, i, name, &members);
	}
	fputs("\n#endif\n", stream);
out:
	alloc_free(rules.items);
	alloc_free(members.items);
	return result;
}
