// SPDX-License-Identifier: BSD-2-Clause
/* Selects the sensors that are to call the kernel, and reports applications whose calls no rule would understand. */

#include "session/live/calling.h"

#include "base/alloc.h"
#include "event/catalog.h"
#include "program/query.h"
#include "sensor/hook.h"
#include "sensor/key.h"
#include "sensor/stream/follow.h"

#include <errno.h>
#include <string.h>

enum { LOOK_NS = 1000000000 }; /* how soon a directory is looked for that has gone */

struct calling {
	struct follow *follow;
	struct stream_wants wants;
	struct asterism_diag *diag;
	uint32_t pid; /* whom the directory tells of */
};

static bool is_type_listed(const struct program *program, uint32_t type)
{
	for (uint32_t i = 0; i < program->rule_count; i++)
		if (program_rule_lists(program, &program->rules[i], type))
			return true;
	return false;
}

static int find_calling_wants(struct calling *calling, const struct session_rules *rules)
{
	const struct program *program = session_rules_program(rules);
	struct stream_wants *wants = &calling->wants;

	wants->items = alloc_zero(program->type_count, sizeof *wants->items);
	if (!wants->items)
		return -ENOMEM;
	for (uint32_t i = 0; i < program->type_count; i++) {
		const struct event_type *type =
			event_catalog_find(session_rules_catalog(rules), program_text(program, program->types[i].name));

		if (type && type->called && is_type_listed(program, i))
			wants->items[wants->count++] =
				(struct stream_want){ .type = type, .name = type->called, .number = i };
	}
	return 0;
}

static uint64_t calling_key(const struct event_type *type)
{
	struct event_field_spec fields[EVENT_FIELDS_MAX];
	const struct event_type_spec spec = { .name = type->called, .fields = fields, .field_count = type->own_count };

	for (uint32_t i = 0; i < type->own_count; i++)
		fields[i] = (struct event_field_spec){ .name = type->fields[i].name,
						       .value = type->fields[i].value,
						       .bytes = type->fields[i].bytes };
	return sensor_hook_key(&spec);
}

static int on_process(void *context, const struct sensor_notice *notice)
{
	struct calling *calling = context;

	calling->pid = notice->process->pid;
	sensor_mapping_free(notice->area);
	return 0;
}

static int on_type(void *context, const struct sensor_notice *notice)
{
	struct calling *calling = context;

	for (size_t i = 0; i < calling->wants.count; i++) {
		struct stream_want *want = &calling->wants.items[i];

		if (strcmp(want->name, notice->type->name) != 0)
			continue;
		if (sensor_key(notice->text) == calling_key(want->type))
			want->announced++;
		else
			diag_add(calling->diag, ASTERISM_WARNING, NULL,
				 "use that program's own declaration: EVENTS \"kernel-sensor:/path/of/program\"",
				 "process %u raises %s with other fields: rules do not see these events", calling->pid,
				 want->name);
	}
	return 0;
}

static int on_left_out(void *context, const struct sensor_notice *notice)
{
	struct calling *calling = context;

	diag_add(calling->diag, ASTERISM_WARNING, NULL, NULL,
		 "process %u (%s) raises no events for rules in the kernel: the sensor registry refused it: %s",
		 notice->process->pid, notice->process->comm, notice->text);
	return 0;
}

static void calling_on_ended(void *context, uint64_t number)
{
	(void)context;
	(void)number;
}

int calling_new(const struct session_rules *rules, struct asterism_diag *diag, struct calling **made)
{
	struct calling *calling = alloc_zero(1, sizeof *calling);
	int result;

	*made = NULL;
	if (!calling || find_calling_wants(calling, rules)) {
		calling_free(calling);
		return diag_no_memory(diag);
	}
	calling->diag = diag;
	const struct follow_options options = {
		.wants = &calling->wants,
		.flags = SENSOR_FOLLOW | SENSOR_KERNEL,
		.on_process = on_process,
		.on_type = on_type,
		.on_ended = calling_on_ended,
		.on_left_out = on_left_out,
		.context = calling,
		.diag = diag,
	};

	result = calling->wants.count ? follow_new(&options, diag, &calling->follow) : 0;
	if (result || !calling->follow)
		calling_free(calling);
	else
		*made = calling;
	return result;
}

void calling_free(struct calling *calling)
{
	if (!calling)
		return;
	follow_free(calling->follow);
	alloc_free(calling->wants.items);
	alloc_free(calling);
}

int calling_fd(const struct calling *calling)
{
	return calling ? follow_fd(calling->follow) : -1;
}

int calling_poll(struct calling *calling, uint64_t *wait_ns)
{
	if (!calling)
		return 0;
	if (*wait_ns > LOOK_NS)
		*wait_ns = LOOK_NS;
	return follow_serve(calling->follow);
}
