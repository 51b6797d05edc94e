/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LANG_SYNTAX_SETTING_H
#define LANG_SYNTAX_SETTING_H

#include <stdint.h>

/* The line of a file that holds a setting. */
struct lang_setting_line {
	const char *file, *text;
	uint32_t number;            /* from 1 */
	uint32_t name_at, value_at; /* in text, bytes */
};

/*
 * Another value for what every input that has it calls PARAM name = ...; FILE.name is that of one input, whose file is
 * FILE.rule in whatever folder. text is a constant as rules write it. Everything is borrowed for the call.
 */
struct lang_setting {
	const char *name, *text;
	struct lang_setting_line line; /* file NULL: it was given as name=text on the command line */
};

#endif
