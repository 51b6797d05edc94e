// SPDX-License-Identifier: BSD-2-Clause
/* Writes matches and statistics as JSON. */

#include "session/output/result.h"

#include "base/real.h"
#include "program/emissions.h"
#include "program/machine.h"
#include "program/returned.h"
#include "react/react.h"
#include "session/output/result-priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static void put_returns_json(FILE *stream, const struct program *program, const struct program_match *match)
{
	const struct program_rule *rule = &program->rules[match->rule];
	const char *separator = "";

	fputs(",\"return\":{", stream);
	for (uint32_t i = 0; i < rule->return_count; i++) {
		struct program_value found;
		int result = program_returned(program, match, i, &found);

		if (result == -ENOENT)
			continue;
		fputs(separator, stream);
		separator = ",";
		result_put_string(stream, program_text(program, program_returns(program, rule)[i].name));
		putc(':', stream);
		if (result)
			fputs("null", stream);
		else
			result_put_value(stream, &found);
	}
	putc('}', stream);
}

/* ,"names":{...}: the fields of an event that have a name. */
static void put_field_names(FILE *stream, const struct program *program, const struct program_match *match,
			    const struct event_header *header)
{
	const struct program_type *type = &program->types[header->type];
	const struct program_match owner = result_owner_of(program, match, header);
	const char *before = ",\"names\":{";

	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct program_field *field = &program_fields(program, type)[i];
		struct program_value value;
		const struct result_named named = { before, program_text(program, field->name), field->meaning, &value,
						    &owner };

		result_read_field(field, header, &value);
		if (field->meaning && result_put_name(stream, program, &named))
			before = ",";
	}
	if (!before[1])
		putc('}', stream);
}

/*
 * comm stands only where there is one: recorded events need not have it. So does seq: events that meet in the kernel,
 * on several CPUs, are not counted in any order.
 */
static void put_event_json(FILE *stream, const struct program *program, const struct program_match *match,
			   const struct program_match_event *event)
{
	const struct program_rule *rule = &program->rules[match->rule];

	const struct event_header *header = event->record;
	const struct program_type *type = &program->types[header->type];
	uint32_t name = program_elements(program, rule)[event->element].name;

	fputs("{\"event\":", stream);
	result_put_string(stream, program_text(program, type->name));
	fputs(",\"name\":", stream);
	if (name == PROGRAM_NONE)
		fputs("null", stream);
	else
		result_put_string(stream, program_text(program, name));
	if (header->seq)
		fprintf(stream, ",\"seq\":%" PRIu64, header->seq);
	result_put_place(stream, header->ts, header->cpu, header->pid, header->tid);
	if (*header->comm) {
		fputs(",\"comm\":", stream);
		result_put_string(stream, header->comm);
	}
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct program_field *field = &program_fields(program, type)[i];
		struct program_value value;

		putc(',', stream);
		result_put_string(stream, program_text(program, field->name));
		putc(':', stream);
		result_read_field(field, header, &value);
		result_put_value(stream, &value);
	}
	put_field_names(stream, program, match, header);
	putc('}', stream);
}

static void put_sequence(FILE *stream, const struct program *program, const struct program_match *match)
{
	fputs(",\"sequence\":[", stream);
	for (uint32_t i = 0; i < match->event_count; i++) {
		if (i)
			putc(',', stream);
		put_event_json(stream, program, match, &match->events[i]);
	}
	putc(']', stream);
}

/* What became of statement index of the match's rule. */
static void put_outcome(FILE *stream, const struct program *program, const struct program_match *match, uint32_t index)
{
	static const char *const where[] = { [PROGRAM_DONE_IN_KERNEL] = "kernel", [PROGRAM_DONE] = "asterism" };
	const struct program_rule *rule = &program->rules[match->rule];
	char *text = result_message(program, match, &program_statements(program, rule)[index], false);

	if (text) {
		fputs(",\"text\":", stream);
		result_put_string(stream, text);
		free(text);
		return;
	}
	const struct program_reaction *reaction = match->reactions ? &match->reactions[index] : NULL;

	if (!reaction || (reaction->how == PROGRAM_NOT_TRIED && !reaction->why))
		return;
	bool done = reaction->how == PROGRAM_DONE || reaction->how == PROGRAM_DONE_IN_KERNEL;

	if (reaction->verdict) {
		fprintf(stream, ",\"verdict\":\"%s\",\"by\":\"%s\"", reaction->verdict, reaction->by);
		if (reaction->why) {
			fputs(",\"why\":", stream);
			result_put_string(stream, reaction->why);
		}
		return;
	}
	fprintf(stream, ",\"done\":%s", done ? "true,\"by\":" : "false,\"why\":");
	result_put_string(stream, done ? where[reaction->how] : reaction->why);
}

/* ,"names":{...}: the arguments that have a name, by their number from 0. */
static void put_argument_names(FILE *stream, const struct program *program, const struct program_match *match,
			       const struct program_statement *statement)
{
	const struct program_operand operand = { .program = program,
						 .rule = &program->rules[match->rule],
						 .slots = match->slots };
	const char *before = ",\"names\":{";

	for (uint32_t i = 0; i < statement->arg_count; i++) {
		const struct program_arg *arg = &program_args(program, statement)[i];
		struct program_value value;
		struct result_room room;
		char key[16];
		const struct result_named named = { before, key, arg->meaning, &value,
						    result_owner(program, match, arg->node, arg->meaning, &room) };

		snprintf(key, sizeof key, "%" PRIu32, i);
		if (arg->meaning && !program_eval(&operand, arg->node, &value) &&
		    result_put_name(stream, program, &named))
			before = ",";
	}
	if (!before[1])
		putc('}', stream);
}

static void put_calls_json(FILE *stream, const struct program *program, const struct program_match *match)
{
	const struct program_rule *rule = &program->rules[match->rule];
	uint32_t count = 0;

	for (uint32_t i = 0; i < rule->statement_count; i++) {
		const struct program_statement *statement = &program_statements(program, rule)[i];

		if (program_is_emission(statement) || !program_statement_applies(statement, match))
			continue;
		fputs(count++ ? ",{\"function\":" : ",\"calls\":[{\"function\":", stream);
		result_put_string(stream, program_text(program, statement->function));
		fputs(",\"args\":[", stream);
		for (uint32_t j = 0; j < statement->arg_count; j++) {
			if (j)
				putc(',', stream);
			result_put_node(stream, program, match, program_args(program, statement)[j].node);
		}
		putc(']', stream);
		put_argument_names(stream, program, match, statement);
		put_outcome(stream, program, match, i);
		putc('}', stream);
	}
	if (count)
		putc(']', stream);
}

/* ,"stack":[...] and how it was found. */
static void put_stack_json(FILE *stream, const struct program_stack *stack)
{
	static const char *const by[] = { [PROGRAM_BY_FRAME_POINTERS] = "frame pointers",
					  [PROGRAM_BY_UNWINDING] = "unwinding",
					  [PROGRAM_BY_REGISTERS] = "registers" };

	for (uint32_t i = 0; i < stack->frame_count; i++) {
		fputs(i ? "," : ",\"stack\":[", stream);
		result_put_string(stream, stack->frames[i]);
	}
	if (!stack->frame_count)
		return;
	fprintf(stream, "],\"stack_by\":\"%s\"", by[stack->by]);
	if (stack->end) {
		fputs(",\"stack_end\":", stream);
		result_put_string(stream, stack->end);
	}
}

static void put_threads_json(FILE *stream, const struct program_match *match)
{
	for (uint32_t i = 0; i < match->thread_count; i++) {
		const struct program_thread *thread = &match->threads[i];

		fprintf(stream, "%s{\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"comm\":", i ? "," : ",\"threads\":[",
			thread->pid, thread->tid);
		result_put_string(stream, thread->comm);
		fprintf(stream, ",\"late\":%" PRIu64, thread->late_ns);
		put_stack_json(stream, &thread->stack);
		putc('}', stream);
	}
	if (match->thread_count)
		putc(']', stream);
}

/* A unit of systemd is not called "unit": the daemon's lines have that already, for the rules'. */
static void put_place(FILE *stream, const struct container *place)
{
	char text[CONTAINER_TEXT_BYTES];

	if (!place)
		return;
	container_print(place, text);
	fputs(place->runtime ? ",\"container\":" : ",\"systemd_unit\":", stream);
	result_put_string(stream, text);
}

void result_write_json(FILE *stream, const struct program *program, const struct program_match *match,
		       const struct when *when)
{
	const struct program_rule *rule = &program->rules[match->rule];

	fputs("{\"match\":", stream);
	result_put_string(stream, program_text(program, rule->name));
	result_put_place(stream, match->ts, match->cpu, match->pid, match->tid);
	fputs(",\"comm\":", stream);
	result_put_string(stream, match->comm);
	if (rule->semantics == PROGRAM_MACHINE)
		result_put_warning(stream, program, match);
	put_returns_json(stream, program, match);
	if (rule->semantics == PROGRAM_MACHINE)
		result_put_trail(stream, program, match);
	fprintf(stream, ",\"tainted\":%s", match->tainted ? "true" : "false");
	if (rule->flags & PROGRAM_RULE_SEQUENCE)
		put_sequence(stream, program, match);
	put_stack_json(stream, &match->named_stack);
	put_threads_json(stream, match);
	put_calls_json(stream, program, match);
	result_put_names(stream, program, match);
	result_put_properties(stream, program, rule);
	put_place(stream, when ? when->place : NULL);
	when_put_json(stream, when, match->ts);
	fputs("}\n", stream);
}

/* How many events the rule did not see completely; of the last one, where it is known, type and process. */
static void put_unread(FILE *stream, const struct program *program, const struct program_rule_stats *stats)
{
	if (!stats->unread)
		return;
	if (stats->unread_type) {
		fputs(",\"unread_event\":", stream);
		result_put_string(stream, program_text(program, program->types[stats->unread_type - 1].name));
	}
	if (stats->unread_pid)
		fprintf(stream, ",\"unread_pid\":%" PRIu32, stats->unread_pid);
	fprintf(stream, ",\"unread\":%" PRIu64, stats->unread);
}

static void put_rule_stats(FILE *stream, const struct program *program, uint32_t index,
			   const struct program_rule_stats *stats, uint64_t unreported)
{
	const struct program_rule *rule = &program->rules[index];

	fprintf(stream,
		"{\"matches\":%" PRIu64 ",\"runs_opened\":%" PRIu64 ",\"runs_live_max\":%" PRIu64
		",\"pool_exhausted\":%" PRIu64 ",\"replaced\":%" PRIu64 ",\"lost\":%" PRIu64,
		stats->matches, stats->runs_opened, stats->runs_live_max, stats->pool_exhausted, stats->replaced,
		stats->lost);
	if (stats->divisions_by_zero)
		fprintf(stream, ",\"divisions_by_zero\":%" PRIu64, stats->divisions_by_zero);
	put_unread(stream, program, stats);
	if (stats->calls_32bit)
		fprintf(stream, ",\"calls_32bit\":%" PRIu64, stats->calls_32bit);
	if (stats->io_uring)
		fprintf(stream, ",\"io_uring\":%" PRIu64, stats->io_uring);
	if (rule->except)
		fprintf(stream, ",\"excepted\":%" PRIu64, stats->excepted);
	if (stats->unshown)
		fprintf(stream, ",\"beyond_limit\":%" PRIu64, stats->unshown);
	if (unreported)
		fprintf(stream, ",\"below_severity\":%" PRIu64, unreported);
	putc('}', stream);
}

void result_write_crowd_json(FILE *stream, const struct program *program, uint32_t rule,
			     const struct program_rule_stats *stats)
{
	fputs("{\"notice\":\"pool\",\"rule\":", stream);
	result_put_string(stream, program_text(program, program->rules[rule].name));
	fprintf(stream, ",\"refused\":%" PRIu64 ",\"replaced\":%" PRIu64 "}\n",
		stats->pool_exhausted - stats->events_refused, stats->crowded);
}

void result_write_bypass_json(FILE *stream, const struct program *program, uint32_t rule,
			      const struct program_rule_stats *stats)
{
	fputs("{\"notice\":\"bypass\",\"rule\":", stream);
	result_put_string(stream, program_text(program, program->rules[rule].name));
	fprintf(stream, ",\"calls_32bit\":%" PRIu64 ",\"io_uring\":%" PRIu64 "}\n", stats->calls_32bit,
		stats->io_uring);
}

void result_write_cut_json(FILE *stream, const char *name, uint64_t events)
{
	fputs("{\"notice\":\"stream\",\"stream\":", stream);
	result_put_string(stream, name);
	fprintf(stream, ",\"events\":%" PRIu64 "}\n", events);
}

static void put_refusals(FILE *stream, const struct program *program, const struct session_refusals *refusals)
{
	for (size_t i = 0; i < refusals->count; i++) {
		const struct session_refusal *refusal = &refusals->items[i];

		fputs(i ? ",{\"rule\":" : ",\"refused\":[{\"rule\":", stream);
		result_put_string(stream, program_text(program, program->rules[refusal->rule].name));
		fprintf(stream, ",\"action\":\"%s\",\"count\":%" PRIu64 ",\"why\":", refusal->action->name,
			refusal->count);
		result_put_string(stream, refusal->why);
		putc('}', stream);
	}
	if (refusals->count)
		putc(']', stream);
}

void result_write_stats(FILE *stream, const struct program *program, const struct session_totals *totals)
{
	double seconds = (double)totals->elapsed_ns / 1e9;

	fprintf(stream, "{\"stats\":{\"events\":%" PRIu64 ",\"seconds\":", totals->events);
	real_put(stream, seconds);
	fputs(",\"events_per_second\":", stream);
	fprintf(stream, "%" PRIu64, seconds > 0 ? (uint64_t)((double)totals->events / seconds) : 0);
	fprintf(stream, ",\"lost\":%" PRIu64 ",\"rules\":{", totals->lost);
	for (uint32_t i = 0; i < totals->rule_count; i++) {
		if (i)
			putc(',', stream);
		result_put_string(stream, program_text(program, program->rules[i].name));
		putc(':', stream);
		put_rule_stats(stream, program, i, &totals->rules[i], result_unreported(program, totals, i));
	}
	putc('}', stream);
	result_put_tallies(stream, &totals->tallies);
	put_refusals(stream, program, &totals->refusals);
	fputs("}}\n", stream);
}
