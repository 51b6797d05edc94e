// SPDX-License-Identifier: BSD-2-Clause
/* Texts that grow. */

#include "base/text.h"

#include "base/alloc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

void text_init_fixed(struct text_buffer *text, char *memory, size_t size)
{
	*text = (struct text_buffer){ .bytes = memory, .capacity = size, .fixed = true };
	if (size)
		memory[0] = '\0';
	else
		text->failure = -E2BIG;
}

void text_fini(struct text_buffer *text)
{
	if (!text->fixed)
		alloc_free(text->bytes);
	*text = (struct text_buffer){ 0 };
}

/* Makes room for more bytes and a NUL; returns how many of them there is room for. */
static size_t make_text_room(struct text_buffer *text, size_t more)
{
	if (text->failure)
		return 0;
	if (text->fixed) {
		size_t room = text->capacity - text->length - 1;

		if (more <= room)
			return more;
		text->failure = -E2BIG;
		return room;
	}
	if (more > TEXT_BYTES_MAX - text->length)
		text->failure = -E2BIG;
	else
		text->failure = alloc_grow(&text->bytes, &text->capacity, text->length + more, 1);
	return text->failure ? 0 : more;
}

bool text_reserve(struct text_buffer *text, size_t more)
{
	make_text_room(text, more);
	return !text->failure;
}

void text_append_bytes(struct text_buffer *text, const char *bytes, size_t length)
{
	size_t fits = make_text_room(text, length);

	if (!fits)
		return;
	memcpy(text->bytes + text->length, bytes, fits);
	text->length += fits;
	text->bytes[text->length] = '\0';
}

void text_append(struct text_buffer *text, const char *string)
{
	text_append_bytes(text, string, strlen(string));
}

void text_printf(struct text_buffer *text, const char *format, ...)
{
	char small[256], *large;
	va_list args;

	va_start(args, format);
	int length = vsnprintf(small, sizeof small, format, args);
	va_end(args);
	if (length < 0) {
		text->failure = text->failure ? text->failure : -EINVAL;
		return;
	}
	if ((size_t)length < sizeof small) {
		text_append_bytes(text, small, (size_t)length);
		return;
	}
	large = alloc_zero((size_t)length + 1, 1);
	if (!large) {
		text->failure = text->failure ? text->failure : -ENOMEM;
		return;
	}
	va_start(args, format);
	vsnprintf(large, (size_t)length + 1, format, args);
	va_end(args);
	text_append_bytes(text, large, (size_t)length);
	alloc_free(large);
}

int text_take(struct text_buffer *text, char **taken)
{
	make_text_room(text, 0); /* for the NUL of an empty one */
	int failure = text->failure;

	if (failure) {
		text_fini(text);
		return failure;
	}
	*taken = text->bytes;
	*text = (struct text_buffer){ 0 };
	return 0;
}

void text_time(struct text_buffer *text, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *unit;
	} units[] = {
		{ UINT64_C(3600000000000), "h" },
		{ UINT64_C(60000000000), "min" },
		{ 1000000000, "s" },
		{ 1000000, "ms" },
		{ 1000, "us" },
		{ 1, "ns" },
	};
	size_t i = 0;

	while (units[i].ns > 1 && (ns % units[i].ns || ns == 0))
		i++;
	text_printf(text, "%" PRIu64 "%s", ns / units[i].ns, units[i].unit);
}
