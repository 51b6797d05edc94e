// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads gmon.out, which programs built with -pg write: samples by place in the program, and who called whom how often.
 * Names are those of the program's symbols. Calls have no costs there, so they are shared by numbers of calls, as gprof
 * does.
 */

#include "profile/read-priv.h"
#include "profile/read.h"

#include "session/output/symbols.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TAG_HISTOGRAM = 0, TAG_ARC = 1, TAG_BLOCKS = 2, HEAD_BYTES = 20, VERSION_AT = 4, UNIT_BYTES = 16 };
#define CODE_BYTES_MAX (UINT64_C(1) << 47)

enum { NUMBER_BYTES = 32, ADDRESS_BYTES = 24, UNNAMED_MAX = 1 << 16 };

struct gmon {
	struct reading *reading;
	struct profile *profile;
	const struct symbols *symbols;
	uint32_t object;
	unsigned word_bytes; /* of an address */
	double samples;
	uint32_t rate_hz;
	uint32_t unnamed; /* samples and calls in what the program has no name for */
	const unsigned char *at, *end;
};

static int wrong_gmon(const struct gmon *gmon, const char *what)
{
	gmon->reading->at = (const char *)gmon->at;
	return read_wrong(gmon->reading, "let the program end by itself, and name the program that wrote it", "%s",
			  what);
}

/* The least significant byte first. */
static uint64_t take_gmon_number(struct gmon *gmon, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)gmon->at[i] << 8 * i;
	gmon->at += bytes;
	return value;
}

static bool has_gmon_bytes(const struct gmon *gmon, uint64_t bytes)
{
	return bytes <= (uint64_t)(gmon->end - gmon->at);
}

static int cut_off(const struct gmon *gmon)
{
	return wrong_gmon(gmon, "gmon.out ends within a record");
}

/* What is at the address; where the program has no name for it, the address itself, but no more than so many. */
static int find_sampled_function(struct gmon *gmon, uint64_t address, uint32_t *function)
{
	char number[ADDRESS_BYTES];
	uint64_t distance = 0;
	const char *name = symbols_at(gmon->symbols, address, &distance);
	uint32_t text;
	int result;

	if (name || gmon->unnamed++ < UNNAMED_MAX)
		snprintf(number, sizeof number, "0x%" PRIx64, address);
	else
		snprintf(number, sizeof number, "[unknown]");
	name = name ? name : number;
	result = profile_text(gmon->profile, name, strlen(name), &text);
	if (!result)
		result = profile_function(gmon->profile, text, gmon->object, function);
	if (result)
		return read_failed(gmon->reading, result);
	struct profile_function *found = &gmon->profile->functions[*function];

	found->low = address - distance < found->low ? address - distance : found->low;
	found->high = address > found->high ? address : found->high;
	return 0;
}

static int add_samples(struct gmon *gmon, uint64_t address, double samples)
{
	uint32_t function;
	int result = find_sampled_function(gmon, address, &function);

	if (!result)
		*profile_self(gmon->profile, function) += samples;
	return result;
}

/* Of a bin in which a function ends and another begins, each gets a half. */
static int add_bin(struct gmon *gmon, uint64_t first, uint64_t last, double samples)
{
	int result = add_samples(gmon, first, samples / 2);

	gmon->samples += samples;
	return result ? result : add_samples(gmon, last, samples / 2);
}

static int read_histogram(struct gmon *gmon)
{
	uint64_t low, high, count;
	uint32_t rate;
	int result = 0;

	if (!has_gmon_bytes(gmon, 2 * gmon->word_bytes + 8 + UNIT_BYTES))
		return cut_off(gmon);
	low = take_gmon_number(gmon, gmon->word_bytes);
	high = take_gmon_number(gmon, gmon->word_bytes);
	count = take_gmon_number(gmon, 4);
	rate = (uint32_t)take_gmon_number(gmon, 4);
	if (high < low || high - low > CODE_BYTES_MAX || (gmon->rate_hz && rate != gmon->rate_hz))
		return wrong_gmon(gmon, "the histogram is malformed");
	gmon->rate_hz = rate;
	gmon->at += UNIT_BYTES;
	if (!has_gmon_bytes(gmon, 2 * count))
		return cut_off(gmon);
	double step = count ? (double)(high - low) / (double)count : 0;

	for (uint64_t i = 0; !result && i < count; i++) {
		uint64_t samples = take_gmon_number(gmon, 2), first = low + (uint64_t)((double)i * step);
		uint64_t next = low + (uint64_t)((double)(i + 1) * step);

		if (samples)
			result = add_bin(gmon, first, next > first ? next - 1 : first, (double)samples);
	}
	return result;
}

static int read_arc(struct gmon *gmon)
{
	uint64_t from, to, calls;
	uint32_t caller, callee, edge;
	int result;

	if (!has_gmon_bytes(gmon, 2 * gmon->word_bytes + 4))
		return cut_off(gmon);
	from = take_gmon_number(gmon, gmon->word_bytes);
	to = take_gmon_number(gmon, gmon->word_bytes);
	calls = take_gmon_number(gmon, 4);
	result = find_sampled_function(gmon, to, &callee);
	/* Who is in no function is what gprof calls spontaneous: signals, and what calls main. */
	uint64_t distance;

	if (result || !symbols_at(gmon->symbols, from, &distance))
		return result;
	result = find_sampled_function(gmon, from, &caller);
	return result ? result
		      : read_failed(gmon->reading, profile_edge(gmon->profile, caller, callee, (double)calls, &edge));
}

/* How often pieces of code ran is no cost of functions. */
static int skip_blocks(struct gmon *gmon)
{
	uint64_t bytes;

	if (!has_gmon_bytes(gmon, 4))
		return cut_off(gmon);
	bytes = take_gmon_number(gmon, 4) * 2 * gmon->word_bytes;
	if (!has_gmon_bytes(gmon, bytes))
		return cut_off(gmon);
	gmon->at += bytes;
	return 0;
}

static int read_records(struct gmon *gmon)
{
	int result = 0;

	gmon->at += VERSION_AT;
	if (!has_gmon_bytes(gmon, HEAD_BYTES - VERSION_AT))
		return cut_off(gmon);
	if (take_gmon_number(gmon, 4) != 1)
		return wrong_gmon(gmon,
				  "gmon.out does not have version 1, or comes from a machine with another byte order");
	gmon->at += HEAD_BYTES - VERSION_AT - 4;
	while (!result && gmon->at < gmon->end) {
		switch (*gmon->at++) {
		case TAG_HISTOGRAM:
			result = read_histogram(gmon);
			break;
		case TAG_ARC:
			result = read_arc(gmon);
			break;
		case TAG_BLOCKS:
			result = skip_blocks(gmon);
			break;
		default:
			gmon->at--;
			result = wrong_gmon(gmon, "a record has an unknown type");
		}
	}
	if (!result && !gmon->profile->function_count)
		result = wrong_gmon(gmon, "gmon.out has neither samples nor calls");
	return result;
}

static int note_gmon_run(struct gmon *gmon)
{
	char number[NUMBER_BYTES];
	int result;

	gmon->profile->samples = gmon->samples;
	snprintf(number, sizeof number, "%.0f", gmon->samples);
	result = profile_set_info(gmon->profile, "samples", number);
	snprintf(number, sizeof number, "%" PRIu32, gmon->rate_hz);
	if (!result)
		result = profile_set_info(gmon->profile, "samples-per-second", number);
	return read_failed(gmon->reading, result);
}

static int read_gmon_records(struct gmon *gmon, const char *program)
{
	int result = profile_add_event(gmon->profile, "samples", strlen("samples"));

	if (!result)
		result = profile_text(gmon->profile, program, strlen(program), &gmon->object);
	if (result)
		return read_failed(gmon->reading, result);
	result = read_records(gmon);
	return result ? result : note_gmon_run(gmon);
}

/* How many bytes an address has in files of the program; 0: not known. */
static unsigned word_bytes(int fd)
{
	unsigned char ident[EI_NIDENT];

	if (pread(fd, ident, sizeof ident, 0) != sizeof ident || ident[EI_DATA] != ELFDATA2LSB)
		return 0;
	return ident[EI_CLASS] == ELFCLASS64 ? 8 : ident[EI_CLASS] == ELFCLASS32 ? 4 : 0;
}

bool profile_is_gmon(const struct diag_source *source)
{
	return source->length >= VERSION_AT + 1 && memcmp(source->text, "gmon", VERSION_AT) == 0 &&
	       (source->text[VERSION_AT] == 1 || source->text[VERSION_AT] == 0);
}

int profile_read_gmon(const struct diag_source *source, int program_fd, const char *program, struct asterism_diag *diag,
		      struct profile **profile)
{
	struct reading reading = { .source = source, .diag = diag, .profile = profile_new() };
	struct symbols *symbols = NULL;
	struct gmon gmon = { .reading = &reading,
			     .profile = reading.profile,
			     .word_bytes = word_bytes(program_fd),
			     .at = (const unsigned char *)source->text,
			     .end = (const unsigned char *)source->text + source->length };
	int result = reading.profile ? symbols_read(program_fd, ELF_CODE, &symbols) : -ENOMEM;

	if (result == -ENOMEM) {
		diag_no_memory(diag);
	} else if (result || !gmon.word_bytes) {
		result = diag_error(diag, NULL, -EINVAL, "cannot read symbols from %s: it is not a program", program);
		diag_hint(diag, "asterism profile import gmon.out PROGRAM: the one that wrote it, not stripped");
	} else {
		gmon.symbols = symbols;
		result = read_gmon_records(&gmon, program);
	}
	symbols_free(symbols);
	if (result)
		profile_free(reading.profile);
	else
		*profile = reading.profile;
	return result;
}
