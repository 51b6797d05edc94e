// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads a held system call. Only native calls are ever held (session/seccomp/veto-plan.c), so whatever asks whether a
 * thread runs 32-bit code is answered with no.
 */

#include "session/seccomp/veto-call.h"

#include "ebpf/path/path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool is_compat_status(const struct event_path *node)
{
	return strcmp(node->name, "current") == 0 && node->step_count == 2 && node->steps[0].member &&
	       node->steps[1].member && strcmp(node->steps[0].member, "thread_info") == 0 &&
	       strcmp(node->steps[1].member, "status") == 0;
}

static bool is_number_of_call(const struct event_path *node)
{
	return node->op == SOURCE_ACCESS && strcmp(node->name, "id") == 0 && node->step_count == 0;
}

/* Whether a call tells the integer of node. */
static bool is_integer_reported(const struct event_path *node)
{
	switch (node->op) {
	case SOURCE_CONST:
	case SOURCE_SYSCALL_ARG:
		return true;
	case SOURCE_ACCESS:
		return is_number_of_call(node) || is_compat_status(node);
	case SOURCE_CHOICE:
		return is_integer_reported(node->left) || is_integer_reported(node->right);
	default:
		return node->op < SOURCE_CHOICE && is_integer_reported(node->left) && is_integer_reported(node->right);
	}
}

static uint64_t evaluate_path(const struct event_path *node, const struct seccomp_data *call)
{
	switch (node->op) {
	case SOURCE_CONST:
		return (uint64_t)node->value;
	case SOURCE_SYSCALL_ARG:
		return call->args[node->value];
	case SOURCE_ACCESS:
		return is_number_of_call(node) ? (uint64_t)(int64_t)call->nr : 0;
	case SOURCE_CHOICE:
		return evaluate_path(is_integer_reported(node->left) ? node->left : node->right, call);
	default:
		return path_calculate(node->op, evaluate_path(node->left, call), evaluate_path(node->right, call));
	}
}

static bool holds(const struct event_path_condition *condition, const struct seccomp_data *call)
{
	const struct event_path right = { .op = SOURCE_CONST, .value = condition->value };
	const struct event_path compare = { .op = condition->compare,
					    .left = condition->path,
					    .right = (struct event_path *)&right };

	return evaluate_path(&compare, call);
}

/* A type on its way from the catalog. */
struct reading {
	const struct event_type *type;
	const bool *wanted;
	struct arena *arena;
	char *reason;
	size_t size;
};

static int read_veto_field(const struct reading *reading, const char *text, uint32_t index, struct veto_field *made)
{
	const struct event_field *field = &reading->type->fields[index];
	struct event_path *path;
	int result = text ? event_path_parse(text, reading->arena, &path, reading->reason, reading->size) : -EINVAL;
	bool is_text = !result && path->op == SOURCE_USTR;

	if (result || is_text != (field->value == EVENT_STRING) || !is_integer_reported(is_text ? path->left : path)) {
		snprintf(reading->reason, reading->size, "a held call does not provide '%s'", field->name);
		return result ? result : -EINVAL;
	}
	*made = (struct veto_field){ path, field->value, field->offset, field->bytes };
	return 0;
}

static int read_hook(const struct reading *reading, const struct event_hook *hook, struct veto_source *made)
{
	int result = event_path_parse_when(hook->when, reading->arena, &made->when, reading->reason, reading->size);

	for (uint32_t i = 0; i < made->when.count && !result; i++) {
		if (is_integer_reported(made->when.items[i].path))
			continue;
		snprintf(reading->reason, reading->size, "a held call does not show whether it is such an event");
		result = -EINVAL;
	}
	made->fields = arena_zero(reading->arena, reading->type->field_count, sizeof *made->fields);
	if (!made->fields)
		return -ENOMEM;
	for (uint32_t i = 0; i < reading->type->field_count && !result; i++)
		if (reading->wanted[i])
			result = read_veto_field(reading, hook->paths[i], i, &made->fields[i]);
	return result;
}

int veto_type_init(struct veto_type *made, const struct veto_wish *wish, struct arena *arena, char *reason, size_t size)
{
	const struct event_type *type = wish->type;
	const struct reading reading = { type, wish->fields, arena, reason, size };
	int result = 0;

	*made = (struct veto_type){ .name = type->name,
				    .record_bytes = type->record_bytes,
				    .field_count = type->field_count,
				    .source_count = type->hook_count };
	made->sources = arena_zero(arena, type->hook_count, sizeof *made->sources);
	if (!made->sources)
		return -ENOMEM;
	if (!event_type_is_call(type)) {
		snprintf(reason, size, "it is not the entry of a system call");
		return -EINVAL;
	}
	for (uint32_t i = 0; i < type->hook_count && !result; i++)
		result = read_hook(&reading, &type->hooks[i], &made->sources[i]);
	return result;
}

/* The number that calls of source have; -1: any may. */
static int64_t call_number(const struct veto_source *source)
{
	for (uint32_t i = 0; i < source->when.count; i++) {
		const struct event_path_condition *condition = &source->when.items[i];

		if (condition->compare == SOURCE_EQ && is_number_of_call(condition->path))
			return condition->value;
	}
	return -1;
}

int veto_type_numbers(const struct veto_type *type, bool numbers[VETO_CALLS_MAX])
{
	for (uint32_t i = 0; i < type->source_count; i++) {
		int64_t number = call_number(&type->sources[i]);

		if (number < 0 || number >= VETO_CALLS_MAX)
			return -EINVAL;
		numbers[number] = true;
	}
	return 0;
}

const struct veto_source *veto_type_source(const struct veto_type *type, const struct seccomp_data *call)
{
	for (uint32_t i = 0; i < type->source_count; i++) {
		const struct veto_source *source = &type->sources[i];
		uint32_t held = 0;

		while (held < source->when.count && holds(&source->when.items[held], call))
			held++;
		if (held == source->when.count)
			return source;
	}
	return NULL;
}

int veto_type_fill(const struct veto_type *type, const struct veto_source *source, const struct seccomp_data *call,
		   const struct veto_memory *memory, struct event_header *record)
{
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct veto_field *field = &source->fields[i];
		char *to = (char *)record + field->offset;
		int result;

		if (!field->path)
			continue;
		if (field->value != EVENT_STRING) {
			uint64_t value = event_value_narrow(field->value, evaluate_path(field->path, call));

			memcpy(to, &value, sizeof value);
			continue;
		}
		result = memory->read(memory->context, evaluate_path(field->path->left, call), to, field->bytes);
		if (result)
			return result;
	}
	return 0;
}
