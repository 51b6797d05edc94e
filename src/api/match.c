// SPDX-License-Identifier: BSD-2-Clause
/* Gives a match to the program that embeds the library, and takes its answer. */

#include "api/api-priv.h"

#include "api/sized.h"
#include "program/eval.h"
#include "program/machine.h"
#include "program/query.h"
#include "program/returned.h"
#include "session/output/result.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A match whose question on_match has answered was told by that. */
int api_report(void *context, const struct program_match *found)
{
	struct asterism_rules *unit = context;
	struct asterism_session *session = unit->session;
	struct asterism_match match = { .unit = unit, .found = found };
	int answer = ASTERISM_CONTINUE;

	if (unit->answered || session->doomed) {
		unit->answered = false;
		return 0;
	}
	unit->matches++;
	session->matches++;
	session->handed++;
	if (session->options.on_match)
		answer = session->options.on_match(session->options.context, &match);
	free(match.warning);
	if (answer > ASTERISM_ABORT)
		answer = -EINVAL;
	if (answer < 0 && unit->placements[found->rule].place != SESSION_KERNEL) {
		session->answer = session->answer ? session->answer : answer;
		return 0;
	}
	return answer < 0 ? answer : 0;
}

enum session_verdict api_verdict_of(int answer)
{
	switch (answer) {
	case ASTERISM_CONTINUE:
		return SESSION_CONTINUE;
	case ASTERISM_ABORT:
		return SESSION_ABORT;
	case ASTERISM_LATER:
		return SESSION_LATER;
	default:
		return SESSION_DEFAULT;
	}
}

enum session_verdict api_on_ask(void *context, const struct program_match *found, const struct session_ask *ask)
{
	struct asterism_rules *unit = context;
	struct asterism_session *session = unit->session;
	const struct asterism_session_options *options = &session->options;
	struct asterism_match match = { .unit = unit, .found = found };
	const struct asterism_ask reported = {
		.size = sizeof reported,
		.ticket = (uint64_t)unit->number << API_TICKET_BITS | ask->ticket,
		.deadline_ns = ask->deadline_ns,
		.aborts = ask->aborts,
		.is_stopped = ask->is_stopped,
		.signal = ask->signal,
	};
	int answer;

	if (unit->work.muted || session->doomed || (!options->on_ask && !options->on_match))
		return SESSION_DEFAULT;
	answer = options->on_ask ? options->on_ask(options->context, &match, &reported)
				 : options->on_match(options->context, &match);
	free(match.warning);
	if (options->on_ask)
		return api_verdict_of(answer);
	unit->matches++;
	session->matches++;
	session->handed++;
	unit->answered = true;
	return answer == ASTERISM_LATER ? SESSION_DEFAULT : api_verdict_of(answer);
}

/* A unit that goes still answers: those who were stopped for it must not be forgotten. */
static const struct program *program_of(const struct asterism_match *match)
{
	return match->unit->program;
}

static const struct program_rule *rule_of(const struct asterism_match *match)
{
	return &program_of(match)->rules[match->found->rule];
}

const char *asterism_match_rule(const struct asterism_match *match)
{
	return program_text(program_of(match), rule_of(match)->name);
}

size_t asterism_match_rule_index(const struct asterism_match *match)
{
	return match->found->rule;
}

struct asterism_rules *asterism_match_unit(const struct asterism_match *match)
{
	return match->unit;
}

uint64_t asterism_match_time_ns(const struct asterism_match *match)
{
	return match->found->ts;
}

uint32_t asterism_match_cpu(const struct asterism_match *match)
{
	return match->found->cpu;
}

uint32_t asterism_match_pid(const struct asterism_match *match)
{
	return match->found->pid;
}

uint32_t asterism_match_tid(const struct asterism_match *match)
{
	return match->found->tid;
}

const char *asterism_match_comm(const struct asterism_match *match)
{
	return match->found->comm;
}

int asterism_match_is_tainted(const struct asterism_match *match)
{
	return match->found->tainted;
}

static void give_value(const struct program_value *from, struct asterism_value *to)
{
	switch (from->kind) {
	case PROGRAM_I64:
		to->kind = ASTERISM_I64;
		to->as.i64 = from->i64;
		break;
	case PROGRAM_U64:
		to->kind = ASTERISM_U64;
		to->as.u64 = from->u64;
		break;
	case PROGRAM_F64:
		to->kind = ASTERISM_F64;
		to->as.f64 = from->f64;
		break;
	case PROGRAM_BOOL:
		to->kind = ASTERISM_BOOL;
		to->as.boolean = from->boolean;
		break;
	case PROGRAM_STRING:
		to->kind = ASTERISM_STRING;
		to->as.string = from->text;
		break;
	}
}

/* The value under the name of row index of what the rule returns; -ENOENT: the match has no such name. */
static int read_match_value(const struct asterism_match *match, uint32_t index, struct asterism_value *value)
{
	const struct program *program = program_of(match);
	const struct program_return *row = &program_returns(program, rule_of(match))[index];
	struct program_value own = { .kind = program->nodes[row->node].kind, .text = "" };
	int result = program_returned(program, match->found, index, &own);

	if (result == -ENOENT)
		return result;
	if (result)
		own.u64 = 0;
	value->name = program_text(program, row->name);
	give_value(&own, value);
	return result;
}

size_t asterism_match_value_count(const struct asterism_match *match)
{
	struct asterism_value value;
	size_t count = 0;

	for (uint32_t i = 0; i < rule_of(match)->return_count; i++)
		count += read_match_value(match, i, &value) != -ENOENT;
	return count;
}

/* The row of what the rule returns that is value number index of this match; -EINVAL: there is none. */
static int returned_row(const struct asterism_match *match, size_t index)
{
	for (uint32_t i = 0; i < rule_of(match)->return_count; i++) {
		struct asterism_value own;

		if (read_match_value(match, i, &own) != -ENOENT && !index--)
			return (int)i;
	}
	return -EINVAL;
}

int asterism_match_value(const struct asterism_match *match, size_t index, struct asterism_value *value)
{
	int row = returned_row(match, index);

	return row < 0 ? row : read_match_value(match, (uint32_t)row, value);
}

int asterism_match_value_find(const struct asterism_match *match, const char *name, struct asterism_value *value)
{
	for (uint32_t i = 0; i < rule_of(match)->return_count; i++) {
		struct asterism_value own;
		int result = read_match_value(match, i, &own);

		if (result == -ENOENT || strcmp(own.name, name) != 0)
			continue;
		*value = own;
		return result;
	}
	return -ENOENT;
}

int asterism_match_values(const struct asterism_match *match, void *values, size_t size)
{
	const struct program_values *layout = &match->unit->layouts[match->found->rule];
	uint64_t wanted;

	if (size != layout->bytes)
		return -EINVAL;
	memcpy(&wanted, values, sizeof wanted);
	if (wanted != layout->layout)
		return -EINVAL;
	program_values_fill(program_of(match), match->found, layout, values);
	return 0;
}

size_t asterism_match_event_count(const struct asterism_match *match)
{
	return match->found->event_count;
}

static const struct program_type *returned_type(const struct asterism_match *match, size_t index)
{
	return &program_of(match)->types[match->found->events[index].record->type];
}

int asterism_match_event(const struct asterism_match *match, size_t index, struct asterism_event *event)
{
	const struct program *program = program_of(match);

	if (index >= match->found->event_count)
		return -EINVAL;

	const struct program_match_event *found = &match->found->events[index];
	const struct event_header *header = found->record;
	const struct program_type *type = returned_type(match, index);
	uint32_t name = program_elements(program, rule_of(match))[found->element].name;
	const struct asterism_event own = {
		.type = program_text(program, type->name),
		.name = name == PROGRAM_NONE ? NULL : program_text(program, name),
		.seq = header->seq,
		.time_ns = header->ts,
		.cpu = header->cpu,
		.pid = header->pid,
		.tid = header->tid,
		.comm = header->comm,
		.field_count = type->field_count,
	};

	return sized_give(event, &own, sizeof own);
}

int asterism_match_event_field(const struct asterism_match *match, size_t index, size_t field,
			       struct asterism_value *value)
{
	const struct program *program = program_of(match);
	struct program_value own;

	if (index >= match->found->event_count || field >= returned_type(match, index)->field_count)
		return -EINVAL;

	const struct program_field *row = &program_fields(program, returned_type(match, index))[field];

	result_read_field(row, match->found->events[index].record, &own);
	value->name = program_text(program, row->name);
	give_value(&own, value);
	return 0;
}

const char *asterism_match_warning(const struct asterism_match *match)
{
	/* Made when it is asked for: matches are handed out as this library's own, which are not const. */
	struct asterism_match *own = (struct asterism_match *)match;

	if (!own->warning && program_match_notice(program_of(match), match->found))
		own->warning = result_warning(program_of(match), match->found, false);
	return own->warning;
}

size_t asterism_match_trail_count(const struct asterism_match *match)
{
	struct program_trail_event events[PROGRAM_TRAIL_MAX];

	return program_trail(program_of(match), match->found, events);
}

int asterism_match_trail(const struct asterism_match *match, size_t index, struct asterism_transition *transition)
{
	struct program_trail_event events[PROGRAM_TRAIL_MAX];

	if (index >= program_trail(program_of(match), match->found, events))
		return -EINVAL;

	const struct program_trail_event *event = &events[index];
	const struct asterism_transition own = {
		.event = event->name,
		.from = event->from,
		.to = event->to,
		.time_ns = event->ts,
		.cpu = event->cpu,
		.pid = event->pid,
		.tid = event->tid,
	};

	return sized_give(transition, &own, sizeof own);
}

int asterism_match_json_text(const struct asterism_match *match, char **text)
{
	char *written = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&written, &length);
	struct asterism_session *session = match->unit->session;
	struct when when = { .in_json = true, .machine = &session->machine };
	bool failed;

	if (!stream)
		return -ENOMEM;
	when_take_machine(&session->machine);
	if (session->names_processes)
		when.place = place_find(&session->places, &program_of(match)->rules[match->found->rule], match->found);
	result_write_json(stream, program_of(match), match->found, &when);
	failed = ferror(stream);
	failed |= fclose(stream) != 0;
	if (failed || length == 0 || length > INT_MAX) {
		free(written);
		return -ENOMEM;
	}
	written[--length] = 0; /* the newline */
	*text = written;
	return (int)length;
}

/* Gives what fits, and frees text; as snprintf. */
static int give_text(char *text, size_t length, char *buffer, size_t size)
{
	if (size) {
		size_t kept = length < size ? length : size - 1;

		memcpy(buffer, text, kept);
		buffer[kept] = 0;
	}
	free(text);
	return (int)length;
}

int asterism_match_json(const struct asterism_match *match, char *buffer, size_t size)
{
	char *text;
	int length = asterism_match_json_text(match, &text);

	return length < 0 ? length : give_text(text, (size_t)length, buffer, size);
}

int asterism_match_value_shown(const struct asterism_match *match, size_t index, char *buffer, size_t size)
{
	int row = returned_row(match, index), result;
	char *text;

	if (row < 0)
		return row;
	result = result_shown(program_of(match), match->found, (uint32_t)row, &text);
	return result < 0 ? result : give_text(text, (size_t)result, buffer, size);
}
