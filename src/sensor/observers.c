// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tells observers what they ask for, and keeps the gates that they hold open. Nothing is queued: what it has been told
 * of each process stands in its table, and what is missing is sent whenever its socket takes it.
 */

#include "sensor/directory-priv.h"

#include "base/alloc.h"
#include "sensor/pattern.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Whether the pattern means type index of the process; UINT32_MAX: the process alone. */
static bool means(const struct sensor_pattern *pattern, const struct sensor_known_process *process, uint32_t index)
{
	if (!sensor_pattern_means_program(pattern->text, process->told.comm, process->told.path))
		return false;
	if (index == UINT32_MAX)
		return sensor_pattern_means_name(pattern->text, "");
	return sensor_pattern_means_name(pattern->text,
					 process->types[index].is_taken ? process->types[index].name : "");
}

/* Whether a type is meant by a pattern that has this flag. */
static bool is_type_meant(const struct sensor_client *client, const struct sensor_known_process *process, uint32_t type,
			  uint32_t flag)
{
	for (uint32_t i = 0; i < client->pattern_count; i++) {
		if ((client->patterns[i].flags & flag) == flag && means(&client->patterns[i], process, type))
			return true;
	}
	return false;
}

/* What of a type's gate the client holds open, as flags. */
static uint32_t held(const struct sensor_client *client, const struct sensor_known_process *process, uint32_t type)
{
	uint32_t flags = 0;

	if (is_type_meant(client, process, type, SENSOR_OPEN))
		flags |= SENSOR_OPEN;
	if (is_type_meant(client, process, type, SENSOR_KERNEL))
		flags |= SENSOR_KERNEL;
	return flags;
}

/* The client holds open what flags say, or no more. */
static void hold_known_type(const struct sensor_directory *directory, struct sensor_known_process *process,
			    uint32_t type, uint32_t flags, bool is_open)
{
	struct sensor_known_type *known = &process->types[type];
	uint32_t one = is_open ? 1 : UINT32_MAX;

	if (!flags || !known->is_taken)
		return;
	if (flags & SENSOR_OPEN)
		known->readers += one;
	if (flags & SENSOR_KERNEL)
		known->kernels += one;
	sensor_gate_set(directory, process, type);
}

static bool wants_process(const struct sensor_client *client, const struct sensor_known_process *process)
{
	uint32_t flag = process->state == SENSOR_HAS_ENDED ? SENSOR_ENDED_TOO : 0;
	bool is_meant_itself = is_type_meant(client, process, UINT32_MAX, flag);

	if (!client->sees_all && client->uid != process->told.uid)
		return false;
	for (uint32_t i = 0; !is_meant_itself && i < process->type_count; i++)
		is_meant_itself = is_type_meant(client, process, i, flag);
	return is_meant_itself;
}

static int tell_clock(struct sensor_directory *directory, struct sensor_client *client)
{
	struct sensor_clock_message clock = { .head = { SENSOR_CLOCK, SENSOR_PROTOCOL_VERSION },
					      .clock = directory->clock->clock };
	struct sensor_sending sending = {
		.message = &clock, .bytes = sizeof clock, .fds = { directory->clock_fd }, .fd_count = 1
	};
	int result = client->has_clock ? 0 : sensor_packet_send(client->fd, &sending);

	client->has_clock |= !result;
	return result;
}

static int tell_process(struct sensor_client *client, const struct sensor_known_process *process)
{
	struct sensor_process told = process->told;
	struct sensor_sending sending = { .message = &told, .bytes = sizeof told, .fds = { process->area_fd } };

	for (uint32_t i = 0; i < process->type_count; i++)
		told.types += process->types[i].is_taken;
	sending.fd_count = client->wants_fds;
	return sensor_packet_send(client->fd, &sending);
}

static int tell_type(struct sensor_directory *directory, struct sensor_client *client,
		     struct sensor_known_process *process, uint32_t index)
{
	struct sensor_known_type *known = &process->types[index];
	uint32_t opens = held(client, process, index);
	struct sensor_type type = { .head = { SENSOR_TYPE, SENSOR_PROTOCOL_VERSION },
				    .number = process->told.number,
				    .id = index + 1,
				    .units = known->units,
				    .readers = known->readers + known->kernels + (opens != 0),
				    .is_absent = known->is_absent,
				    .gate = process->gates ? process->gates[index + 1] : 0 };
	struct sensor_sending sending = { .message = &type, .bytes = sizeof type, .text = known->text };
	int result;

	if (!known->is_taken)
		return 0;
	memcpy(type.name, known->name, sizeof type.name);
	sending.text_bytes = strlen(known->text) + 1;
	result = sensor_packet_send(client->fd, &sending);
	if (!result)
		hold_known_type(directory, process, index, opens, true);
	return result;
}

static int tell_of(struct sensor_directory *directory, struct sensor_client *client,
		   struct sensor_known_process *process)
{
	struct sensor_progress *progress = &client->progress[process - directory->processes];
	struct sensor_ended ended = { .head = { SENSOR_ENDED, SENSOR_PROTOCOL_VERSION },
				      .number = process->told.number };
	struct sensor_sending sending = { .message = &ended, .bytes = sizeof ended };
	int result = 0;

	if (!progress->is_told) {
		if (!wants_process(client, process))
			return 0;
		result = tell_process(client, process);
		if (result)
			return result;
		progress->is_told = true;
		progress->is_ended = process->state == SENSOR_HAS_ENDED;
	}
	for (; !result && progress->types < process->type_count; progress->types += !result)
		result = tell_type(directory, client, process, progress->types);
	if (!result && process->state == SENSOR_HAS_ENDED && !progress->is_ended) {
		result = sensor_packet_send(client->fd, &sending);
		progress->is_ended = !result;
	}
	return result;
}

/* Who is refused has no types that a pattern could mean: that it is not read concerns all who may see it. */
static int tell_left_out(const struct sensor_directory *directory, struct sensor_client *client)
{
	uint64_t last = directory->last_left_out, number = client->left_out_told;
	int result = 0;

	if (last - number > SENSOR_LEFT_OUT_MAX)
		number = last - SENSOR_LEFT_OUT_MAX;
	for (; number < last && !result; number += !result) {
		const struct sensor_left_out *left = &directory->left_out[(number + 1) % SENSOR_LEFT_OUT_MAX];
		const struct sensor_sending sending = { .message = &left->told,
							.bytes = sizeof left->told,
							.text = left->why,
							.text_bytes = left->why ? strlen(left->why) + 1 : 0 };

		if (left->told.number == number + 1 && (client->sees_all || client->uid == left->told.uid))
			result = sensor_packet_send(client->fd, &sending);
	}
	client->left_out_told = number;
	return result;
}

/* What was asked without a wish to follow is answered. */
static void drop_answered(struct sensor_client *client)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < client->pattern_count; i++) {
		if (client->patterns[i].flags & SENSOR_FOLLOW)
			client->patterns[kept++] = client->patterns[i];
	}
	client->pattern_count = kept;
}

static int tell_observer(struct sensor_directory *directory, struct sensor_client *client)
{
	struct sensor_ended end = { .head = { SENSOR_END, SENSOR_PROTOCOL_VERSION } };
	struct sensor_sending sending = { .message = &end, .bytes = sizeof end };
	int result = 0;

	if (!client->pattern_count && !client->ends_owed)
		return 0;
	result = tell_clock(directory, client);
	for (size_t i = 0; i < SENSOR_PROCESSES_MAX && !result; i++) {
		enum sensor_process_state state = directory->processes[i].state;

		if (state == SENSOR_IS_READY || state == SENSOR_HAS_ENDED)
			result = tell_of(directory, client, &directory->processes[i]);
	}
	if (!result)
		result = tell_left_out(directory, client);
	while (!result && client->ends_owed) {
		result = sensor_packet_send(client->fd, &sending);
		client->ends_owed -= !result;
		if (!result)
			drop_answered(client);
	}
	return result;
}

/* From here on the pattern holds for types that were told before, too. */
static void open_told(struct sensor_directory *directory, struct sensor_client *client)
{
	for (size_t i = 0; i < SENSOR_PROCESSES_MAX; i++) {
		struct sensor_known_process *process = &directory->processes[i];

		for (uint32_t j = 0; j < client->progress[i].types; j++) {
			uint32_t now = held(client, process, j), before;

			client->pattern_count--;
			before = held(client, process, j);
			client->pattern_count++;
			hold_known_type(directory, process, j, now & ~before, true);
		}
	}
}

static bool has_observer_room(const struct sensor_directory *directory, uint32_t uid)
{
	uint32_t own = 0;

	if (uid == 0)
		return directory->stats.observers < SENSOR_OBSERVERS_MAX;
	for (size_t i = 0; i < SENSOR_CLIENTS_MAX; i++)
		own += directory->clients[i].fd >= 0 && directory->clients[i].progress &&
		       directory->clients[i].uid == uid;
	return own < SENSOR_USER_OBSERVERS_MAX &&
	       directory->stats.observers < SENSOR_OBSERVERS_MAX - SENSOR_ROOT_CLIENTS;
}

static int become_observer(struct sensor_directory *directory, struct sensor_client *client)
{
	if (client->progress)
		return 0;
	if (client->process)
		return -EBADMSG;
	if (!has_observer_room(directory, client->uid) &&
	    !(sensor_share_make_room(directory, SENSOR_SHARE_OBSERVERS, client->uid, 1) &&
	      has_observer_room(directory, client->uid)))
		return sensor_refuse(directory, client, -EDQUOT,
				     "this user has reached its limit of sensor readers, or all readers are in use");
	sensor_left_out_forget_gone(directory);
	client->progress = alloc_zero(SENSOR_PROCESSES_MAX, sizeof *client->progress);
	client->patterns = alloc_zero(SENSOR_PATTERNS_MAX, sizeof *client->patterns);
	if (client->progress)
		directory->stats.observers++;
	return client->progress && client->patterns ? 0 : -ENOMEM;
}

int sensor_observer_handle(struct sensor_directory *directory, struct sensor_client *client)
{
	const struct sensor_packet *packet = &directory->packet;
	const char *text = sensor_packet_text(packet, sizeof packet->is.observe);
	struct sensor_pattern *pattern;
	int result;

	if (packet->is.head.kind != SENSOR_OBSERVE || !text || strlen(text) >= SENSOR_PATTERN_BYTES || packet->fd_count)
		return -EBADMSG;
	result = become_observer(directory, client);
	if (result)
		return result;
	if (client->pattern_count == SENSOR_PATTERNS_MAX || client->ends_owed == SENSOR_PATTERNS_MAX)
		return -EBADMSG;
	pattern = &client->patterns[client->pattern_count++];
	strcpy(pattern->text, text);
	pattern->flags = packet->is.observe.flags;
	if (pattern->flags & (SENSOR_OPEN | SENSOR_KERNEL))
		pattern->flags |= SENSOR_FOLLOW;
	client->wants_fds |= (pattern->flags & SENSOR_AREAS) != 0;
	client->ends_owed++;
	open_told(directory, client);
	return 0;
}

void sensor_client_close(struct sensor_directory *directory, struct sensor_client *client)
{
	for (size_t i = 0; client->progress && i < SENSOR_PROCESSES_MAX; i++) {
		struct sensor_known_process *process = &directory->processes[i];

		for (uint32_t j = 0; j < client->progress[i].types; j++)
			hold_known_type(directory, process, j, held(client, process, j), false);
	}
	directory->stats.observers -= client->progress != NULL;
	alloc_free(client->progress);
	alloc_free(client->patterns);
	close(client->fd);
	*client = (struct sensor_client){ .fd = -1 };
}

void sensor_observer_forget(struct sensor_client *client, size_t process)
{
	if (client->progress)
		client->progress[process] = (struct sensor_progress){ 0 };
}

/* Whether it shall be told when its socket takes more. */
static void set_blocked(struct sensor_directory *directory, struct sensor_client *client, bool is_blocked)
{
	if (client->is_blocked == is_blocked)
		return;
	client->is_blocked = is_blocked;
	client->idle_s = 0;
	sensor_wait_set(directory, client->fd, SENSOR_TAG_CLIENT + (uint64_t)(client - directory->clients), is_blocked);
}

void sensor_observers_tell(struct sensor_directory *directory)
{
	for (size_t i = 0; i < SENSOR_CLIENTS_MAX; i++) {
		struct sensor_client *client = &directory->clients[i];
		int result;

		if (client->fd < 0 || !client->progress || !client->patterns)
			continue;
		result = tell_observer(directory, client);
		if (result && result != -EAGAIN)
			sensor_client_close(directory, client);
		else
			set_blocked(directory, client, result == -EAGAIN);
	}
}
