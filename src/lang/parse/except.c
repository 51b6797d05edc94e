// SPDX-License-Identifier: BSD-2-Clause
/* Parses EXCEPT, and the lines `RULE: condition, ...` of exceptions given apart from the rules. */

#include "lang/parse/except-priv.h"

#include <string.h>

static struct lang_syntax_condition *parse_except_condition(struct lang_parser *p)
{
	struct lang_syntax_condition *condition = lang_node(p, sizeof *condition);

	if (condition && p->token.kind == LANG_TOKEN_LBRACKET) {
		lang_error(p->report, &p->token.location, "the events of a match agree on its join fields anyway",
			   "an exception has no join fields");
		return NULL;
	}
	if (condition)
		condition->expr = lang_parse_condition(p);
	return condition && condition->expr ? condition : NULL;
}

bool lang_parse_except(struct lang_parser *p, struct lang_syntax_rule *rule)
{
	struct lang_list list = { .separator = LANG_TOKEN_COMMA,
				  .closer = LANG_TOKEN_RBRACE,
				  .item = "a condition",
				  .expect = "',' or '}'",
				  .recovers = true };
	struct lang_syntax_condition **end = &rule->except, *condition;

	if (!lang_expect(p, LANG_TOKEN_LBRACE, "'{'", "conditions are written 'EXCEPT { a.comm == \"dpkg\" }'"))
		return false;
	if (!lang_list_begin(p, &list))
		return true;
	do {
		condition = parse_except_condition(p);
		if (condition && !lang_list_item_ends(p, &list))
			condition = NULL;
		if (condition) {
			*end = condition;
			end = &condition->next;
		}
	} while (lang_list_next(p, &list, condition != NULL));
	return true;
}

/* RULE: condition, ... up to the end of the piece. */
static bool parse_line(struct lang_parser *p, struct lang_syntax_exception *exception)
{
	static const char hint[] = "an exception is written 'RULE: condition, ...'";
	struct lang_syntax_condition **end = &exception->conditions;

	if (p->token.kind != LANG_TOKEN_WORD)
		return lang_unexpected(p, "the name of a rule", hint);
	if (!lang_take_word(p, &exception->rule, "the name of a rule") ||
	    !lang_expect(p, LANG_TOKEN_COLON, "':'", hint))
		return false;
	do {
		struct lang_syntax_condition *condition = parse_except_condition(p);

		if (!condition)
			return false;
		*end = condition;
		end = &condition->next;
	} while (lang_accept(p, LANG_TOKEN_COMMA) && p->token.kind != LANG_TOKEN_END);
	return p->token.kind == LANG_TOKEN_END || lang_unexpected(p, "',' or the end of the line", NULL);
}

static bool says_nothing(const char *line, size_t length)
{
	size_t blanks = 0;

	while (blanks < length && strchr(" \t\r", line[blanks]))
		blanks++;
	return blanks == length || line[blanks] == '#' ||
	       (length - blanks >= 2 && line[blanks] == '/' && line[blanks + 1] == '/');
}

static struct lang_syntax_exception *parse_exception(const struct lang_parser *like,
						     const struct diag_location *location)
{
	struct lang_parser parser;
	struct lang_syntax_exception *exception;

	lang_parser_init_at(&parser, like, location);
	exception = lang_node(&parser, sizeof *exception);
	return exception && parse_line(&parser, exception) ? exception : NULL;
}

void lang_parse_exceptions(const struct lang_parser *like, const struct diag_source *source,
			   struct lang_syntax_exception ***end)
{
	struct diag_location line = { .source = source, .line = 1, .column = 1 };

	while (line.offset < source->length && !lang_report_full(like->report)) {
		const char *text = source->text + line.offset;
		const char *newline = memchr(text, '\n', source->length - line.offset);
		struct lang_syntax_exception *exception = NULL;

		line.length = (uint32_t)(newline ? newline - text : (ptrdiff_t)(source->length - line.offset));
		if (!says_nothing(text, line.length))
			exception = parse_exception(like, &line);
		if (exception) {
			**end = exception;
			*end = &exception->next;
		}
		line.offset += line.length + 1;
		line.line++;
	}
}
