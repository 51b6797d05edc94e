// SPDX-License-Identifier: BSD-2-Clause
/* Writes calls, what became of them, and what they counted. */

#include "session/output/result-priv.h"

#include "base/text.h"
#include "program/calls.h"
#include "program/query.h"
#include "session/output/result.h"

#include <inttypes.h>
#include <string.h>

enum { CALL_BAR_WIDTH = 40 };

/* What a message is put together from. */
struct message {
	const struct program_operand operand;
	const struct program_arg *args;
	uint32_t count;
	const struct program_match *match;
	bool is_shown;
};

static void put_message_value(FILE *stream, const struct message *message, uint32_t index)
{
	const struct program_arg *arg = &message->args[index];
	struct program_value value;
	struct result_room room;

	program_eval(&message->operand, arg->node, &value);
	if (message->is_shown)
		result_show_value(
			stream, message->operand.program, arg->meaning, &value,
			result_owner(message->operand.program, message->match, arg->node, arg->meaning, &room));
	else if (value.kind == PROGRAM_STRING)
		fputs(value.text, stream);
	else
		result_put_value(stream, &value);
}

/* The text with the values in place of {}; values that are left over stand behind it. */
static void put_call_message(FILE *stream, const struct message *message, const char *text)
{
	uint32_t next = 1;

	for (const char *hole; next < message->count && (hole = strstr(text, "{}")); text = hole + 2) {
		fwrite(text, 1, (size_t)(hole - text), stream);
		put_message_value(stream, message, next++);
	}
	fputs(text, stream);
	for (; next < message->count; next++) {
		putc(' ', stream);
		put_message_value(stream, message, next);
	}
}

char *result_message(const struct program *program, const struct program_match *match,
		     const struct program_statement *statement, bool is_shown)
{
	const struct react_action *action = program_call(program, statement);
	const struct message message = {
		.operand = { .program = program, .rule = &program->rules[match->rule], .slots = match->slots },
		.args = program_args(program, statement),
		.count = statement->arg_count,
		.match = match,
		.is_shown = is_shown,
	};
	struct program_value first;
	char *text = NULL;
	size_t length;

	if (!action || strcmp(action->name, "Message") != 0 || !message.count)
		return NULL;
	for (uint32_t i = message.count; i--;) /* all of them have a value, and the first one is left */
		if (program_eval(&message.operand, message.args[i].node, &first))
			return NULL;
	FILE *stream = open_memstream(&text, &length);

	if (!stream)
		return NULL;
	put_call_message(stream, &message, first.text);
	return fclose(stream) ? NULL : text;
}

static uint64_t bucket_from(uint32_t bucket)
{
	return bucket ? UINT64_C(1) << (bucket - 1) : 0;
}

/* The first bucket that holds anything and the end of them; false: none does. */
static bool bounds(const struct react_tally *tally, uint32_t *first, uint32_t *last)
{
	for (*first = 0; *first < REACT_BUCKETS && !tally->buckets[*first];)
		++*first;
	for (*last = REACT_BUCKETS; *last > *first && !tally->buckets[*last - 1];)
		--*last;
	return *last > *first;
}

static void put_call_buckets(FILE *stream, const struct react_tally *tally)
{
	const char *separator = "";

	putc('[', stream);
	for (uint32_t i = 0; i < REACT_BUCKETS; i++) {
		if (!tally->buckets[i])
			continue;
		fprintf(stream, "%s{\"from\":%" PRIu64 ",\"to\":%" PRIu64 ",\"count\":%" PRIu64 "}", separator,
			bucket_from(i), i ? 2 * bucket_from(i) - 1 : 0, tally->buckets[i]);
		separator = ",";
	}
	putc(']', stream);
}

void result_put_tallies(FILE *stream, const struct react_tallies *tallies)
{
	for (int histograms = 0; histograms < 2; histograms++) {
		const char *separator = histograms ? ",\"histograms\":{" : ",\"counters\":{";
		bool any = false;

		for (size_t i = 0; i < tallies->count; i++) {
			const struct react_tally *tally = &tallies->items[i];

			if (tally->is_histogram != histograms)
				continue;
			fputs(any ? "," : separator, stream);
			any = true;
			result_put_string(stream, tally->name);
			putc(':', stream);
			if (histograms)
				put_call_buckets(stream, tally);
			else
				fprintf(stream, "%" PRIu64, tally->count);
		}
		if (any)
			putc('}', stream);
	}
}

static void put_call_bars(FILE *stream, const struct react_tally *tally)
{
	uint64_t most = 1;
	uint32_t first, last;

	if (!bounds(tally, &first, &last))
		return;
	for (uint32_t i = first; i < last; i++)
		most = tally->buckets[i] > most ? tally->buckets[i] : most;
	for (uint32_t i = first; i < last; i++) {
		int bar = (int)((double)tally->buckets[i] / (double)most * CALL_BAR_WIDTH + 0.5);

		fprintf(stream, "  %20" PRIu64 " .. %-20" PRIu64 " %12" PRIu64 " |%.*s\n", bucket_from(i),
			i ? 2 * bucket_from(i) - 1 : 0, tally->buckets[i], bar,
			"########################################");
	}
}

void result_write_tallies(FILE *stream, const struct react_tallies *tallies)
{
	for (size_t i = 0; i < tallies->count; i++) {
		const struct react_tally *tally = &tallies->items[i];

		text_write(stream, tally->name, TEXT_WORDS);
		fprintf(stream, ": %" PRIu64 "\n", tally->count);
		if (tally->is_histogram)
			put_call_bars(stream, tally);
	}
}
