// SPDX-License-Identifier: BSD-2-Clause
/* Finds the event type for an event class of a trace, and where its fields go. */

#include "trace/ctf/read-priv.h"

#include "event/about.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The metadata file while it is read. */
struct file {
	char path[4096];
	struct diag_source source;
	char *text;
};

static int fail_shape(struct file *file, struct asterism_diag *diag, int code, const char *text)
{
	return diag_error(diag, &(struct diag_location){ .source = &file->source }, code, "%s", text);
}

/* Opens PATH/metadata without waiting for anybody, should it be a pipe. */
static int open_metadata(const char *path, char *full, size_t room, struct stat *status)
{
	int length = snprintf(full, room, "%s/metadata", path), fd;

	if (length < 0 || (size_t)length >= room)
		return -ENAMETOOLONG;
	fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, status) || !S_ISREG(status->st_mode)) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}

static int read_whole_metadata(int fd, char *text, size_t length)
{
	size_t done = 0;

	while (done < length) {
		ssize_t got = pread(fd, text + done, length - done, (off_t)done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EIO;
		done += (size_t)got;
	}
	return 0;
}

bool trace_ctf_is_own(const char *path)
{
	char full[4096], start[sizeof CTF_METADATA_START] = { 0 };
	struct stat status;
	int fd = open_metadata(path, full, sizeof full, &status);
	bool is_own;

	if (fd < 0)
		return false;
	is_own = read_whole_metadata(fd, start, sizeof start - 1) == 0 && ctf_metadata_is_own(start, sizeof start - 1);
	close(fd);
	return is_own;
}

static int load_metadata(struct file *file, const char *path, struct asterism_diag *diag)
{
	struct stat status;
	int fd, result;

	file->source.file = file->path;
	fd = open_metadata(path, file->path, sizeof file->path, &status);
	if (fd < 0)
		return fail_shape(file, diag, fd, strerror(-fd));
	file->source.length = (size_t)status.st_size;
	if (status.st_size > CTF_METADATA_BYTES_MAX) {
		close(fd);
		return fail_shape(file, diag, -EINVAL, "metadata is longer than 16 MiB");
	}
	file->text = alloc_zero(file->source.length + 1, 1);
	file->source.text = file->text;
	result = file->text ? read_whole_metadata(fd, file->text, file->source.length) : -ENOMEM;
	close(fd);
	if (result == -ENOMEM)
		return diag_no_memory(diag);
	return result ? fail_shape(file, diag, result, "cannot read the metadata") : 0;
}

/* The type that the catalog in force has under this name; it is not to look elsewhere for one. */
static const struct event_type *known_type(const struct event_catalog *catalog, const char *name)
{
	const struct event_type *type;

	for (size_t i = 0; (type = event_catalog_get(catalog, i)); i++) {
		if (!strcmp(type->name, name))
			return type;
	}
	return NULL;
}

/* The type gains what was asked for when the trace was recorded. -ENOMEM. */
static int ask_as(struct event_catalog *catalog, const struct event_type *type, const struct ctf_event *event)
{
	const struct event_field *known;
	int result = 0;

	for (uint32_t i = 0; i < event->field_count && result != -ENOMEM; i++)
		result = event_about_ask(catalog, type, event->fields[i].name, &known);
	return result == -ENOMEM ? result : 0;
}

static const struct event_field *body_field(const struct event_type *type, const char *name, uint32_t *index)
{
	for (uint32_t i = 0; i < type->field_count; i++) {
		if (!strcmp(type->fields[i].name, name)) {
			*index = i;
			return &type->fields[i];
		}
	}
	return NULL;
}

static void add_ctf_number(struct event_packed *layout, enum event_value value, const struct event_field *field,
			   uint32_t index)
{
	uint32_t width = event_packed_width(value);

	if (field)
		layout->numbers[layout->number_count++] = (struct event_packed_number){
			.payload_offset = (uint16_t)layout->fixed_bytes,
			.record_offset = (uint16_t)field->offset,
			.width = (uint8_t)width,
			.value = (uint8_t)value,
			.field = (uint16_t)index,
		};
	layout->fixed_bytes += width;
}

/* Lays the recorded fields out in records of type. Returns the field that does not fit, or NULL. */
static const struct ctf_field *lay_out_fields(struct ctf_class *class, const struct ctf_event *event)
{
	struct event_packed *layout = &class->layout;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < event->field_count; i++) {
		const struct ctf_field *from = &event->fields[i];
		uint32_t index = 0;
		const struct event_field *field = body_field(class->type, from->name, &index);

		if (field && field->value != from->value)
			return from;
		kept += field != NULL;
		if (from->value != EVENT_STRING)
			add_ctf_number(layout, from->value, field, index);
		else
			layout->strings[layout->string_count++] = (struct event_packed_string){
				.record_offset = (uint16_t)(field ? field->offset : 0),
				.capacity = (uint16_t)(field ? field->bytes : 0),
				.field = (uint16_t)index,
			};
	}
	class->is_partial = kept < class->type->field_count;
	return NULL;
}

/* Returns as event_catalog_add. */
static int find_recorded_type(const struct ctf_event *event, struct event_catalog *catalog,
			      const struct event_type **type)
{
	if (event->sensor)
		return ctf_sensor_bind(event, catalog, type);
	*type = known_type(catalog, event->name);
	return *type ? ask_as(catalog, *type, event) : ctf_event_declare(event, catalog, type);
}

static int add_type_class(struct ctf_types *types, const struct ctf_event *event, struct event_catalog *catalog,
			  struct file *file, struct asterism_diag *diag)
{
	struct ctf_class *class = &types->all[types->count];
	const struct ctf_field *misfit;
	char text[400];
	int result = 0;

	*class = (struct ctf_class){ .number = UINT32_MAX, .is_wanted = true, .whole_bytes = INT64_MAX };
	result = find_recorded_type(event, catalog, &class->type);
	if (result == -EINVAL && event->sensor) {
		snprintf(text, sizeof text, "the description of sensor %s does not match its fields", event->name);
		return fail_shape(file, diag, -EINVAL, text);
	}
	if (result == -ENOMEM)
		return diag_no_memory(diag);
	if (result) {
		snprintf(text, sizeof text,
			 "event %s has two fields of the same name, or more fields than a record can hold",
			 event->name);
		return fail_shape(file, diag, -EINVAL, text);
	}
	misfit = lay_out_fields(class, event);
	if (misfit) {
		snprintf(text, sizeof text,
			 "%s.%s was recorded as %s, but the event type in force has another type for it", event->name,
			 misfit->name, event_value_name(misfit->value));
		return fail_shape(file, diag, -EINVAL, text);
	}
	if (!class->layout.string_count)
		class->whole_bytes = EVENT_PACKED_WORD_BYTES + (int64_t)event_packed_round(class->layout.fixed_bytes);
	types->classes[event->sensor ? CTF_CLASS_SENSORS : 0].items[event->id] = class;
	types->count++;
	return 0;
}

static int make_classes(struct ctf_types *types, const struct ctf_metadata *metadata)
{
	types->all = alloc_zero(metadata->event_count, sizeof *types->all);
	for (size_t i = 0; i < metadata->event_count; i++) {
		const struct ctf_event *event = &metadata->events[i];
		struct ctf_classes *classes = &types->classes[event->sensor ? CTF_CLASS_SENSORS : 0];

		if (event->id >= classes->count)
			classes->count = event->id + 1;
	}
	for (size_t i = 0; i < sizeof types->classes / sizeof *types->classes; i++) {
		struct ctf_classes *classes = &types->classes[i];

		classes->items = alloc_zero(classes->count, sizeof(struct ctf_class *));
		if (!classes->items)
			return -ENOMEM;
	}
	return types->all ? 0 : -ENOMEM;
}

static int add_classes(struct ctf_types *types, const struct ctf_metadata *metadata, struct event_catalog *catalog,
		       struct file *file, struct asterism_diag *diag)
{
	int result = 0;

	memcpy(types->uuid, metadata->uuid, sizeof types->uuid);
	types->machine.wall_ns = metadata->wall_ns;
	memcpy(types->machine.host, metadata->host, sizeof types->machine.host);
	if (make_classes(types, metadata))
		return diag_no_memory(diag);
	for (size_t i = 0; i < metadata->event_count && !result; i++)
		if (metadata->events[i].id != EVENT_PACKED_ID_LATE && metadata->events[i].id != EVENT_PACKED_ID_CONTEXT)
			result = add_type_class(types, &metadata->events[i], catalog, file, diag);
	return result;
}

int ctf_types_read(struct ctf_types *types, const char *path, struct event_catalog *catalog, struct asterism_diag *diag)
{
	struct arena *arena = arena_new();
	struct file file = { 0 };
	struct ctf_metadata metadata;
	int result = arena ? load_metadata(&file, path, diag) : diag_no_memory(diag);

	*types = (struct ctf_types){ 0 };
	if (!result)
		result = ctf_metadata_read(&file.source, arena, diag, &metadata);
	if (!result && *metadata.changed)
		diag_add(diag, ASTERISM_WARNING, NULL, "do not conclude from their absence that they did not happen",
			 "the choice of recorded events changed meanwhile: the trace does not have all events of these "
			 "types: %s",
			 metadata.changed);
	if (!result)
		result = add_classes(types, &metadata, catalog, &file, diag);
	alloc_free(file.text);
	arena_free(arena);
	return result;
}

void ctf_types_fini(struct ctf_types *types)
{
	alloc_free(types->classes[0].items);
	alloc_free(types->classes[CTF_CLASS_SENSORS].items);
	alloc_free(types->all);
	*types = (struct ctf_types){ 0 };
}
