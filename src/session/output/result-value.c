// SPDX-License-Identifier: BSD-2-Clause
/* Writes single values. */

#include "session/output/result-priv.h"

#include "base/real.h"
#include "base/text.h"
#include "meaning/meaning.h"
#include "program/emissions.h"
#include "program/query.h"
#include "program/returned.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

void result_put_string(FILE *stream, const char *text)
{
	putc('"', stream);
	text_write(stream, text, TEXT_JSON);
	putc('"', stream);
}

void result_put_value(FILE *stream, const struct program_value *value)
{
	switch (value->kind) {
	case PROGRAM_I64:
		fprintf(stream, "%" PRId64, value->i64);
		break;
	case PROGRAM_U64:
		fprintf(stream, "%" PRIu64, value->u64);
		break;
	case PROGRAM_F64:
		real_put(stream, value->f64);
		break;
	case PROGRAM_BOOL:
		fputs(value->boolean ? "true" : "false", stream);
		break;
	case PROGRAM_STRING:
		result_put_string(stream, value->text);
		break;
	}
}

static const struct meaning *program_meaning(const struct program *program, uint32_t meaning)
{
	return meaning ? meaning_find(program_text(program, meaning - 1)) : NULL;
}

bool result_means_address(const struct program *program, uint32_t of_image)
{
	const struct meaning *meaning = program_meaning(program, of_image);

	return meaning && meaning->form == MEANING_ADDRESS;
}

static struct meaning_number value_number(const struct program_value *value)
{
	return (struct meaning_number){ .word = value->u64, .is_signed = value->kind == PROGRAM_I64 };
}

const struct program_match *result_owner(const struct program *program, const struct program_match *match,
					 uint32_t node, uint32_t meaning, struct result_room *room)
{
	if (!match->namer || !result_means_address(program, meaning))
		return NULL;
	if (match->has_own_values)
		return match;
	if (!program_find_owner(program, match, node, &room->owner))
		return NULL;
	if (room->owner.pid == match->pid)
		return match;
	room->match = (struct program_match){ .ts = room->owner.ts,
					      .pid = room->owner.pid,
					      .tid = room->owner.tid,
					      .comm = room->owner.comm,
					      .namer = match->namer };
	return &room->match;
}

struct program_match result_owner_of(const struct program *program, const struct program_match *match,
				     const struct event_header *header)
{
	if (!match->has_own_values && program_is_emitted(program, header->type))
		return (struct program_match){ .namer = NULL };
	if (header->pid == match->pid)
		return *match;
	return (struct program_match){ .ts = header->ts,
				       .cpu = header->cpu,
				       .pid = header->pid,
				       .tid = header->tid,
				       .comm = header->comm,
				       .namer = match->namer };
}

/* What the address is called; NULL: nothing, or it is no address. */
static const char *address_name(const struct program_match *owner, const struct meaning *meaning,
				const struct program_value *value)
{
	bool is_integer = value->kind == PROGRAM_I64 || value->kind == PROGRAM_U64;

	if (!owner || !owner->namer || !is_integer || !meaning || meaning->form != MEANING_ADDRESS)
		return NULL;
	return owner->namer->name(owner->namer->context, owner, value->u64);
}

void result_show_value(FILE *stream, const struct program *program, uint32_t of_image,
		       const struct program_value *value, const struct program_match *match)
{
	const struct meaning *meaning = program_meaning(program, of_image);
	const char *name = address_name(match, meaning, value);
	char shown[MEANING_TEXT_BYTES];
	struct text_buffer buffer;
	bool is_integer = value->kind == PROGRAM_I64 || value->kind == PROGRAM_U64;

	text_init_fixed(&buffer, shown, sizeof shown);
	if (name) {
		text_write(stream, name, TEXT_VALUE);
	} else if (value->kind == PROGRAM_STRING) {
		text_write(stream, value->text, TEXT_VALUE);
	} else if (is_integer && meaning) {
		if (!meaning_user(program->users, meaning, value_number(value), &buffer))
			meaning_show(&buffer, meaning, value_number(value));
		fputs(shown, stream);
	} else if (value->kind == PROGRAM_F64 && meaning_show_real(&buffer, meaning, value->f64)) {
		fputs(shown, stream);
	} else {
		result_put_value(stream, value);
	}
}

int result_shown(const struct program *program, const struct program_match *match, uint32_t row, char **text)
{
	const struct program_return *returned = &program_returns(program, &program->rules[match->rule])[row];
	struct program_value value;
	struct result_room room;
	char *shown = NULL;
	size_t length = 0;
	int result = program_returned(program, match, row, &value);
	FILE *stream;

	if (result)
		return result;
	stream = open_memstream(&shown, &length);
	if (!stream)
		return -ENOMEM;
	result_show_value(stream, program, returned->meaning, &value,
			  result_owner(program, match, returned->node, returned->meaning, &room));
	if (fclose(stream) || length > INT_MAX) {
		free(shown);
		return -ENOMEM;
	}
	*text = shown;
	return (int)length;
}

bool result_put_name(FILE *stream, const struct program *program, const struct result_named *named)
{
	const struct meaning *meaning = program_meaning(program, named->meaning);
	const char *known = address_name(named->owner, meaning, named->value);
	char shown[MEANING_TEXT_BYTES];
	struct text_buffer name;
	bool is_integer = named->value->kind == PROGRAM_I64 || named->value->kind == PROGRAM_U64;

	text_init_fixed(&name, shown, sizeof shown);
	if (!known && (!is_integer || !meaning_has_names(meaning)))
		return false;
	if (!known && !meaning_name(&name, meaning, value_number(named->value)) &&
	    !meaning_user(program->users, meaning, value_number(named->value), &name))
		return false;
	fputs(named->before, stream);
	result_put_string(stream, named->key);
	putc(':', stream);
	result_put_string(stream, known ? known : shown);
	return true;
}

void result_put_names(FILE *stream, const struct program *program, const struct program_match *match)
{
	const struct program_rule *rule = &program->rules[match->rule];
	const char *before = ",\"names\":{";

	for (uint32_t i = 0; i < rule->return_count; i++) {
		const struct program_return *row = &program_returns(program, rule)[i];
		struct result_room room;
		struct program_value value;
		const struct result_named named = { before, program_text(program, row->name), row->meaning, &value,
						    result_owner(program, match, row->node, row->meaning, &room) };

		if (row->meaning && !program_returned(program, match, i, &value) &&
		    result_put_name(stream, program, &named))
			before = ",";
	}
	if (!before[1])
		putc('}', stream);
}

void result_read_field(const struct program_field *field, const void *record, struct program_value *value)
{
	const char *at = (const char *)record + field->offset;
	uint32_t half;

	switch ((enum event_value)field->value) {
	case EVENT_STRING:
		value->kind = PROGRAM_STRING;
		value->text = at;
		return;
	case EVENT_U64:
	case EVENT_ADDR:
		value->kind = PROGRAM_U64;
		break;
	case EVENT_F64:
		value->kind = PROGRAM_F64;
		break;
	case EVENT_BOOL:
		value->kind = PROGRAM_BOOL;
		break;
	default:
		value->kind = PROGRAM_I64;
		break;
	}
	if (field->bytes == sizeof half) {
		memcpy(&half, at, sizeof half);
		value->u64 = half;
		return;
	}
	memcpy(&value->u64, at, sizeof value->u64);
	if (value->kind == PROGRAM_BOOL)
		value->boolean = value->u64 != 0;
}

void result_put_node(FILE *stream, const struct program *program, const struct program_match *match, uint32_t node)
{
	const struct program_operand operand = {
		.program = program,
		.rule = &program->rules[match->rule],
		.slots = match->slots,
	};
	struct program_value value;

	if (program_eval(&operand, node, &value))
		fputs("null", stream);
	else
		result_put_value(stream, &value);
}

int result_put_ids(FILE *stream, uint32_t pid, uint32_t tid)
{
	if (pid == tid)
		return fprintf(stream, "[%" PRIu32 "]", pid);
	return fprintf(stream, "[%" PRIu32 "/%" PRIu32 "]", pid, tid);
}

void result_put_place(FILE *stream, uint64_t ts, uint32_t cpu, uint32_t pid, uint32_t tid)
{
	fprintf(stream, ",\"ts\":%" PRIu64, ts);
	if (cpu == EVENT_NO_CPU)
		fputs(",\"cpu\":null", stream);
	else
		fprintf(stream, ",\"cpu\":%" PRIu32, cpu);
	fprintf(stream, ",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, pid, tid);
}

void result_put_cpu(FILE *stream, uint32_t cpu)
{
	if (cpu == EVENT_NO_CPU)
		fputs("  cpu   -", stream);
	else
		fprintf(stream, "  cpu %3" PRIu32, cpu);
}
