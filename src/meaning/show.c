// SPDX-License-Identifier: BSD-2-Clause
/* Formats numbers of every meaning. */

#include "meaning/family-priv.h"

#include <inttypes.h>
#include <math.h>

/* What a unit holds, and from how many of the smallest on it is taken. */
struct unit {
	uint64_t size, from;
	const char *name;
};

#define NS_PER_S       UINT64_C(1000000000)
#define ADDRESSES_FROM (INT64_C(1) << 40) /* what calls give back beyond this counts nothing */

static const struct unit time_units[] = {
	{ 3600 * NS_PER_S, 36000 * NS_PER_S, "h" },
	{ 60 * NS_PER_S, 600 * NS_PER_S, "min" },
	{ NS_PER_S, NS_PER_S, "s" },
	{ 1000000, 1000000, "ms" },
	{ 1000, 1000, "us" },
	{ 1, 0, "ns" },
};

static const struct unit byte_units[] = {
	{ UINT64_C(1) << 40, UINT64_C(1) << 40, " TiB" },
	{ 1 << 30, 1 << 30, " GiB" },
	{ 1 << 20, 1 << 20, " MiB" },
	{ 1 << 10, 1 << 10, " KiB" },
	{ 1, 0, " B" },
};

/*
 * One digit behind the point, rounded, unless the amount is whole in its unit. What would be rounded up to as many as
 * the next unit begins with is written in that.
 */
static void put_amount(struct text_buffer *text, const struct unit *unit, int64_t signed_amount)
{
	uint64_t amount = signed_amount < 0 ? 0 - (uint64_t)signed_amount : (uint64_t)signed_amount;

	while (unit->from && amount + unit[1].size / 20 < unit->from)
		unit++;
	uint64_t whole = amount / unit->size, part = amount % unit->size;
	uint64_t tenths = (part * 20 + unit->size) / (2 * unit->size);

	if (signed_amount < 0)
		text_append(text, "-");
	if (part == 0)
		text_printf(text, "%" PRIu64 "%s", whole, unit->name);
	else
		text_printf(text, "%" PRIu64 ".%" PRIu64 "%s", whole + tenths / 10, tenths % 10, unit->name);
}

static void put_plain(struct text_buffer *text, struct meaning_number number)
{
	if (number.is_signed)
		text_printf(text, "%" PRId64, (int64_t)number.word);
	else
		text_printf(text, "%" PRIu64, number.word);
}

/* The type of the file by its name, the rest as ls and chmod take it. */
static void put_mode(struct text_buffer *text, const struct meaning_family *family, uint64_t mode)
{
	uint64_t type = mode & 0170000;

	for (size_t i = 0; type && i < family->count; i++) {
		if (family->rows[i].mask == 0170000 && (uint64_t)family->rows[i].value == type) {
			text_printf(text, "%s|", family->rows[i].name);
			mode &= ~type;
			break;
		}
	}
	if (mode)
		text_printf(text, "0%03" PRIo64, mode);
	else
		text_append(text, "0");
}

static void put_priority(struct text_buffer *text, struct meaning_number number)
{
	int64_t priority = (int64_t)number.word;

	if (priority < -1 || priority > 139)
		put_plain(text, number);
	else if (priority < 0)
		text_append(text, "deadline");
	else if (priority < 100)
		text_printf(text, "rt %" PRId64, 99 - priority);
	else
		text_printf(text, "nice %" PRId64, priority - 120);
}

static void put_named(struct text_buffer *text, const struct meaning *meaning, struct meaning_number number)
{
	if (meaning_name(text, meaning, number))
		return;
	if (meaning->form == MEANING_DESCRIPTOR)
		number = (struct meaning_number){ (uint64_t)(int64_t)(int32_t)number.word, true };
	if (meaning->form == MEANING_RESULT && (int64_t)number.word >= ADDRESSES_FROM)
		text_printf(text, "0x%" PRIx64, number.word);
	else if (meaning->form == MEANING_FLAGS && number.word)
		text_printf(text, "0x%" PRIx64, meaning_bits(number));
	else
		put_plain(text, number);
}

void meaning_show(struct text_buffer *text, const struct meaning *meaning, struct meaning_number number)
{
	uint64_t word = number.word;

	switch (meaning ? meaning->form : MEANING_NUMBER) {
	case MEANING_NUMBER:
		put_plain(text, number);
		break;
	case MEANING_DURATION:
		put_amount(text, time_units, (int64_t)word);
		break;
	case MEANING_BYTES:
		put_amount(text, byte_units, (int64_t)word);
		break;
	case MEANING_TIME:
		text_printf(text, "%" PRIu64 ".%09" PRIu64, word / NS_PER_S, word % NS_PER_S);
		break;
	case MEANING_ADDRESS:
		text_printf(text, "0x%" PRIx64, word);
		break;
	case MEANING_MODE:
		put_mode(text, meaning->family, word);
		break;
	case MEANING_DEVICE:
		text_printf(text, "%" PRIu64 ":%" PRIu64, word >> 20, word & 0xfffff);
		break;
	case MEANING_IP4:
		text_printf(text, "%u.%u.%u.%u", (unsigned)(word >> 24 & 255), (unsigned)(word >> 16 & 255),
			    (unsigned)(word >> 8 & 255), (unsigned)(word & 255));
		break;
	case MEANING_PRIORITY:
		put_priority(text, number);
		break;
	case MEANING_TRUTH:
		text_append(text, word ? "true" : "false");
		break;
	default:
		put_named(text, meaning, number);
	}
}

bool meaning_show_real(struct text_buffer *text, const struct meaning *meaning, double real)
{
	bool is_amount = meaning_is_amount(meaning) || (meaning && meaning->form == MEANING_TIME);

	if (!is_amount || !(fabs(real) < 9e18))
		return false;
	meaning_show(text, meaning, (struct meaning_number){ (uint64_t)(int64_t)llround(real), true });
	return true;
}
