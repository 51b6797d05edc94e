// SPDX-License-Identifier: BSD-2-Clause
/* Parses the text that asks for measures. */

#include "session/measure/ask-priv.h"

#include "base/alloc.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A text in work. */
struct asking {
	const char *text;
	struct asterism_diag *diag;
	struct measures_item *item;
	bool is_heartbeat;
};

static int wrong_question(const struct asking *asking, const char *what)
{
	diag_add(asking->diag, ASTERISM_ERROR, NULL,
		 asking->is_heartbeat
			 ? "such as request_end=5s, or beat=500ms,by=pid"
			 : "such as request_end, request_begin.bytes,log or job.took,linear=0..10ms/20,by=pid",
		 "--%s %s: %s", asking->is_heartbeat ? "heartbeat" : "measure", asking->text, what);
	return -EINVAL;
}

static char *part_of(const char *text, size_t length)
{
	char *part = alloc_zero(length + 1, 1);

	if (part)
		memcpy(part, text, length);
	return part;
}

static const struct {
	const char *unit;
	double factor;
} units[] = {
	{ "", 1 },        { "ns", 1 },        { "us", 1e3 },    { "ms", 1e6 },      { "s", 1e9 },
	{ "min", 6e10 },  { "h", 3.6e12 },    { "B", 1 },       { "K", 1 << 10 },   { "KiB", 1 << 10 },
	{ "M", 1 << 20 }, { "MiB", 1 << 20 }, { "G", 1 << 30 }, { "GiB", 1 << 30 },
};

/* A number with a unit, and what may stand behind it. */
static bool read_measure_number(const char *text, size_t length, int64_t *number)
{
	char copy[48], *end;
	double real;

	if (!length || length >= sizeof copy)
		return false;
	memcpy(copy, text, length);
	copy[length] = 0;
	errno = 0;
	*number = strtoll(copy, &end, 10);
	if (end != copy && !*end && !errno)
		return true;
	real = strtod(copy, &end);
	if (end == copy || isspace((unsigned char)*copy))
		return false;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (strcmp(end, units[i].unit) != 0)
			continue;
		real *= units[i].factor;
		*number = real > -9e18 && real < 9e18 ? (int64_t)real : 0;
		return real > -9e18 && real < 9e18 && (double)*number == real;
	}
	return false;
}

static int ask_linear(const struct asking *asking, const char *value, size_t length)
{
	struct measure_shape *shape = &asking->item->shape.measure;
	const char *dots = memmem(value, length, "..", 2), *slash = memchr(value, '/', length);
	int64_t count;

	if (shape->buckets)
		return wrong_question(asking, "there is one histogram already");
	if (!dots || !slash || slash < dots || !read_measure_number(value, (size_t)(dots - value), &shape->low) ||
	    !read_measure_number(dots + 2, (size_t)(slash - dots - 2), &shape->high) ||
	    !read_measure_number(slash + 1, (size_t)(value + length - slash - 1), &count))
		return wrong_question(asking, "write a linear histogram as linear=LOW..HIGH/BUCKETS");
	if (shape->low >= shape->high)
		return wrong_question(asking, "LOW of the histogram must be less than HIGH");
	if (count < 1 || count > MEASURE_BUCKETS_MAX)
		return wrong_question(asking, "a histogram has 1 to 4096 buckets");
	shape->buckets = MEASURE_LINEAR;
	shape->bucket_count = (uint32_t)count;
	return 0;
}

static int ask_log(const struct asking *asking, const char *value, size_t length)
{
	struct measure_shape *shape = &asking->item->shape.measure;

	if (value || length)
		return wrong_question(asking, "log takes no value");
	if (shape->buckets)
		return wrong_question(asking, "there is one histogram already");
	shape->buckets = MEASURE_LOG;
	return 0;
}

static int ask_by(const struct asking *asking, const char *value, size_t length)
{
	if (!length || asking->item->by)
		return wrong_question(asking, length ? "by=FIELD can be given only once"
						     : "by needs the name of a field: by=FIELD");
	asking->item->by = part_of(value, length);
	return asking->item->by ? 0 : diag_no_memory(asking->diag);
}

static int ask_keys(const struct asking *asking, const char *value, size_t length)
{
	uint32_t *most = asking->is_heartbeat ? &asking->item->shape.heartbeat.keys_most
					      : &asking->item->shape.measure.keys_most;
	int64_t count;

	if (!value || !read_measure_number(value, length, &count) || count < 1 || count > MEASURE_KEYS_MAX)
		return wrong_question(asking, "N of keys=N must be between 1 and 65536");
	*most = (uint32_t)count;
	return 0;
}

/* value: behind the =; NULL: there is none. */
static const struct word {
	const char *name;
	bool of_heartbeats;
	int (*ask)(const struct asking *asking, const char *value, size_t length);
} words[] = {
	{ "linear", false, ask_linear },
	{ "log", false, ask_log },
	{ "by", true, ask_by },
	{ "keys", true, ask_keys },
};

static int ask_word(const struct asking *asking, const char *text, size_t length)
{
	const char *equals = memchr(text, '=', length);
	size_t name = equals ? (size_t)(equals - text) : length;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		const struct word *word = &words[i];

		if (strlen(word->name) != name || memcmp(text, word->name, name) != 0 ||
		    (asking->is_heartbeat && !word->of_heartbeats))
			continue;
		if (!equals && word->ask != ask_log)
			return wrong_question(asking, "linear, by and keys need a value after '='");
		return word->ask(asking, equals ? equals + 1 : NULL, equals ? length - name - 1 : 0);
	}
	return wrong_question(
		asking, asking->is_heartbeat
				? "after the time only by=FIELD and keys=N can follow"
				: "after the name only log, linear=LOW..HIGH/BUCKETS, by=FIELD and keys=N can follow");
}

/* "EVENT[.FIELD]" or "EVENT=TIME". */
static int ask_what(const struct asking *asking, size_t length)
{
	struct measures_item *item = asking->item;
	const char *mark = memchr(asking->text, asking->is_heartbeat ? '=' : '.', length);
	size_t name = mark ? (size_t)(mark - asking->text) : length;
	int64_t limit_ns;

	if (!name || (mark && name + 1 == length))
		return wrong_question(asking, "the name of an event is missing");
	item->event = part_of(asking->text, name);
	if (!item->event)
		return diag_no_memory(asking->diag);
	if (asking->is_heartbeat) {
		if (!mark || !read_measure_number(mark + 1, length - name - 1, &limit_ns) || limit_ns < 1 ||
		    isdigit((unsigned char)asking->text[length - 1]))
			return wrong_question(
				asking,
				"a heartbeat needs a time with a unit after which the event is missing: EVENT=TIME");
		item->shape.heartbeat.limit_ns = (uint64_t)limit_ns;
		return 0;
	}
	if (!mark)
		return 0;
	item->field = part_of(mark + 1, length - name - 1);
	return item->field ? 0 : diag_no_memory(asking->diag);
}

int measure_ask(bool is_heartbeat, const char *text, struct asterism_diag *diag, struct measures_item *item)
{
	const struct asking asking = { text, diag, item, is_heartbeat };
	size_t length = strcspn(text, ",");
	int result;

	*item = (struct measures_item){ .kind = is_heartbeat ? &heartbeat_kind : &measure_kind };
	if (is_heartbeat)
		item->shape.heartbeat.keys_most = MEASURE_KEYS;
	else
		item->shape.measure.keys_most = MEASURE_KEYS;
	result = ask_what(&asking, length);
	for (const char *at = text + length; *at && !result; at += length) {
		length = strcspn(++at, ",");
		result = ask_word(&asking, at, length);
	}
	return result;
}

void measure_unask(struct measures_item *item)
{
	alloc_free(item->event);
	alloc_free(item->field);
	alloc_free(item->by);
}
