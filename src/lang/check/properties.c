// SPDX-License-Identifier: BSD-2-Clause
/* Decides which texts a rule or a machine may give to people: printable ones, so that every output can show them. */

#include "lang/check/check-priv.h"

#include "base/text.h"

#include <string.h>

static bool is_shown(const char *text)
{
	while (*text && text_is_shown(text))
		text += text_character(text);
	return !*text;
}

static bool check_text(struct lang_check *c, const struct lang_word *word, const char *what)
{
	if (!*word->text)
		lang_error(c->report, &word->location, NULL, "%s is empty", what);
	else if (!is_shown(word->text))
		lang_error(c->report, &word->location, NULL, "%s has characters that are not shown", what);
	else
		return true;
	return false;
}

static void check_tag(struct lang_check *c, const struct lang_word *word, struct lang_properties *properties)
{
	if (!check_text(c, word, "a tag"))
		return;
	for (uint32_t i = 0; i < properties->tag_count; i++) {
		if (strcmp(properties->tags[i], word->text) == 0) {
			lang_error(c->report, &word->location, NULL, "the tag '%s' is given twice", word->text);
			return;
		}
	}
	properties->tags[properties->tag_count++] = word->text;
}

void lang_check_properties(struct lang_check *c, const struct lang_syntax_properties *syntax,
			   struct lang_properties *properties)
{
	properties->severity = syntax->severity;
	if (syntax->description.text && check_text(c, &syntax->description, "DESCRIPTION"))
		properties->description = syntax->description.text;
	if (syntax->tag_count > LANG_TAGS_MAX) {
		lang_error(c->report, &syntax->tags->word.location, NULL, "there are more than %d tags", LANG_TAGS_MAX);
		return;
	}
	properties->tags = lang_keep(c, syntax->tag_count, sizeof *properties->tags);
	for (const struct lang_syntax_tag *at = syntax->tags; at && properties->tags; at = at->next)
		check_tag(c, &at->word, properties);
}
