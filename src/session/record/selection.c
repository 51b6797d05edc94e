// SPDX-License-Identifier: BSD-2-Clause
/* Selects events to record by the user's words. */

#include "session/record/selection.h"

#include "base/alloc.h"
#include "ebpf/kernel/btf-kernel.h"
#include "ebpf/source/plan.h"
#include "event/about.h"
#include "event/installed.h"
#include "sensor/catalog.h"
#include "sensor/protocol.h"
#include "session/load/rules.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

/*
 * What most rules of the library look for, as far as it is not dear: all calls raw, from which the rest of them follows
 * in a replay, and of those that happen seldom what does not follow: strings, and what a call has left in memory or in
 * the kernel.
 */
#define USUAL                                                                                                       \
	"sched_process_fork,sched_process_exec,sched_process_exit,process_exit,command_missing,task_rename,"        \
	"process_state,thread_state,"                                                                               \
	"sched_switch,sched_leave,sched_waking,sched_wakeup,sched_wakeup_new,"                                      \
	"sys_enter,sys_exit,sys_enter_open,sys_enter_openat,sys_enter_openat2,sys_enter_creat,sys_enter_rename,"    \
	"sys_enter_renameat2,file_opened,"                                                                          \
	"descriptor_made,descriptor_refused,descriptor_state,root_left,chroot_begun,chroot_done,program_connected," \
	"program_half_connected,program_piped,connection_piped,"                                                    \
	"file_reached,file_run,script_begun,run_from_temporary,program_changed,cred_change,"                        \
	"cred_change_end,cred_exec,"                                                                                \
	"inet_sock_set_state,page_fault_user,signal_generate,signal_deliver"

const char selection_default[] = USUAL;

const char selection_report[] =
	USUAL ",irq_handler_entry,irq_handler_exit,softirq_entry,softirq_exit,sched_pi_setprio,"
	      "block_rq_issue,block_rq_complete,page_fault_kernel,local_timer_entry,local_timer_exit,"
	      "process_arguments,thread_made,call_state";

const char selection_lttng[] = "sched_process_fork,sched_process_exec,sched_process_exit,sched_process_free,"
			       "sched_switch,sched_waking,sched_wakeup,sched_wakeup_new,sys_enter,sys_exit,"
			       "irq_handler_entry,irq_handler_exit,softirq_entry,softirq_exit,softirq_raise";

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* A piece of the text. */
struct piece {
	const char *start;
	size_t length;
};

static struct piece piece_until(const char **at, const char *ends)
{
	struct piece piece = { *at, strcspn(*at, ends) };

	*at += piece.length;
	return piece;
}

void selection_fini(struct selection *selection)
{
	for (size_t i = 0; i < selection->count; i++)
		alloc_free(selection->events[i].recorded);
	for (size_t i = 0; i < selection->sensor_count; i++)
		alloc_free(selection->sensors[i]);
	alloc_free(selection->events);
	alloc_free(selection->sensors);
	*selection = (struct selection){ 0 };
}

/* The event of type, added if it is not there yet; NULL: no memory. */
static struct selected_event *event_of(struct selection *selection, const struct event_type *type)
{
	struct selected_event *event;

	for (size_t i = 0; i < selection->count; i++)
		if (selection->events[i].type == type)
			return &selection->events[i];
	if (alloc_grow(&selection->events, &selection->capacity, selection->count, sizeof *selection->events))
		return NULL;
	event = &selection->events[selection->count];
	*event = (struct selected_event){ type, alloc_zero(EVENT_FIELDS_MAX, sizeof *event->recorded) };
	if (!event->recorded)
		return NULL;
	selection->count++;
	return event;
}

/* "did you mean NEAREST?", in hint, or NULL. */
static const char *hint_at(const char *nearest, char *hint, size_t size)
{
	if (!nearest)
		return NULL;
	snprintf(hint, size, "did you mean %s?", nearest);
	return hint;
}

static int unknown_field(const struct event_type *type, const char *name, struct asterism_diag *diag)
{
	const char *names[EVENT_FIELDS_MAX], *nearest, *absent = event_absent_find(type, name);
	char hint[160];

	if (absent) {
		diag_add(diag, ASTERISM_ERROR, NULL, absent, "%s of %s has no counterpart on Linux", name, type->name);
		return -EINVAL;
	}
	for (uint32_t i = 0; i < type->field_count; i++)
		names[i] = type->fields[i].name;
	nearest = diag_nearest(name, names, type->field_count);
	diag_add(diag, ASTERISM_ERROR, NULL, hint_at(nearest, hint, sizeof hint), "%s has no field %s", type->name,
		 name);
	return -EINVAL;
}

static int bad_form(struct asterism_diag *diag)
{
	return diag_error(diag, NULL, -EINVAL,
			  "write events as EVENT, EVENT:FIELD+FIELD or !EVENT, separated by commas");
}

static int add_field(struct selected_event *event, struct event_catalog *catalog, struct piece piece,
		     struct asterism_diag *diag)
{
	const struct event_field *field;
	char name[64];

	if (piece.length == 0)
		return bad_form(diag);
	if (piece.length >= sizeof name)
		piece.length = sizeof name - 1;
	memcpy(name, piece.start, piece.length);
	name[piece.length] = 0;
	if (event_about_ask(catalog, event->type, name, &field) == -ENOMEM)
		return diag_no_memory(diag);
	if (!field || event_field_is_header(field))
		return unknown_field(event->type, name, diag);
	event->recorded[field - event->type->fields] = true;
	return 0;
}

/* What follows a colon. */
static int add_fields(struct selected_event *event, struct event_catalog *catalog, const char *at,
		      struct asterism_diag *diag)
{
	int result = 0;

	for (; !result; at++) {
		struct piece name = piece_until(&at, "+,");

		result = add_field(event, catalog, name, diag);
		if (*at != '+')
			break;
	}
	return result;
}

/* fields: what follows the colon; NULL: all. */
static int add_selected_type(struct selection *selection, struct event_catalog *catalog, const struct event_type *type,
			     const struct piece *fields, struct asterism_diag *diag)
{
	struct selected_event *event = event_of(selection, type);

	if (!event)
		return diag_no_memory(diag);
	if (fields)
		return add_fields(event, catalog, fields->start, diag);
	memset(event->recorded, true, type->field_count * sizeof *event->recorded);
	return 0;
}

/* Whether the kernel, as far as its own types tell (NULL: they do not), lacks everything that raises type. */
static bool is_lacking(const struct btf_kernel *btf, const struct event_type *type)
{
	bool lacking = btf != NULL;
	char reason[256];

	for (uint32_t i = 0; lacking && i < type->hook_count; i++)
		lacking = source_available(btf, type, i, reason, sizeof reason) == 0;
	return lacking;
}

/* Who names an event wants to hear that this kernel lacks it; who gives a pattern wants what there is. */
static int add_matching(struct selection *selection, struct event_catalog *catalog, const char *pattern,
			const struct piece *fields, struct asterism_diag *diag)
{
	struct btf_kernel *btf = NULL;
	const struct event_type *type;
	bool found = false, taken = false;
	int result = btf_kernel_open(NULL, &btf) == -ENOMEM ? diag_no_memory(diag) : 0;

	for (size_t i = 0; !result && (type = event_catalog_get(catalog, i)); i++) {
		if (!type->hook_count || type->called || fnmatch(pattern, type->name, 0) != 0)
			continue;
		found = true;
		if (is_lacking(btf, type))
			continue;
		taken = true;
		result = add_selected_type(selection, catalog, type, fields, diag);
	}
	btf_kernel_close(btf);
	if (!result && !taken)
		result = diag_error(diag, NULL, -EINVAL,
				    found ? "this kernel does not raise any of the events that match '%s'"
					  : "no event matches '%s'",
				    pattern);
	return result;
}

/* The type of that name, be it only in a shipped catalog that was not read. */
static const struct event_type *find_selected_type(struct event_catalog *catalog, const char *name)
{
	const struct event_type *type = event_catalog_find(catalog, name);

	for (const struct embedded_file *file = event_embedded; !type && file->name; file++) {
		const char *ending = strrchr(file->name, '.');

		if (ending && strcmp(ending, ".events") == 0 &&
		    event_catalog_read(catalog, NULL, file->name, NULL) == 0)
			type = event_catalog_find(catalog, name);
	}
	return type;
}

static int add_named(struct selection *selection, struct event_catalog *catalog, const char *name,
		     const struct piece *fields, struct asterism_diag *diag)
{
	const struct event_type *type = find_selected_type(catalog, name);
	char hint[160];

	if (!type) {
		diag_add(diag, ASTERISM_ERROR, NULL, hint_at(event_catalog_nearest(catalog, name), hint, sizeof hint),
			 "unknown event '%s'", name);
		return -EINVAL;
	}
	if (type->called) {
		snprintf(hint, sizeof hint, "it is a sensor: use -e sensor:%s", type->called);
		diag_add(diag, ASTERISM_ERROR, NULL, hint,
			 "%s is raised only while a rule in the kernel waits for it: a recording would be empty", name);
		return -EINVAL;
	}
	if (!type->hook_count)
		return diag_error(diag, NULL, -EINVAL, "the kernel does not raise %s", name);
	return add_selected_type(selection, catalog, type, fields, diag);
}

static int remove_matching(struct selection *selection, const char *pattern, struct asterism_diag *diag)
{
	size_t kept = 0;

	for (size_t i = 0; i < selection->count; i++) {
		if (fnmatch(pattern, selection->events[i].type->name, 0) == 0)
			alloc_free(selection->events[i].recorded);
		else
			selection->events[kept++] = selection->events[i];
	}
	if (kept == selection->count)
		return diag_error(diag, NULL, -EINVAL, "'!%s' excludes nothing that would be recorded", pattern);
	selection->count = kept;
	return 0;
}

static int add_sensor(struct selection *selection, const char *pattern, struct asterism_diag *diag)
{
	for (size_t i = 0; i < selection->sensor_count; i++)
		if (strcmp(selection->sensors[i], pattern) == 0)
			return 0;
	if (alloc_grow(&selection->sensors, &selection->sensor_capacity, selection->sensor_count, sizeof(char *)) ||
	    !(selection->sensors[selection->sensor_count] = alloc_text(pattern)))
		return diag_no_memory(diag);
	selection->sensor_count++;
	return 0;
}

/* What a program's file, or a catalog, declares. */
static int add_declared(struct selection *selection, const char *name, struct asterism_diag *diag)
{
	struct event_catalog *catalog = event_catalog_new();
	const struct event_type *type;
	bool has_any = false;
	int result;

	if (!catalog)
		return diag_no_memory(diag);
	sensor_catalog_supply(catalog);
	result = event_catalog_read(catalog, ".", name, diag);
	if (result == -ENOENT)
		diag_error(diag, NULL, result = -EINVAL, "there is no file '%s'", name + strlen(SENSOR_CATALOG_PREFIX));
	for (size_t i = 0; !result && (type = event_catalog_get(catalog, i)); i++) {
		result = type->sensor ? add_sensor(selection, type->sensor, diag) : 0;
		has_any |= type->sensor != NULL;
	}
	if (!result && !has_any) {
		result = diag_error(diag, NULL, -EINVAL, "'%s' declares no sensor",
				    name + strlen(SENSOR_CATALOG_PREFIX));
		diag_hint(diag, "sensor:NAME records what running programs declare under that name");
	}
	event_catalog_free(catalog);
	return result;
}

/* sensor:..., up to the next comma. */
static int add_sensors(struct selection *selection, const char **at, struct asterism_diag *diag)
{
	struct piece item = piece_until(at, ",");
	char text[SENSOR_PATH_BYTES + SENSOR_NAME_BYTES];
	const char *pattern = text + strlen(SENSOR_CATALOG_PREFIX), *name, *ending;

	if (item.length >= sizeof text)
		return bad_form(diag);
	memcpy(text, item.start, item.length);
	text[item.length] = 0;
	ending = strrchr(text, '.');
	if (strchr(pattern, '/') || (ending && strcmp(ending, ".events") == 0))
		return add_declared(selection, text, diag);
	name = strrchr(pattern, ':');
	name = name ? name + 1 : pattern;
	if (!*name || (strcmp(name, "*") != 0 && name[strspn(name, NAME_LETTERS)]))
		return diag_error(diag, NULL, -EINVAL,
				  "write sensors as sensor:NAME, sensor:PROGRAM:NAME ('*' as NAME means all), or "
				  "sensor:/path/of/program");
	return add_sensor(selection, pattern, diag);
}

static int add_item(struct selection *selection, struct event_catalog *catalog, const char **at,
		    struct asterism_diag *diag)
{
	bool removes = **at == SELECTION_EXCLUDES;
	struct piece item, fields;
	char name[128];

	if (strncmp(*at, SENSOR_CATALOG_PREFIX, strlen(SENSOR_CATALOG_PREFIX)) == 0)
		return add_sensors(selection, at, diag);
	*at += removes;
	item = piece_until(at, ",:");

	bool has_fields = **at == ':';

	if (has_fields) {
		++*at;
		fields = piece_until(at, ",");
	}
	if (item.length == 0 || item.length >= sizeof name || (has_fields && (fields.length == 0 || removes)))
		return bad_form(diag);
	memcpy(name, item.start, item.length);
	name[item.length] = 0;
	if (removes)
		return remove_matching(selection, name, diag);
	if (strpbrk(name, "*?["))
		return add_matching(selection, catalog, name, has_fields ? &fields : NULL, diag);
	return add_named(selection, catalog, name, has_fields ? &fields : NULL, diag);
}

bool selection_names_sensors(const char *text)
{
	for (const char *item = text; *item;) {
		item += *item == SELECTION_ADDS;
		if (strncmp(item, SENSOR_CATALOG_PREFIX, strlen(SENSOR_CATALOG_PREFIX)) == 0)
			return true;
		item += strcspn(item, ",");
		item += *item == ',';
	}
	return false;
}

int selection_add(struct selection *selection, struct event_catalog *catalog, const char *text,
		  struct asterism_diag *diag)
{
	int result = add_item(selection, catalog, &text, diag);

	while (!result && *text == ',') {
		text++;
		result = add_item(selection, catalog, &text, diag);
	}
	return result;
}

static int unknown_about(const char *name, struct asterism_diag *diag)
{
	const char *names[EVENT_ABOUT_FIELDS];
	char hint[160];

	for (size_t i = 0; i < EVENT_ABOUT_FIELDS; i++)
		names[i] = event_abouts[i].name;
	diag_add(diag, ASTERISM_ERROR, NULL, hint_at(diag_nearest(name, names, EVENT_ABOUT_FIELDS), hint, sizeof hint),
		 "--about takes names such as ppid, uid and ns_pid, not '%s'", name);
	return -EINVAL;
}

int selection_add_about(struct selection *selection, struct event_catalog *catalog, const char *text,
			struct asterism_diag *diag)
{
	int result = 0;

	while (!result && *text) {
		struct piece item = piece_until(&text, ",");
		char name[64];

		text += *text == ',';
		snprintf(name, sizeof name, "%.*s", (int)item.length, item.start);
		if (!event_about_find(name))
			return unknown_about(name, diag);
		for (size_t i = 0; i < selection->count && !result; i++)
			result = add_field(&selection->events[i], catalog, item, diag);
	}
	return result;
}

/* A user who asked for nothing in particular is not told what this kernel lacks. */
int selection_add_usual(struct selection *selection, struct event_catalog *catalog, const char *usual,
			struct asterism_diag *diag)
{
	struct btf_kernel *btf = NULL;
	int result = btf_kernel_open(NULL, &btf) == -ENOMEM ? diag_no_memory(diag) : 0;

	/* Where rules have declared something else under its names, theirs count. */
	if (!result && (event_catalog_read(catalog, NULL, "completed.events", NULL) == -ENOMEM ||
			event_catalog_read(catalog, NULL, "sockets.events", NULL) == -ENOMEM))
		result = diag_no_memory(diag);
	while (!result && *usual) {
		struct piece item = piece_until(&usual, ",");
		const struct event_type *type;
		char name[128];

		usual += *usual == ',';
		snprintf(name, sizeof name, "%.*s", (int)item.length, item.start);
		type = event_catalog_find(catalog, name);
		if (type && type->hook_count && !is_lacking(btf, type))
			result = add_selected_type(selection, catalog, type, NULL, diag);
	}
	btf_kernel_close(btf);
	return result;
}

int selection_add_program(struct selection *selection, struct event_catalog *catalog, const struct program *program,
			  struct asterism_diag *diag)
{
	bool taken = false;
	int result = 0;

	for (uint32_t i = 0; i < program->type_count && !result; i++) {
		const struct event_type *type =
			event_catalog_find(catalog, program_text(program, program->types[i].name));

		if (type && type->sensor) {
			taken = true;
			result = add_sensor(selection, type->sensor, diag);
		}
		if (!type || !type->hook_count)
			continue;
		taken = true;
		result = add_selected_type(selection, catalog, type, NULL, diag);
	}
	for (uint32_t i = 0; i < program->rule_count && !taken; i++) {
		int error = session_check_raised(program, catalog, i, diag);

		result = error ? error : result;
	}
	return result;
}
