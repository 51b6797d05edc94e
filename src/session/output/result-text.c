// SPDX-License-Identifier: BSD-2-Clause
/* Writes matches and statistics as text: one line each, the same things below each other. */

#include "session/output/result.h"

#include "base/text.h"
#include "program/emissions.h"
#include "program/machine.h"
#include "program/returned.h"
#include "session/output/result-priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_WIDTH_MAX = 32, WHO_WIDTH = 28, LABEL_BYTES = 80 };

static int name_width(const struct program *program)
{
	size_t width = 4;

	for (uint32_t i = 0; i < program->rule_count; i++) {
		size_t length = strlen(program_text(program, program->rules[i].name));

		if (length > width)
			width = length;
	}
	return width > NAME_WIDTH_MAX ? NAME_WIDTH_MAX : (int)width;
}

/* "comm[pid/tid] docker:3f2a9c1d0b5e  cpu n", aligned. */
static void put_who(FILE *stream, const char *comm, const uint32_t ids[3], const struct container *place)
{
	int width = text_write(stream, comm, TEXT_VALUE);

	width += result_put_ids(stream, ids[1], ids[2]);
	if (place) {
		char text[CONTAINER_TEXT_BYTES];

		container_print(place, text);
		putc(' ', stream);
		width += 1 + text_write(stream, text, TEXT_VALUE);
	}
	fprintf(stream, "%*s", width < WHO_WIDTH ? WHO_WIDTH - width : 0, "");
	result_put_cpu(stream, ids[0]);
}

static void put_result_value(FILE *stream, const struct program *program, uint32_t meaning,
			     const struct program_value *value, const struct program_match *owner)
{
	const char *quote = value->kind == PROGRAM_STRING ? "\"" : "";

	fputs(quote, stream);
	result_show_value(stream, program, meaning, value, owner);
	fputs(quote, stream);
}

/* All its values stand in it. */
static void put_warning(FILE *stream, const struct program *program, const struct program_match *match)
{
	char *text = result_warning(program, match, true);

	if (!text || *text)
		fputs("  ", stream);
	text_write(stream, text ? text : "(out of memory)", TEXT_WORDS);
	free(text);
}

static void put_returns_text(FILE *stream, const struct program *program, const struct program_match *match)
{
	const struct program_rule *rule = &program->rules[match->rule];

	for (uint32_t i = 0; i < rule->return_count; i++) {
		const struct program_return *row = &program_returns(program, rule)[i];
		struct program_value value;
		struct result_room room;
		int result = program_returned(program, match, i, &value);

		if (result == -ENODATA || result == -ENOENT)
			continue;
		fputs("  ", stream);
		text_write(stream, program_text(program, row->name), TEXT_WORDS); /* may be a whole expression */
		putc('=', stream);
		if (result)
			fputs("(division by zero)", stream);
		else
			put_result_value(stream, program, row->meaning, &value,
					 result_owner(program, match, row->node, row->meaning, &room));
	}
}

static void put_argument(FILE *stream, const struct program *program, const struct program_match *match,
			 const struct program_arg *arg)
{
	const struct program_operand operand = { .program = program,
						 .rule = &program->rules[match->rule],
						 .slots = match->slots };
	struct program_value value;
	struct result_room room;

	if (program_eval(&operand, arg->node, &value))
		fputs("(division by zero)", stream);
	else
		put_result_value(stream, program, arg->meaning, &value,
				 result_owner(program, match, arg->node, arg->meaning, &room));
}

static void put_match_calls(FILE *stream, const struct program *program, const struct program_match *match)
{
	const struct program_rule *rule = &program->rules[match->rule];

	for (uint32_t i = 0; i < rule->statement_count; i++) {
		const struct program_statement *statement = &program_statements(program, rule)[i];

		if (program_is_emission(statement) || !program_statement_applies(statement, match))
			continue;
		char *text = result_message(program, match, statement, true);

		if (text) {
			fputs("  ", stream);
			text_write(stream, text, TEXT_WORDS);
			free(text);
			continue;
		}
		fprintf(stream, "  %s(", program_text(program, statement->function));
		for (uint32_t j = 0; j < statement->arg_count; j++) {
			fputs(j ? ", " : "", stream);
			put_argument(stream, program, match, &program_args(program, statement)[j]);
		}
		putc(')', stream);
		if (match->reactions && match->reactions[i].verdict)
			fprintf(stream, ": %s (%s)", match->reactions[i].verdict, match->reactions[i].by);
		if (match->reactions && match->reactions[i].how == PROGRAM_NOT_DONE)
			fprintf(stream, " not done: %s", match->reactions[i].why);
	}
}

/* "a: sched_switch", or the type alone where the element has no name. */
static void print_label(const struct program *program, const struct program_rule *rule,
			const struct program_match_event *event, char label[LABEL_BYTES])
{
	uint32_t name = program_elements(program, rule)[event->element].name;
	const char *type = program_text(program, program->types[event->record->type].name);

	snprintf(label, LABEL_BYTES, "%s%s%s", program_text(program, name), name == PROGRAM_NONE ? "" : ": ", type);
}

static int label_width(const struct program *program, const struct program_match *match)
{
	size_t width = 0;

	for (uint32_t i = 0; i < match->event_count; i++) {
		char label[LABEL_BYTES];

		print_label(program, &program->rules[match->rule], &match->events[i], label);
		width = strlen(label) > width ? strlen(label) : width;
	}
	return (int)width;
}

/* What the events of a match are written with. */
struct frame {
	const struct program *program;
	const struct program_rule *rule;
	const struct when *when;
	const struct program_match *match;
	int width; /* of the widest label */
};

static void put_event_text(FILE *stream, const struct frame *frame, const struct program_match_event *event)
{
	const struct program *program = frame->program;
	const struct event_header *header = event->record;
	const struct program_match owner = result_owner_of(program, frame->match, header);
	const struct program_type *type = &program->types[header->type];
	char label[LABEL_BYTES];

	print_label(program, frame->rule, event, label);
	fputs("    ", stream);
	when_put_event(stream, frame->when, header->ts);
	fprintf(stream, "  %-*s  ", frame->width, label);
	put_who(stream, header->comm, (const uint32_t[]){ header->cpu, header->pid, header->tid }, NULL);
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct program_field *field = &program_fields(program, type)[i];
		struct program_value value;

		result_read_field(field, header, &value);
		fprintf(stream, "  %s=", program_text(program, field->name));
		put_result_value(stream, program, field->meaning, &value, &owner);
	}
	putc('\n', stream);
}

static void put_stack_text(FILE *stream, const struct program_stack *stack, const char *indent)
{
	for (uint32_t i = 0; i < stack->frame_count; i++) {
		fputs(indent, stream);
		text_write(stream, stack->frames[i], TEXT_VALUE);
		putc('\n', stream);
	}
	if (stack->frame_count && stack->end) {
		fprintf(stream, "%s... ", indent);
		text_write(stream, stack->end, TEXT_VALUE);
		putc('\n', stream);
	}
}

/* "worker[12/15], 0.4 ms later:", and its stack below. */
static void put_match_threads(FILE *stream, const struct program_match *match)
{
	for (uint32_t i = 0; i < match->thread_count; i++) {
		const struct program_thread *thread = &match->threads[i];
		char later[RESULT_AGO_BYTES];

		fputs("    ", stream);
		text_write(stream, thread->comm, TEXT_VALUE);
		result_put_ids(stream, thread->pid, thread->tid);
		result_print_ago(0, thread->late_ns, later);
		fprintf(stream, ", %s later:\n", later + (*later == '-'));
		put_stack_text(stream, &thread->stack, "      ");
	}
}

void result_write_text(FILE *stream, const struct program *program, const struct program_match *match,
		       struct when *when)
{
	const struct program_rule *rule = &program->rules[match->rule];

	when_put(stream, when, match->ts);
	fprintf(stream, "  %-*s  ", name_width(program), program_text(program, rule->name));
	result_put_severity(stream, program, rule);
	put_who(stream, match->comm, (const uint32_t[]){ match->cpu, match->pid, match->tid },
		when ? when->place : NULL);
	if (rule->semantics == PROGRAM_MACHINE)
		put_warning(stream, program, match);
	else
		put_returns_text(stream, program, match);
	put_match_calls(stream, program, match);
	fputs(match->tainted ? "  [tainted]\n" : "\n", stream);
	put_stack_text(stream, &match->named_stack, "    ");
	put_match_threads(stream, match);
	if (rule->semantics == PROGRAM_MACHINE) {
		result_write_trail(stream, program, match);
		return;
	}
	const struct frame frame = { program, rule, when, match, label_width(program, match) };

	for (uint32_t i = 0; i < match->event_count; i++)
		put_event_text(stream, &frame, &match->events[i]);
}

void result_write_table(FILE *stream, const struct program *program, const struct session_totals *totals)
{
	double seconds = (double)totals->elapsed_ns / 1e9;
	int width = name_width(program);

	fprintf(stream, "%-*s  %12s  %12s  %12s  %12s  %12s\n", width, "rule", "matches", "runs opened", "most open",
		"refused", "lost");
	for (uint32_t i = 0; i < totals->rule_count; i++) {
		const struct program_rule_stats *stats = &totals->rules[i];

		fprintf(stream, "%-*s  %12" PRIu64 "  %12" PRIu64 "  %12" PRIu64 "  %12" PRIu64 "  %12" PRIu64 "\n",
			width, program_text(program, program->rules[i].name), stats->matches, stats->runs_opened,
			stats->runs_live_max, stats->pool_exhausted, stats->lost);
	}
	fprintf(stream, "%" PRIu64 " events in %.3f s (%.0f per second), %" PRIu64 " lost\n", totals->events, seconds,
		seconds > 0 ? (double)totals->events / seconds : 0.0, totals->lost);
}
