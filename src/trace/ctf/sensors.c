// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes and reads what a trace says of sensors besides what any reader of CTF has to know: whose they are, and the
 * paragraph that describes them, with units and documentation. It stands in a comment before the event class. Texts are
 * applications' own, so what could end the comment or a line of it is written as %XX.
 */

#include "trace/ctf/metadata.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SENSOR_START "/* sensor\n"

/*
 * The stream of sensors has no CPU; where others have it, there is how many processes were read. Class 0 and
 * "late" are those of the other streams.
 */
const char ctf_metadata_sensors[] = "\n"
				    "stream {\n"
				    "\tid = 1;\n"
				    "\tpacket.context := struct {\n"
				    "\t\tclock64 timestamp_begin;\n"
				    "\t\tclock64 timestamp_end;\n"
				    "\t\taligned64 content_size;\n"
				    "\t\taligned64 packet_size;\n"
				    "\t\taligned64 events_discarded;\n"
				    "\t\taligned32 processes;\n"
				    "\t\taligned64 packet_seq_num;\n"
				    "\t} align(128);\n"
				    "\tevent.header := struct {\n"
				    "\t\tu16 id;\n"
				    "\t\tclock48 timestamp;\n"
				    "\t} align(64);\n"
				    "};\n"
				    "\n"
				    "event {\n"
				    "\tname = \"context\";\n"
				    "\tid = 0;\n"
				    "\tstream_id = 1;\n"
				    "\tfields := struct {\n"
				    "\t\tu32 _tid;\n"
				    "\t\tu32 _pid;\n"
				    "\t\tletter _comm[16];\n"
				    "\t};\n"
				    "};\n"
				    "\n"
				    "event {\n"
				    "\tname = \"late\";\n"
				    "\tid = 65531;\n"
				    "\tstream_id = 1;\n"
				    "\tfields := struct {\n"
				    "\t\tu64 _entered;\n"
				    "\t\tu64 _unread;\n"
				    "\t};\n"
				    "};\n";

_Static_assert(EVENT_PACKED_ID_LATE == 65531, "the stream of sensors has it, too");

static bool is_plain_byte(unsigned char c)
{
	return c >= ' ' && c != 0x7f && c != '%' && c != '*';
}

static void put_sensor_line(struct text_buffer *text, const char *name, const char *value)
{
	text_printf(text, "   %s ", name);
	for (; *value; value++) {
		if (is_plain_byte((unsigned char)*value))
			text_append_bytes(text, value, 1);
		else
			text_printf(text, "%%%02x", (unsigned char)*value);
	}
	text_append(text, "\n");
}

/* A paragraph on one line: outside of quotes white space is one blank. */
static void put_paragraph(struct text_buffer *text, const char *paragraph)
{
	struct text_buffer line = { 0 };
	bool is_quoted = false;

	for (const char *at = paragraph; *at; at++) {
		bool is_blank = !is_quoted && (*at == ' ' || *at == '\t' || *at == '\n');

		if (is_blank && (!at[1] || strchr(" \t\n", at[1])))
			continue;
		if (is_quoted && *at == '\\' && at[1])
			text_append_bytes(&line, at++, 1);
		else if (*at == '"')
			is_quoted = !is_quoted;
		text_append_bytes(&line, is_blank ? " " : at, 1);
	}
	if (line.bytes)
		put_sensor_line(text, "type", line.bytes);
	if (line.failure)
		text->failure = line.failure;
	text_fini(&line);
}

void ctf_sensor_write(const struct ctf_sensor *sensor, struct text_buffer *text)
{
	text_append(text, SENSOR_START);
	put_sensor_line(text, "program", sensor->program);
	put_sensor_line(text, "path", sensor->path);
	put_paragraph(text, sensor->text);
	text_append(text, "*/\n");
}

static int hex_digit_of(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The value of a line, in place of what it is written as. Returns whether it is one. */
static bool unescape_value(char *value)
{
	char *to = value;

	for (; *value; value++) {
		int high, low;

		if (*value != '%') {
			*to++ = *value;
			continue;
		}
		high = hex_digit_of(value[1]);
		low = high < 0 ? -1 : hex_digit_of(value[2]);
		if (low < 0 || !(high | low))
			return false;
		*to++ = (char)(high << 4 | low);
		value += 2;
	}
	*to = 0;
	return true;
}

/* The value of the line that begins at *at, which goes behind it; NULL: it is not called name. -ENOMEM to failed. */
static const char *take_line(const char **at, const char *end, const char *name, struct arena *arena, int *failed)
{
	char start[16];
	size_t length = (size_t)snprintf(start, sizeof start, "   %s ", name);
	const char *line = *at, *stop = memchr(line, '\n', (size_t)(end - line));
	char *value;

	if (!stop || (size_t)(stop - line) < length || memcmp(line, start, length) != 0 ||
	    memchr(line, 0, (size_t)(stop - line)))
		return NULL;
	*at = stop + 1;
	value = arena_text(arena, line + length, (size_t)(stop - line) - length);
	if (!value)
		*failed = -ENOMEM;
	return value && unescape_value(value) ? value : NULL;
}

int ctf_sensor_read(const char *comment, size_t length, struct arena *arena, const struct ctf_sensor **read)
{
	struct ctf_sensor *sensor = arena_zero(arena, 1, sizeof *sensor);
	const char *at = comment, *end = comment + length;
	int failed = sensor ? 0 : -ENOMEM;

	if (failed || length < strlen(SENSOR_START) || memcmp(at, SENSOR_START, strlen(SENSOR_START)) != 0)
		return failed ? failed : -EINVAL;
	at += strlen(SENSOR_START);
	sensor->program = take_line(&at, end, "program", arena, &failed);
	sensor->path = sensor->program ? take_line(&at, end, "path", arena, &failed) : NULL;
	sensor->text = sensor->path ? take_line(&at, end, "type", arena, &failed) : NULL;
	if (failed || !sensor->text)
		return failed ? failed : -EINVAL;
	*read = sensor;
	return 0;
}
