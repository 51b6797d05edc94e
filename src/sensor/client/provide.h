/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_CLIENT_PROVIDE_H
#define SENSOR_CLIENT_PROVIDE_H

/* How a description of fields becomes the paragraph of a catalog that macros make when a program is compiled. */

#include "sensor/client/thread.h"

/* The paragraph as far as it is written. In a program that has no memory for it, too: then it has no text. */
struct asterism_client_text {
	char *text;
	size_t length, size;
};

struct asterism_client_word {
	char type[8], word[12];
	uint16_t bytes, align;
};

/* As ASTERISM_SENSOR_MEMBER_ and ASTERISM_SENSOR_WORD_. */
static const struct asterism_client_word asterism_client_words[] = {
	{ "u8", "u8", 1, 1 },
	{ "u16", "u16", 2, 2 },
	{ "u32", "u32", 4, 4 },
	{ "u64", "u64", 8, 8 },
	{ "i8", "i8", 1, 1 },
	{ "i16", "i16", 2, 2 },
	{ "i32", "i32", 4, 4 },
	{ "i64", "i64", 8, 8 },
	{ "f64", "f64", 8, 8 },
	{ "boolean", "bool", 1, 1 },
	{ "time", "time", 8, 8 },
	{ "addr", "addr", 8, 8 },
	{ "text8", "string[8]", 8, 1 },
	{ "text16", "string[16]", 16, 1 },
	{ "text32", "string[32]", 32, 1 },
	{ "text64", "string[64]", 64, 1 },
	{ "text128", "string[128]", 128, 1 },
	{ "text256", "string[256]", 256, 1 },
};

/* Counts what there is no room for, too. */
ASTERISM_CLIENT_FUNCTION void asterism_client_put(struct asterism_client_text *to, const char *text)
{
	for (; *text; text++, to->length++) {
		if (to->length < to->size)
			to->text[to->length] = *text;
	}
}

/* In quotes; what catalogs' strings cannot hold is a blank. */
ASTERISM_CLIENT_FUNCTION void asterism_client_quote(struct asterism_client_text *to, const char *text)
{
	asterism_client_put(to, "\"");
	for (; text && *text; text++) {
		char one[2] = { *text, 0 };

		if (*text == '"' || *text == '\\')
			asterism_client_put(to, "\\");
		if ((unsigned char)*text < ' ' || *text == 127)
			*one = ' ';
		asterism_client_put(to, one);
	}
	asterism_client_put(to, "\"");
}

ASTERISM_CLIENT_FUNCTION int asterism_client_is_name(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
	size_t length = name ? strspn(name, letters) : 0;

	return length && length < SENSOR_NAME_BYTES && !name[length] && (*name < '0' || *name > '9');
}

ASTERISM_CLIENT_FUNCTION const struct asterism_client_word *asterism_client_word(const char *type)
{
	for (size_t i = 0; type && i < sizeof asterism_client_words / sizeof *asterism_client_words; i++) {
		if (!strcmp(asterism_client_words[i].type, type))
			return &asterism_client_words[i];
	}
	return NULL;
}

/* Adds a field that lies behind *bytes. Returns 0 or an errno. */
ASTERISM_CLIENT_FUNCTION int asterism_client_describe(struct asterism_client_text *to,
						      const struct asterism_sensor_field *field, size_t *bytes)
{
	const struct asterism_client_word *word = asterism_client_word(field->type);

	if (!word || !asterism_client_is_name(field->name))
		return EINVAL;
	*bytes = (size_t)sensor_round(*bytes, word->align) + word->bytes;
	asterism_client_put(to, "\t");
	asterism_client_put(to, field->name);
	asterism_client_put(to, ": ");
	asterism_client_put(to, word->word);
	asterism_client_put(to, " UNIT ");
	asterism_client_quote(to, field->unit);
	asterism_client_put(to, " ");
	asterism_client_quote(to, field->documentation);
	asterism_client_put(to, ",\n");
	return *bytes > SENSOR_PAYLOAD_UNITS_MAX * RING_UNIT_BYTES ? E2BIG : 0;
}

/* What is asked for by asterism_sensor_register. */
struct asterism_client_wish {
	const char *name, *documentation;
	const struct asterism_sensor_field *fields;
	size_t count;
};

/* The whole, with its NUL; payload_bytes is what its fields take. Returns 0 or an errno. */
ASTERISM_CLIENT_FUNCTION int asterism_client_write_text(struct asterism_client_text *to,
							const struct asterism_client_wish *wish, size_t *payload_bytes)
{
	int error = asterism_client_is_name(wish->name) ? 0 : EINVAL;

	*payload_bytes = 0;
	asterism_client_put(to, "EVENT ");
	asterism_client_put(to, error ? "" : wish->name);
	asterism_client_put(to, " ");
	asterism_client_quote(to, wish->documentation);
	asterism_client_put(to, " {\n");
	for (size_t i = 0; !error && i < wish->count; i++) {
		for (size_t j = 0; j < i && !error; j++)
			error = wish->fields[i].name && !strcmp(wish->fields[i].name, wish->fields[j].name) ? EINVAL
													    : 0;
		if (!error)
			error = asterism_client_describe(to, &wish->fields[i], payload_bytes);
	}
	asterism_client_put(to, "}\n");
	if (to->length < to->size)
		to->text[to->length] = 0;
	to->length++;
	return error;
}

/* A sensor with that paragraph, of which nobody knows yet. Returns NULL and errno. */
ASTERISM_CLIENT_FUNCTION struct asterism_sensor *asterism_client_make(const struct asterism_client_wish *wish)
{
	struct asterism_client_text text = { NULL, 0, 0 };
	struct asterism_sensor *sensor;
	size_t payload_bytes;

	errno = asterism_client_write_text(&text, wish, &payload_bytes);
	if (!errno && text.length > ASTERISM_CLIENT_TEXT_MAX)
		errno = E2BIG;
	if (errno)
		return NULL;
	sensor = (struct asterism_sensor *)calloc(1, sizeof *sensor + text.length);
	if (!sensor) {
		errno = ENOMEM;
		return NULL;
	}
	text.text = (char *)(sensor + 1);
	text.size = text.length;
	text.length = 0;
	asterism_client_write_text(&text, wish, &payload_bytes);
	sensor->text = text.text;
	sensor->gate = &asterism_sensor_closed;
	sensor->units = (uint32_t)((payload_bytes + RING_UNIT_BYTES - 1) / RING_UNIT_BYTES);
	return sensor;
}

/* Adds a new one, and before the first the one that tells of them. Returns 0 or an errno. The lock is held. */
ASTERISM_CLIENT_FUNCTION int asterism_client_enter(struct asterism_client *client, struct asterism_sensor *sensor)
{
	static const struct asterism_sensor_field fields[] = { { "text64", "sensor", "", "its name" },
							       { "boolean", "is_end", "", "it is no more" } };
	static const struct asterism_client_wish wish = { "sensor_registration",
							  "a type of events that was not compiled in", fields, 2 };

	if (!client->announcer) {
		client->announcer = asterism_client_make(&wish);
		if (!client->announcer)
			return ENOMEM;
		asterism_client_add(client, client->announcer);
	}
	if (asterism_client_has_other(client, sensor->text))
		return EEXIST;
	asterism_client_add(client, sensor);
	if (sensor->id)
		return 0;
	asterism_client_remove(client, sensor);
	return client->type_count == SENSOR_TYPES_MAX ? ENOSPC : ENOMEM;
}

/* What the directory says of one that has been entered, if there is one. Returns 0, or EINVAL: it is out again. */
ASTERISM_CLIENT_FUNCTION int asterism_client_judge(struct asterism_client *client, struct asterism_sensor *sensor)
{
	int is_wrong;

	pthread_mutex_lock(&client->lock);
	is_wrong = client->types[sensor->id - 1].fault == SENSOR_IS_WRONG;
	if (is_wrong)
		asterism_client_remove(client, sensor);
	pthread_mutex_unlock(&client->lock);
	return is_wrong ? EINVAL : 0;
}

/* Says that there is one more, or one less. */
ASTERISM_CLIENT_FUNCTION void asterism_client_announce(const struct asterism_client *client,
						       const struct asterism_sensor *sensor, int is_end)
{
	struct {
		char sensor[SENSOR_NAME_BYTES];
		uint8_t is_end;
	} event;
	const char *name;
	size_t length = asterism_client_name(sensor->text, &name);

	memset(&event, 0, sizeof event);
	memcpy(event.sensor, name, length);
	event.is_end = is_end != 0;
	asterism_sensor_log(client->announcer, &event, sizeof event);
}

#endif
