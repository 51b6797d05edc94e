// SPDX-License-Identifier: BSD-2-Clause
/* Parses what a rule's or a machine's matches mean to people: SEVERITY, TAGS, DESCRIPTION. */

#include "lang/parse/parser-priv.h"

bool lang_parse_severity(struct lang_parser *p, struct lang_syntax_properties *properties)
{
	for (int i = 0; i < SEVERITY_NAME_COUNT; i++) {
		if (lang_accept_word(p, severity_names[i])) {
			properties->severity = (enum severity)(i + 1);
			return true;
		}
	}
	return lang_unexpected(p, "info, low, medium, high or critical",
			       lang_nearest_word(p, severity_names, SEVERITY_NAME_COUNT));
}

static bool parse_text(struct lang_parser *p, struct lang_word *word, const char *what, const char *hint)
{
	lang_substitute(p);
	*word = (struct lang_word){ .text = p->token.text, .location = p->token.location };
	return lang_expect(p, LANG_TOKEN_STRING, what, hint);
}

bool lang_parse_description(struct lang_parser *p, struct lang_syntax_properties *properties)
{
	return parse_text(p, &properties->description, "a text in quotes",
			  "write 'DESCRIPTION \"what a match means\"'");
}

bool lang_parse_tags(struct lang_parser *p, struct lang_syntax_properties *properties)
{
	static const char hint[] = "write 'TAGS { \"T1059\", \"network\" }'";
	struct lang_list list = { .separator = LANG_TOKEN_COMMA,
				  .closer = LANG_TOKEN_RBRACE,
				  .item = "a tag in quotes",
				  .expect = "',' or '}'",
				  .recovers = true };
	struct lang_syntax_tag **end = &properties->tags;
	bool parsed;

	if (!lang_expect(p, LANG_TOKEN_LBRACE, "'{'", hint))
		return false;
	if (!lang_list_begin(p, &list))
		return true;
	do {
		struct lang_syntax_tag *tag = lang_node(p, sizeof *tag);

		parsed = tag && parse_text(p, &tag->word, list.item, hint);
		if (!parsed)
			continue;
		*end = tag;
		end = &tag->next;
		properties->tag_count++;
	} while (lang_list_next(p, &list, parsed));
	return true;
}

static const struct property {
	const char *keyword;
	bool (*parse)(struct lang_parser *p, struct lang_syntax_properties *properties);
} table[LANG_PROPERTY_COUNT] = {
	[LANG_PROPERTY_SEVERITY] = { "SEVERITY", lang_parse_severity },
	[LANG_PROPERTY_TAGS] = { "TAGS", lang_parse_tags },
	[LANG_PROPERTY_DESCRIPTION] = { "DESCRIPTION", lang_parse_description },
};

bool lang_parse_property(struct lang_parser *p, struct lang_syntax_properties *properties)
{
	enum lang_property which = lang_at_property(p);
	struct diag_location *given = &properties->given[which];

	if (given->line) {
		lang_error(p->report, &p->token.location, NULL, "%s is given twice", table[which].keyword);
		lang_note(p->report, given, "first given here");
		properties = lang_node(p, sizeof *properties);
		if (!properties)
			return false;
	} else {
		*given = p->token.location;
	}
	lang_advance(p);
	return table[which].parse(p, properties);
}
