// SPDX-License-Identifier: BSD-2-Clause
/*
 * Refuses applications and readers by a sentence, before the socket is closed. Readers hear of an application that is
 * not read. It comes again every second: that is not told again.
 */

#include "sensor/directory-priv.h"

#include "base/proc.h"

#include <string.h>

void sensor_tell_refusal(const struct sensor_client *client, int error, const char *why)
{
	struct sensor_refused refused = { .head = { SENSOR_REFUSED, SENSOR_PROTOCOL_VERSION }, .error = error };
	struct sensor_sending sending = {
		.message = &refused, .bytes = sizeof refused, .text = why, .text_bytes = strlen(why) + 1
	};

	sensor_packet_send(client->fd, &sending);
}

int sensor_refuse(struct sensor_directory *directory, const struct sensor_client *client, int error, const char *why)
{
	directory->stats.refused++;
	sensor_tell_refusal(client, error, why);
	return error;
}

static bool is_process_there(const struct sensor_process *told)
{
	uint64_t birth;

	return proc_birth((pid_t)told->pid, &birth) == 0 && birth == told->birth_ticks;
}

void sensor_left_out_note(struct sensor_directory *directory, const struct sensor_client *client, const char *why)
{
	struct sensor_left_out left = { .told = { .head = { SENSOR_LEFT_OUT, SENSOR_PROTOCOL_VERSION },
						  .pid = client->pid,
						  .uid = client->uid,
						  .gid = client->gid },
					.why = why };

	for (size_t i = 0; i < SENSOR_LEFT_OUT_MAX; i++) {
		const struct sensor_process *told = &directory->left_out[i].told;

		if (told->number && told->pid == client->pid && is_process_there(told))
			return;
	}
	sensor_process_describe(&left.told);
	left.told.number = ++directory->last_left_out;
	directory->left_out[left.told.number % SENSOR_LEFT_OUT_MAX] = left;
}

int sensor_leave_out(struct sensor_directory *directory, const struct sensor_client *client, int error, const char *why)
{
	sensor_left_out_note(directory, client, why);
	return sensor_refuse(directory, client, error, why);
}

void sensor_left_out_forget(struct sensor_directory *directory, uint32_t pid)
{
	for (size_t i = 0; i < SENSOR_LEFT_OUT_MAX; i++) {
		if (directory->left_out[i].told.pid == pid)
			directory->left_out[i].told.number = 0;
	}
}

void sensor_left_out_forget_gone(struct sensor_directory *directory)
{
	for (size_t i = 0; i < SENSOR_LEFT_OUT_MAX; i++) {
		struct sensor_process *told = &directory->left_out[i].told;

		if (told->number && !is_process_there(told))
			told->number = 0;
	}
}
