// SPDX-License-Identifier: BSD-2-Clause
/* Adds the fields to types that say more about the task that raises an event. */

#include "event/about.h"

#include "base/container.h"
#include "event/catalog-priv.h"
#include "event/sockaddr-priv.h"
#include "meaning/meaning.h"

#include <errno.h>
#include <string.h>

const struct event_about event_abouts[EVENT_ABOUT_FIELDS] = {
	{ "ppid", EVENT_U32, 0, "pid", "current->real_parent->tgid", "parent of its process" },
	{ "uid", EVENT_U32, 0, "uid", "current->cred->uid.val", "real user of that thread" },
	{ "gid", EVENT_U32, 0, "gid", "current->cred->gid.val", "real group of that thread" },
	{ "exe", EVENT_STRING, EVENT_STRING_BYTES, NULL, "file_path(current->mm->exe_file->f_path)",
	  "file of the program that its process runs" },
	{ "args", EVENT_STRING, EVENT_STRING_BYTES, NULL, "user_args(current->mm)",
	  "arguments of that program, name first, separated by blanks" },
	{ "cgroup", EVENT_STRING, EVENT_STRING_BYTES, NULL, "cgroup_path(current->cgroups->dfl_cgrp->kn)",
	  "path of its cgroup (version 2)" },
	{ "container", EVENT_STRING, CONTAINER_TEXT_BYTES, NULL, "container_name(current->cgroups->dfl_cgrp->kn)",
	  "container that its cgroup belongs to, as the cgroup's path says (version 2)" },
	{ "cgroup_id", EVENT_U64, 0, NULL, "current->cgroups->dfl_cgrp->kn->id",
	  "number of its cgroup (version 2): the inode of the cgroup's directory" },
	{ "ns_pid", EVENT_U32, 0, NULL,
	  "cast(upid, current->group_leader->thread_pid->numbers + (current->group_leader->thread_pid->level * "
	  "16))->nr",
	  "number of that process in its own pid namespace" },
};

const struct event_about *event_about_find(const char *name)
{
	for (size_t i = 0; i < EVENT_ABOUT_FIELDS; i++) {
		if (strcmp(event_abouts[i].name, name) == 0)
			return &event_abouts[i];
	}
	return NULL;
}

/* The catalog's own type, which may be changed. */
static struct event_type *own_type(struct event_catalog *catalog, const struct event_type *type)
{
	for (size_t i = 0; i < catalog->type_count; i++) {
		if (catalog->types[i] == type)
			return catalog->types[i];
	}
	return NULL;
}

/* A copy of the hooks whose lists of paths have room for more. */
static struct event_hook *with_room(struct event_catalog *catalog, const struct event_type *type, uint32_t room)
{
	struct event_hook *hooks = arena_zero(catalog->arena, type->hook_count, sizeof *hooks);

	for (uint32_t i = 0; hooks && i < type->hook_count; i++) {
		const char **paths = arena_zero(catalog->arena, room, sizeof *paths);

		if (!paths)
			return NULL;
		if (type->field_count)
			memcpy(paths, type->hooks[i].paths, type->field_count * sizeof *paths);
		hooks[i] = type->hooks[i];
		hooks[i].paths = paths;
	}
	return hooks;
}

int event_about_reserve(struct event_catalog *catalog, const struct event_type *type)
{
	struct event_type *own = own_type(catalog, type);
	uint32_t room = 3 * type->field_count + EVENT_ABOUT_FIELDS + EVENT_SOCKADDR_FIELDS;

	if (!own || own->gains || !own->hook_count)
		return 0;
	struct event_field *fields = arena_zero(catalog->arena, room, sizeof *fields);
	struct event_hook *hooks = with_room(catalog, own, room);

	if (!fields || !hooks)
		return -ENOMEM;
	if (own->field_count)
		memcpy(fields, own->fields, own->field_count * sizeof *fields);
	own->fields = fields;
	own->hooks = hooks;
	own->gains = true;
	return 0;
}

/* What a descriptor can be asked for, FIELD_ending: what it gives of the struct file at an address. */
static const struct ending {
	const char *ending;
	struct event_about row;
	const char *before, *behind; /* of the address */
} endings[] = {
	{ "_path",
	  { .value = EVENT_STRING, .bytes = EVENT_STRING_BYTES, .doc = "file of the descriptor" },
	  "file_path(cast(file, ",
	  ")->f_path)" },
	{ "_peer",
	  { .value = EVENT_STRING, .bytes = EVENT_STRING_BYTES, .doc = "other end of the socket" },
	  "socket_peer(",
	  ")" },
};

/* The one that name ends in, if what stands before is a descriptor of type's own, which goes to of; or NULL. */
static const struct ending *ending_of(const struct event_type *type, const char *name, uint32_t *of)
{
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		size_t ending = strlen(endings[i].ending), length = strlen(name);

		if (length <= ending || strcmp(name + length - ending, endings[i].ending) != 0)
			continue;
		for (*of = 0; *of < type->own_count; ++*of) {
			const struct event_field *field = &type->fields[*of];

			if (field->meaning && field->meaning->form == MEANING_DESCRIPTOR &&
			    strlen(field->name) == length - ending && strncmp(field->name, name, length - ending) == 0)
				return &endings[i];
		}
	}
	return NULL;
}

/* The row that says what name is for events of type; NULL: nothing that could be asked for. */
static const struct event_about *about_row(const struct event_type *type, const char *name)
{
	const struct event_about *row = event_about_find(name);
	const struct ending *ending;
	uint32_t of;

	if (!row)
		row = event_sockaddr_find(type->name, name);
	ending = row ? NULL : ending_of(type, name, &of);
	return ending ? &ending->row : row;
}

bool event_about_may_ask(const struct event_type *type, const char *name)
{
	return type->hook_count && about_row(type, name);
}

/* How a hook of type gets the field; NULL: no memory. */
static const char *hook_path(struct event_catalog *catalog, const struct event_type *type,
			     const struct event_hook *hook, const char *name)
{
	const struct event_about *row = about_row(type, name);
	uint32_t of = 0;

	if (row->path)
		return row->path;
	const struct ending *ending = ending_of(type, name, &of);
	const char *number = hook->paths[of];

	/* The kernel takes a descriptor's lower half, whatever is above it; no table has a negative one. */
	return arena_format(catalog->arena,
			    "%s(((%s) & 4294967295) < current->files->fdt->max_fds) * "
			    "kernel_word(current->files->fdt->fd + (((%s) & 4294967295) * 8))%s",
			    ending->before, number, number, ending->behind);
}

/* Where a reserved type keeps them, fields and paths are the catalog's own and were made to be written. */
static int append_about(struct event_catalog *catalog, struct event_type *type, const char *name, uint32_t bytes)
{
	const struct event_about *row = about_row(type, name);
	const char *copy = arena_text(catalog->arena, name, strlen(name));

	if (!copy)
		return -ENOMEM;
	for (uint32_t i = 0; i < type->hook_count; i++) {
		const char *path = hook_path(catalog, type, &type->hooks[i], name);

		if (!path)
			return -ENOMEM;
		((const char **)type->hooks[i].paths)[type->field_count] = path;
	}
	*(struct event_field *)&type->fields[type->field_count++] = (struct event_field){
		.name = copy,
		.value = row->value,
		.offset = type->record_bytes,
		.bytes = bytes,
		.doc = row->doc,
		.meaning = row->meaning ? meaning_find(row->meaning) : event_value_meaning(row->value),
	};
	type->record_bytes += bytes;
	return 0;
}

int event_about_ask(struct event_catalog *catalog, const struct event_type *type, const char *name,
		    const struct event_field **field)
{
	const struct event_about *row = about_row(type, name);
	struct event_type *own = own_type(catalog, type);

	*field = event_field_find(type, name);
	if (*field)
		return 0;
	if (!row || !own)
		return -ENOENT;
	if (!own->hook_count)
		return -EOPNOTSUPP;
	uint32_t bytes = row->value == EVENT_STRING ? row->bytes : 8;

	if (own->field_count == EVENT_FIELDS_MAX || own->record_bytes + bytes > EVENT_RECORD_BYTES_MAX)
		return -E2BIG;
	if (event_about_reserve(catalog, type) || append_about(catalog, own, name, bytes))
		return -ENOMEM;
	*field = &own->fields[own->field_count - 1];
	return 0;
}

bool event_about_extends(const struct event_type *type, uint32_t count, uint32_t record_bytes)
{
	if (count < type->own_count || count > type->field_count)
		return false;
	return record_bytes == (count == type->field_count ? type->record_bytes : type->fields[count].offset);
}
