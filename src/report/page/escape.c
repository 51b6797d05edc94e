// SPDX-License-Identifier: BSD-2-Clause
/* Decides how texts of others stand in HTML. */

#include "report/page/page.h"

void page_escape(struct text_buffer *html, const char *text)
{
	static const char *const named[256] = {
		['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;",
	};
	while (*text != '\0') {
		struct text_piece piece;
		text_escape(text, TEXT_WORDS, &piece);
		const char *name = piece.taken == 1 ? named[(unsigned char)*text] : NULL;
		if (name)
			text_append(html, name);
		else
			text_append_bytes(html, piece.bytes, piece.length);
		text += piece.taken;
	}
}
