// SPDX-License-Identifier: BSD-2-Clause
/* Serves applications: each registers once, maps its area, and describes its types. */

#include "sensor/directory-priv.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const struct sensor_shape shape_default = { SENSOR_SLOTS, SENSOR_SUB_UNITS, SENSOR_SUB_COUNT };

static struct sensor_shape shape_for(const struct sensor_directory *directory, const struct sensor_register *wish)
{
	struct sensor_shape shape = directory->options.shape.slots ? directory->options.shape : shape_default;

	if (wish->slots)
		shape.slots = wish->slots;
	if (wish->sub_units)
		shape.sub_units = wish->sub_units;
	if (wish->sub_count)
		shape.sub_count = wish->sub_count;
	return shape;
}

static int send_area(struct sensor_client *client, bool is_new)
{
	struct sensor_known_process *process = client->process;
	struct sensor_area_message answer = {
		.head = { SENSOR_AREA, SENSOR_PROTOCOL_VERSION },
		.slots = process->shape.slots,
		.sub_units = process->shape.sub_units,
		.sub_count = process->shape.sub_count,
		.clock = process->told.clock,
		.pid = process->told.pid,
		.number = process->told.number,
	};
	struct sensor_sending sending = { .message = &answer, .bytes = sizeof answer };

	if (is_new)
		sending.fds[sending.fd_count++] = process->area_fd;
	sending.fds[sending.fd_count++] = process->gates_fd;
	return sensor_packet_send(client->fd, &sending);
}

/* The memory of a process that registers: new, or what it had with a directory before us. */
static int provide(struct sensor_directory *directory, struct sensor_known_process *process)
{
	struct sensor_packet *packet = &directory->packet;
	bool is_new = packet->fd_count == 0;
	int result = sensor_memory_gates(process);

	process->types = result ? NULL : alloc_zero(SENSOR_TYPES_MAX, sizeof *process->types);
	if (!result && !process->types)
		result = -ENOMEM;
	if (!result && is_new) {
		process->told.made_ns = clock_now_ns();
		result = sensor_memory_area(directory, process);
	}
	if (!result && !is_new) {
		process->area_fd = packet->fds[0];
		packet->fds[0] = -1;
		result = sensor_memory_check(process);
	}
	return result;
}

/* An area that was handed over cannot be read before what may stand in it is known. */
static void settle_process(struct sensor_directory *directory, struct sensor_known_process *process)
{
	if (process->state != SENSOR_IS_MAPPING || process->type_count < process->types_before)
		return;
	process->state = SENSOR_IS_READY;
	directory->stats.registered++;
	sensor_left_out_forget(directory, process->told.pid);
}

/* An application whose wish is refused comes again without one, at once; else it is left out. */
static int refuse_wish(struct sensor_directory *directory, const struct sensor_client *client, int error,
		       const char *why)
{
	const struct sensor_register *wish = &directory->packet.is.registration;
	bool is_wish = !directory->packet.fd_count && (wish->slots || wish->sub_units || wish->sub_count);

	return is_wish ? sensor_refuse(directory, client, error, why) : sensor_leave_out(directory, client, error, why);
}

static int do_register(struct sensor_directory *directory, struct sensor_client *client)
{
	struct sensor_packet *packet = &directory->packet;
	struct sensor_shape shape = shape_for(directory, &packet->is.registration);
	bool is_new = packet->fd_count == 0;
	const char *why;

	if (packet->length != sizeof packet->is.registration || packet->fd_count > 1)
		return -EBADMSG;
	if (sensor_process_is_narrow(client->pid))
		return sensor_leave_out(directory, client, -EINVAL,
					"32-bit programs cannot have sensors: build it for 64 bits");
	if (!sensor_shape_is_valid(&shape))
		return refuse_wish(directory, client, -EINVAL, "invalid size or layout of the shared memory");
	client->process = sensor_process_new(directory, client, sensor_area_bytes(&shape), &why);
	if (!client->process)
		return refuse_wish(directory, client, -EDQUOT, why);
	client->process->client = client;
	client->process->shape = shape;
	client->process->told.slots = shape.slots;
	client->process->told.sub_units = shape.sub_units;
	client->process->told.sub_count = shape.sub_count;

	int result = provide(directory, client->process);

	if (result)
		return refuse_wish(directory, client, result,
				   result == -EBADMSG ? "the shared memory is not a sealed memfd of the announced size"
						      : "out of memory for the shared memory");
	result = send_area(client, is_new);
	client->process->types_before = is_new ? UINT32_MAX : packet->is.registration.types_before;
	settle_process(directory, client->process);
	return result;
}

static int do_mapped(struct sensor_directory *directory, struct sensor_client *client)
{
	struct sensor_known_process *process = client->process;
	int result;

	if (!process || process->state != SENSOR_IS_MAPPING || process->types_before != UINT32_MAX)
		return -EBADMSG;
	result = sensor_memory_seal(process);
	if (result)
		return result;
	process->types_before = 0;
	settle_process(directory, process);
	return 0;
}

/* Adds the types of the message. Returns their faults in answers. */
static int add_announced_types(struct sensor_directory *directory, struct sensor_known_process *process, char *faults)
{
	const struct sensor_packet *packet = &directory->packet;
	const struct sensor_types *types = &packet->is.types;
	const char *at = packet->is.bytes + sizeof *types, *end = packet->is.bytes + packet->length;

	if (types->first != process->type_count + 1 || !types->count || types->count > SENSOR_TYPES_A_TIME ||
	    process->type_count + types->count > SENSOR_TYPES_MAX)
		return -EBADMSG;
	for (uint32_t i = 0; i < types->count; i++) {
		const char *nul = memchr(at, 0, (size_t)(end - at));

		if (!nul)
			return -EBADMSG;
		faults[i] = (char)sensor_process_add(process, at);
		sensor_gate_set(directory, process, process->type_count - 1);
		at = nul + 1;
	}
	return at == end ? 0 : -EBADMSG;
}

static int do_types(struct sensor_directory *directory, struct sensor_client *client)
{
	struct sensor_taken taken = { .head = { SENSOR_TAKEN, SENSOR_PROTOCOL_VERSION } };
	char faults[SENSOR_TYPES_A_TIME];
	struct sensor_sending sending = { .message = &taken, .bytes = sizeof taken, .text = faults };
	int result;

	if (!client->process || directory->packet.length < sizeof directory->packet.is.types)
		return -EBADMSG;
	taken.first = directory->packet.is.types.first;
	taken.count = directory->packet.is.types.count;
	result = add_announced_types(directory, client->process, faults);
	if (result)
		return result;
	settle_process(directory, client->process);
	sensor_observers_tell(directory);
	if (client->fd < 0) /* nothing that is said to others ends it; but a place that runs out might */
		return 0;
	sending.text_bytes = taken.count;
	return sensor_packet_send(client->fd, &sending);
}

static int do_presence(struct sensor_directory *directory, struct sensor_client *client)
{
	const struct sensor_packet *packet = &directory->packet;
	const struct sensor_presence *presence = &packet->is.presence;

	if (!client->process || packet->length != sizeof *presence || !presence->id ||
	    presence->id > client->process->type_count)
		return -EBADMSG;
	sensor_process_mark(client->process, presence->id - 1, presence->is_absent);
	return 0;
}

/* A flight recorder of the application's own wish; it is its own memory that it fills. */
static int do_always(const struct sensor_directory *directory, const struct sensor_client *client)
{
	struct sensor_known_process *process = client->process;

	if (!process || directory->packet.length != sizeof directory->packet.is.head)
		return -EBADMSG;
	process->is_always = true;
	for (uint32_t i = 0; i < process->type_count; i++)
		sensor_gate_set(directory, process, i);
	return 0;
}

int sensor_application_handle(struct sensor_directory *directory, struct sensor_client *client)
{
	switch (directory->packet.is.head.kind) {
	case SENSOR_REGISTER:
		return client->process ? -EBADMSG : do_register(directory, client);
	case SENSOR_MAPPED:
		return do_mapped(directory, client);
	case SENSOR_TYPES:
		return do_types(directory, client);
	case SENSOR_PRESENCE:
		return do_presence(directory, client);
	case SENSOR_ALWAYS:
		return do_always(directory, client);
	default:
		return -EBADMSG;
	}
}
