// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the text of perf script as a sampled profile: each sample counts for the function that it was in, with its
 * period where that is shown. A sample is a line "comm 12 34.567890: 1000 event: ADDRESS NAME (OBJECT)", of which
 * fields may be missing, or such a line followed by its stack, the innermost first, and an empty line. Fields before
 * the address are found by their form; a comm may have any form, and so costs one sample at most.
 */

#include "profile/read-priv.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { PERF_NUMBER_BYTES = 32 };

struct sample {
	const char *event; /* NULL: it is not shown */
	size_t event_length;
	uint64_t period;   /* 1 where it is not shown */
	const char *frame; /* NULL: it follows */
};

struct perf {
	struct reading *reading;
	struct profile *profile;
	unsigned event; /* of the sample that waits for its stack */
	double period;
	double counts[PROFILE_EVENTS_MAX]; /* of samples */
	bool is_open;                      /* a sample waits for its stack */
	bool is_inside;                    /* lines are of the stack of a sample that has been counted */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static const char *skip_perf_blanks(const char *at, const char *end)
{
	while (at < end && is_blank(*at))
		at++;
	return at;
}

static const char *skip_word(const char *at, const char *end)
{
	while (at < end && !is_blank(*at))
		at++;
	return at;
}

static const char *line_end(const char *at, const char *end)
{
	while (end > at && is_blank(end[-1]))
		end--;
	return end;
}

/* An address, and a name behind it or an object in brackets. */
static bool is_frame(const char *at, const char *end)
{
	const char *word_end = skip_word(at = skip_perf_blanks(at, end), end);
	bool is_address = word_end > at && word_end - at <= 16;

	for (; at < word_end; at++)
		is_address = is_address && isxdigit((unsigned char)*at);
	return is_address && skip_perf_blanks(word_end, end) < line_end(at, end);
}

/* 123.456789: */
static bool is_perf_time(const char *at, const char *end)
{
	const char *point = memchr(at, '.', (size_t)(end - at));

	if (!point || point == at || end[-1] != ':' || end - point < 8)
		return false;
	for (; at < end - 1; at++) {
		if (at != point && !isdigit((unsigned char)*at))
			return false;
	}
	return true;
}

static bool read_perf_number(const char *at, const char *end, uint64_t *number)
{
	*number = 0;
	if (at == end || end - at > 18)
		return false;
	for (; at < end && isdigit((unsigned char)*at); at++)
		*number = *number * 10 + (uint64_t)(*at - '0');
	return at == end;
}

/* How to count it (":ppp", ":u") is no part of what is counted; "sched:sched_switch" is. */
static size_t event_length(const char *event, const char *end)
{
	const char *at = end;

	while (at > event && strchr("ukhIGHpPSDWe", at[-1]))
		at--;
	return (size_t)((at > event + 1 && at[-1] == ':' && at < end ? at - 1 : end) - event);
}

/* Behind the time; NULL: there is none. */
static const char *after_time(const char *at, const char *end)
{
	while ((at = skip_perf_blanks(at, end)) < end) {
		const char *word = at;

		at = skip_word(at, end);
		if (is_perf_time(word, at))
			return at;
	}
	return NULL;
}

/* The event ends with a colon; before it stands the period, behind it the function. */
static bool is_sample(const char *line, const char *line_stop, struct sample *sample)
{
	const char *end = line_end(line, line_stop), *time = after_time(line, end);
	const char *at = time ? time : line, *before = NULL, *before_end = NULL;

	*sample = (struct sample){ .period = 1 };
	while ((at = skip_perf_blanks(at, end)) < end) {
		const char *word = at, *word_end = at = skip_word(at, end);

		if (word_end - word > 1 && word_end[-1] == ':') {
			sample->event = word;
			sample->event_length = event_length(word, word_end - 1);
			if (before && !read_perf_number(before, before_end, &sample->period))
				sample->period = 1;
			if (is_frame(word_end, end))
				sample->frame = word_end;
			/* Without a time this may have been a comm with a colon. */
			if (time || sample->frame)
				return true;
		}
		before = word;
		before_end = word_end;
	}
	return (sample->event && end[-1] == ':') || ((sample->event || time) && !is_frame(line, end));
}

static bool is_comment(const char *at, const char *end)
{
	return at < end && *at == '#';
}

bool profile_is_perf(const struct diag_source *source)
{
	const char *at = source->text, *stop = at + source->length;
	struct sample sample;

	while (at < stop) {
		const char *newline = memchr(at, '\n', (size_t)(stop - at)), *end = newline ? newline : stop;

		if (skip_perf_blanks(at, end) < end && !is_comment(at, end)) {
			end = line_end(at, end);
			if (is_blank(*at) && is_frame(at, end) && end[-1] == ')')
				return true;
			return is_sample(at, end, &sample) && sample.event && (sample.frame || end[-1] == ':');
		}
		at = newline ? newline + 1 : stop;
	}
	return false;
}

/* The number of the event, which is added where it is new. */
static int find_perf_event(struct perf *perf, const struct sample *sample, unsigned *event)
{
	const char *name = sample->event ? sample->event : "samples";
	size_t length = sample->event ? sample->event_length : strlen(name);
	struct profile *profile = perf->profile;

	for (*event = 0; *event < profile->event_count; ++*event) {
		const char *known = profile_get_text(profile, profile->events[*event]);

		if (strlen(known) == length && memcmp(known, name, length) == 0)
			return 0;
	}
	/* Costs have as many columns as there were events at the first function. */
	return profile->function_count ? -E2BIG : profile_add_event(profile, name, length);
}

/* Before any function: events are columns. */
static int read_events(struct perf *perf)
{
	struct reading *reading = perf->reading;
	struct sample sample;
	unsigned event;
	int result = 0;

	while (!result && read_next_line(reading)) {
		if (memchr(reading->line, 0, (size_t)(reading->end - reading->line)))
			return read_wrong(reading, NULL, "the line contains a NUL");
		if (is_comment(reading->line, reading->end) || *reading->line == '\t' ||
		    skip_perf_blanks(reading->line, reading->end) == reading->end)
			continue;
		if (is_sample(reading->line, reading->end, &sample))
			result = read_failed(reading, find_perf_event(perf, &sample, &event));
	}
	if (!result && !perf->profile->event_count)
		result = read_failed(reading, find_perf_event(perf, &(struct sample){ 0 }, &event));
	*reading = (struct reading){
		reading->source, reading->diag, reading->profile, NULL, reading->source->text, reading->source->text, 0
	};
	return result;
}

static int count_perf_event(struct perf *perf, const char *name, size_t length, uint32_t object)
{
	uint32_t text, function;
	int result = profile_text(perf->profile, name, length, &text);

	if (!result)
		result = profile_function(perf->profile, text, object, &function);
	if (result)
		return read_failed(perf->reading, result);
	profile_self(perf->profile, function)[perf->event] += perf->period;
	perf->profile->samples += perf->event == 0;
	perf->counts[perf->event]++;
	perf->is_open = false;
	return 0;
}

/* What "name+0x1c" is without what is behind the name. */
static const char *before_offset(const char *name, const char *end)
{
	const char *at = end;

	while (at > name && isxdigit((unsigned char)at[-1]))
		at--;
	return at - name > 3 && at < end && memcmp(at - 3, "+0x", 3) == 0 ? at - 3 : end;
}

/* "ADDRESS NAME (OBJECT)". A name may have blanks and brackets. One without a name is known by its place in the object,
 * where that is shown ("(OBJECT+0x1c)").
 */
static int read_frame(struct perf *perf, const char *at, const char *end)
{
	const char *name, *name_end, *object, *object_end;
	uint32_t text = 0;
	int result;

	at = skip_perf_blanks(at, end);
	end = line_end(at, end);
	name = skip_perf_blanks(skip_word(at, end), end);
	object = object_end = name_end = end;
	if (end[-1] == ')') {
		object = end;
		while (object > name && !(object[-1] == '(' && (object - 1 == name || is_blank(object[-2]))))
			object--;
		if (object > name) {
			name_end = line_end(name, object - 1);
			object_end = end - 1;
		}
	}
	/* A part of the function in the next line. */
	if (object_end - object == 7 && memcmp(object, "inlined", 7) == 0)
		return 0;
	end = before_offset(object, object_end);
	if (name_end - name == 9 && memcmp(name, "[unknown]", 9) == 0 && end < object_end) {
		name = end + 1;
		name_end = object_end;
	}
	result = profile_text(perf->profile, object, (size_t)(end - object), &text);
	if (result)
		return read_failed(perf->reading, result);
	return count_perf_event(perf, name, (size_t)(before_offset(name, name_end) - name), text);
}

/* Of a sample that came without any function: its cost is not to be lost. */
static int close_sample(struct perf *perf)
{
	perf->is_inside = false;
	return perf->is_open ? count_perf_event(perf, "[unknown]", 9, 0) : 0;
}

static int open_sample(struct perf *perf, const struct sample *sample)
{
	int result = close_sample(perf);

	if (!result)
		result = read_failed(perf->reading, find_perf_event(perf, sample, &perf->event));
	perf->period = (double)sample->period;
	perf->is_open = true;
	return result;
}

static int read_perf_line(struct perf *perf)
{
	struct reading *reading = perf->reading;
	const char *line = reading->line, *end = reading->end;
	bool is_of_stack = line < end && *line == '\t';
	struct sample sample;
	int result;

	if (is_comment(line, end))
		return 0;
	if (skip_perf_blanks(line, end) == end)
		return close_sample(perf);
	if (is_of_stack && perf->is_inside)
		return 0;
	if (!is_of_stack && is_sample(line, end, &sample)) {
		result = open_sample(perf, &sample);
		return result || !sample.frame ? result : read_frame(perf, sample.frame, end);
	}
	if (!is_frame(line, end)) {
		reading->at = skip_perf_blanks(line, end);
		return read_wrong(reading, "perf script -F comm,tid,time,period,event,ip,sym,dso",
				  "this is neither a sample nor a function of its stack");
	}
	result = is_of_stack && perf->is_open ? 0 : open_sample(perf, &(struct sample){ .period = 1 });
	if (!result)
		result = read_frame(perf, line, end);
	perf->is_inside = is_of_stack && !perf->is_open;
	return result;
}

/* What a sample of each event but the first stands for, whose number is known. */
static int set_periods(struct perf *perf)
{
	int result = 0;

	for (unsigned event = 1; !result && event < perf->profile->event_count; event++) {
		char key[64], value[PERF_NUMBER_BYTES];

		if (!(perf->counts[event] > 0))
			continue;
		snprintf(key, sizeof key, "period %s", profile_get_text(perf->profile, perf->profile->events[event]));
		snprintf(value, sizeof value, "%.17g", profile_total(perf->profile, event) / perf->counts[event]);
		result = profile_set_info(perf->profile, key, value);
	}
	return result;
}

int profile_read_perf(struct reading *reading)
{
	struct perf perf = { .reading = reading, .profile = reading->profile };
	char number[PERF_NUMBER_BYTES];
	int result = read_events(&perf);

	while (!result && read_next_line(reading))
		result = read_perf_line(&perf);
	if (!result)
		result = close_sample(&perf);
	if (!result)
		result = read_failed(reading, set_periods(&perf));
	snprintf(number, sizeof number, "%.0f", perf.profile->samples);
	return result ? result : read_failed(reading, profile_set_info(perf.profile, "samples", number));
}
