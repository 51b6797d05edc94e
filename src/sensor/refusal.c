// SPDX-License-Identifier: BSD-2-Clause
/* Decides how who gets nothing hears of it: by a sentence, before the socket is closed. */

#include "sensor/directory-priv.h"

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
