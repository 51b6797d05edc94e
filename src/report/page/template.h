/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_PAGE_TEMPLATE_H
#define REPORT_PAGE_TEMPLATE_H

/* The page of data/report in pieces, with its style, its program and their hashes; tools/embed-page writes it. */

enum {
	PAGE_BEFORE_TITLE,
	PAGE_BEFORE_HEADING,
	PAGE_BEFORE_SUMMARY,
	PAGE_BEFORE_SECTIONS,
	PAGE_BEFORE_DATA,
	PAGE_BEHIND_DATA,
	PAGE_PIECES,
};

extern const char *const page_template[PAGE_PIECES];

#endif
