/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_KEY_H
#define SENSOR_KEY_H

/*
 * By what programs in the kernel know a type of events: FNV-1a (64 bit) of its paragraph without what says nothing of
 * where its fields lie, "EVENTname{field:type,field:string[16],}". C11 and C++11.
 */

#include <stdint.h>
#include <string.h>

#define SENSOR_KEY_BASIS UINT64_C(0xcbf29ce484222325)
#define SENSOR_KEY_PRIME UINT64_C(0x100000001b3)

static inline uint64_t sensor_key_byte(uint64_t key, char byte)
{
	return (key ^ (unsigned char)byte) * SENSOR_KEY_PRIME;
}

/* Behind a text in quotes that begins at text. */
static inline const char *sensor_key_unquoted(const char *text)
{
	for (text++; *text && *text != '"'; text++)
		text += *text == '\\' && text[1];
	return *text ? text + 1 : text;
}

/* text: as ASTERISM_SENSOR_PARAGRAPH has it. Units and documentation do not count. */
static inline uint64_t sensor_key(const char *text)
{
	uint64_t key = SENSOR_KEY_BASIS;

	while (*text) {
		if (*text == '"')
			text = sensor_key_unquoted(text);
		else if (!strncmp(text, " UNIT ", 6))
			text += 6;
		else if (*text == ' ' || *text == '\t' || *text == '\n')
			text++;
		else
			key = sensor_key_byte(key, *text++);
	}
	return key;
}

#endif
