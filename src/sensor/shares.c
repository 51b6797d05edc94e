// SPDX-License-Identifier: BSD-2-Clause
/*
 * Picks who gives way where all that there is is taken: the user who has most, if he has more than the other would then
 * have, with what he got last. So nobody can shut others out, with however many users; and who is sent away does not
 * come back in the other's place. Root never gives way.
 */

#include "sensor/directory-priv.h"

#include <errno.h>

static uint64_t weight(const struct sensor_client *client, enum sensor_share share)
{
	if (client->fd < 0)
		return 0;
	switch (share) {
	case SENSOR_SHARE_CLIENTS:
		return 1;
	case SENSOR_SHARE_OBSERVERS:
		return client->progress != NULL;
	case SENSOR_SHARE_PROCESSES:
		return client->process != NULL;
	default:
		return client->process ? client->process->bytes : 0;
	}
}

static uint64_t share_of(const struct sensor_directory *directory, enum sensor_share share, uint32_t uid)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < SENSOR_CLIENTS_MAX; i++) {
		if (directory->clients[i].uid == uid)
			sum += weight(&directory->clients[i], share);
	}
	return sum;
}

/* The user but root who has most, and how much: its newest. */
static struct sensor_client *greediest(struct sensor_directory *directory, enum sensor_share share, uint64_t *most)
{
	struct sensor_client *found = NULL;

	*most = 0;
	for (size_t i = 0; i < SENSOR_CLIENTS_MAX; i++) {
		struct sensor_client *client = &directory->clients[i];

		if (!client->uid || !weight(client, share))
			continue;
		if (found && found->uid == client->uid) {
			found = client->number > found->number ? client : found;
			continue;
		}
		uint64_t sum = share_of(directory, share, client->uid);

		if (sum > *most) {
			*most = sum;
			found = client;
		}
	}
	return found;
}

static const char most_has_to_go[] = "dropped to make room: this user had the largest share";

bool sensor_share_make_room(struct sensor_directory *directory, enum sensor_share share, uint32_t uid, uint64_t need)
{
	uint64_t most;
	struct sensor_client *client = greediest(directory, share, &most);

	if (!client || (uid && most - weight(client, share) < share_of(directory, share, uid) + need))
		return false;
	directory->stats.displaced++;
	if (client->process)
		sensor_left_out_note(directory, client, most_has_to_go);
	sensor_tell_refusal(client, -EDQUOT, most_has_to_go);
	directory->send_away(directory, client);
	return true;
}
