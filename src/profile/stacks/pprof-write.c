// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes estimated stacks for pprof: github.com/google/pprof/proto/profile.proto, deflated as it is
 * made, so that no more than one message of it is in memory. Nothing in it depends on when it is written. The numbers
 * of its strings, functions and locations are those of the profile's texts and functions, mappings are objects.
 */

#include "profile/pprof.h"
#include "profile/stacks/paths.h"

#include "base/alloc.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

/* Rounding is to cost no more than a millionth of the whole, and numbers have 63 bits. */
#define WHOLE_ENOUGH 1e7
#define VALUE_MAX    4e18

enum { OUT_BYTES = 1 << 14, GZIP = 16 + MAX_WBITS, VARINT_BYTES = 10, UNIT_BYTES = 32 };
enum { MESSAGE_BYTES = (PROFILE_DEPTH_MAX + 16) * VARINT_BYTES };

/* Strings behind those of the profile. */
enum { STRING_UNIT, STRING_COMMENT };

struct pprof {
	FILE *stream;
	const struct profile *profile;
	z_stream deflating;
	uint8_t out[OUT_BYTES], message[MESSAGE_BYTES];
	size_t length;
	double scale, sum;
	bool is_whole; /* all costs are */
};

static void put_raw(struct pprof *pprof, const void *bytes, size_t count, int flush)
{
	z_stream *deflating = &pprof->deflating;

	deflating->next_in = (z_const Bytef *)bytes;
	deflating->avail_in = (uInt)count;
	do {
		deflating->next_out = pprof->out;
		deflating->avail_out = sizeof pprof->out;
		deflate(deflating, flush);
		fwrite(pprof->out, 1, sizeof pprof->out - deflating->avail_out, pprof->stream);
	} while (!deflating->avail_out);
}

static size_t encode(uint8_t *to, uint64_t number)
{
	size_t length = 0;

	for (; number >= 0x80; number >>= 7)
		to[length++] = (uint8_t)(number | 0x80);
	to[length++] = (uint8_t)number;
	return length;
}

/* A field of the message that is being made; without it, it is 0. */
static void add_number_field(struct pprof *pprof, unsigned field, uint64_t number)
{
	if (!number)
		return;
	pprof->length += encode(pprof->message + pprof->length, field << 3 | PPROF_VARINT);
	pprof->length += encode(pprof->message + pprof->length, number);
}

static void put_pprof_head(struct pprof *pprof, unsigned field, size_t length)
{
	uint8_t head[2 * VARINT_BYTES];
	size_t count = encode(head, field << 3 | PPROF_BYTES);

	count += encode(head + count, length);
	put_raw(pprof, head, count, Z_NO_FLUSH);
}

/* What has been made is a field of the file. */
static void put_pprof_message(struct pprof *pprof, unsigned field)
{
	put_pprof_head(pprof, field, pprof->length);
	put_raw(pprof, pprof->message, pprof->length, Z_NO_FLUSH);
	pprof->length = 0;
}

/* Strings are UTF-8; a byte that is not is U+FFFD. */
static void put_pprof_string(struct pprof *pprof, const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	size_t length = 0, taken;

	for (const char *at = text; *at; at += taken ? taken : 1) {
		taken = text_character(at);
		length += taken ? taken : sizeof replacement - 1;
	}
	put_pprof_head(pprof, PPROF_STRING, length);
	while (*text) {
		const char *at = text;

		while ((taken = text_character(at)))
			at += taken;
		if (at > text)
			put_raw(pprof, text, (size_t)(at - text), Z_NO_FLUSH);
		if (*at)
			put_raw(pprof, replacement, sizeof replacement - 1, Z_NO_FLUSH);
		text = at + (*at != 0);
	}
}

static void put_strings(struct pprof *pprof)
{
	char unit[UNIT_BYTES] = "count";

	if (pprof->scale > 1)
		snprintf(unit, sizeof unit, "/%.0f", pprof->scale);
	else if (pprof->scale < 1)
		snprintf(unit, sizeof unit, "*%.0f", 1 / pprof->scale);
	for (size_t i = 0; i < pprof->profile->texts.count; i++)
		put_pprof_string(pprof, pprof->profile->texts.texts[i]);
	put_pprof_string(pprof, unit);
	put_pprof_string(pprof, "stacks estimated by asterism " ASTERISM_VERSION);
}

static void put_functions(struct pprof *pprof)
{
	const struct profile *profile = pprof->profile;

	for (uint32_t i = 0; i < profile->function_count; i++) {
		const struct profile_function *function = &profile->functions[i];
		uint8_t line[2 * (VARINT_BYTES + 1)];
		size_t length;

		add_number_field(pprof, PPROF_FUNCTION_ID, i + UINT64_C(1));
		add_number_field(pprof, PPROF_FUNCTION_NAME, function->name);
		add_number_field(pprof, PPROF_FUNCTION_FILE, function->file);
		add_number_field(pprof, PPROF_FUNCTION_LINE, function->line);
		put_pprof_message(pprof, PPROF_FUNCTION);
		line[0] = PPROF_LINE_FUNCTION << 3 | PPROF_VARINT;
		length = 1 + encode(line + 1, i + UINT64_C(1));
		add_number_field(pprof, PPROF_LOCATION_ID, i + UINT64_C(1));
		add_number_field(pprof, PPROF_LOCATION_MAPPING, function->object);
		pprof->message[pprof->length++] = PPROF_LOCATION_LINE << 3 | PPROF_BYTES;
		pprof->length += encode(pprof->message + pprof->length, length);
		memcpy(pprof->message + pprof->length, line, length);
		pprof->length += length;
		put_pprof_message(pprof, PPROF_LOCATION);
	}
}

static int put_mappings(struct pprof *pprof)
{
	const struct profile *profile = pprof->profile;
	bool *is_put = alloc_zero(profile->texts.count, sizeof *is_put);

	for (size_t i = 0; is_put && i < profile->function_count; i++) {
		uint32_t object = profile->functions[i].object;

		if (!object || is_put[object])
			continue;
		is_put[object] = true;
		add_number_field(pprof, PPROF_MAPPING_ID, object);
		add_number_field(pprof, PPROF_MAPPING_FILE, object);
		add_number_field(pprof, PPROF_MAPPING_HAS_FUNCTIONS, 1);
		put_pprof_message(pprof, PPROF_MAPPING);
	}
	alloc_free(is_put);
	return is_put ? 0 : -ENOMEM;
}

static void weigh_sample(void *context, const uint32_t *functions, unsigned depth, double cost)
{
	struct pprof *pprof = context;

	(void)functions;
	(void)depth;
	pprof->sum += cost;
	pprof->is_whole = pprof->is_whole && cost == floor(cost);
}

/* So much that costs are whole numbers, or nearly. */
static void choose_scale(struct pprof *pprof)
{
	for (pprof->scale = 1; pprof->sum * pprof->scale > VALUE_MAX;)
		pprof->scale /= 10;
	while (!pprof->is_whole && pprof->sum > 0 && pprof->sum * pprof->scale < WHOLE_ENOUGH && pprof->scale < 1e9)
		pprof->scale *= 10;
	pprof->sum = 0;
}

/* The leaf first. What rounding leaves goes to the next stack, so that what a function calls is not off by more than 1.
 */
static void put_pprof_sample(void *context, const uint32_t *functions, unsigned depth, double cost)
{
	struct pprof *pprof = context;
	double before = rint(pprof->sum * pprof->scale), value;
	uint8_t scratch[VARINT_BYTES];
	size_t length = 0;

	pprof->sum += cost;
	value = rint(pprof->sum * pprof->scale) - before;
	if (!(value >= 1))
		return;
	for (unsigned i = 0; i < depth; i++)
		length += encode(scratch, functions[i] + UINT64_C(1));
	pprof->length = encode(pprof->message, PPROF_SAMPLE_LOCATION << 3 | PPROF_BYTES);
	pprof->length += encode(pprof->message + pprof->length, length);
	for (unsigned i = depth; i; i--)
		pprof->length += encode(pprof->message + pprof->length, functions[i - 1] + UINT64_C(1));
	add_number_field(pprof, PPROF_SAMPLE_VALUE, (uint64_t)value);
	put_pprof_message(pprof, PPROF_SAMPLE);
}

static int put_pprof(struct pprof *pprof, double least, double *left_out)
{
	const struct profile *profile = pprof->profile;
	int result = profile_each_stack(profile, least, weigh_sample, pprof, left_out);

	if (result)
		return result;
	choose_scale(pprof);
	add_number_field(pprof, PPROF_TYPE_NAME, profile->events[0]);
	add_number_field(pprof, PPROF_TYPE_UNIT, profile->texts.count + STRING_UNIT);
	put_pprof_message(pprof, PPROF_SAMPLE_TYPE);
	result = profile_each_stack(profile, least, put_pprof_sample, pprof, left_out);
	if (!result)
		result = put_mappings(pprof);
	if (result)
		return result;
	put_functions(pprof);
	put_strings(pprof);
	add_number_field(pprof, PPROF_COMMENT, profile->texts.count + STRING_COMMENT);
	/* A field of the file itself. */
	put_raw(pprof, pprof->message, pprof->length, Z_NO_FLUSH);
	put_raw(pprof, NULL, 0, Z_FINISH);
	return ferror(pprof->stream) ? errno ? -errno : -EIO : 0;
}

int profile_write_pprof(FILE *stream, const struct profile *profile, double least, double *left_out)
{
	struct pprof *pprof = alloc_zero(1, sizeof *pprof);
	int result;

	if (!pprof)
		return -ENOMEM;
	pprof->stream = stream;
	pprof->profile = profile;
	pprof->is_whole = true;
	if (deflateInit2(&pprof->deflating, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		alloc_free(pprof);
		return -ENOMEM;
	}
	result = put_pprof(pprof, least, left_out);
	deflateEnd(&pprof->deflating);
	alloc_free(pprof);
	return result;
}
