// SPDX-License-Identifier: BSD-2-Clause
/* Lets clients use the daemon's sensor registry: whoever may use the daemon sees all sensors. */

#include "daemon/sensors.h"

#include "daemon/log.h"
#include "sensor/directory.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Between two lines about those who were sent away. */
#define PAUSE_NS UINT64_C(10000000000)

int sensors_open(const struct options *options, struct sensor_directory **opened)
{
	const struct sensor_directory_options sensors = { .group = options->group,
							  .user_bytes_max = options->sensors_quota_bytes,
							  .always = options->always };
	struct asterism_diag *diag = asterism_diag_new();
	int result = sensor_directory_open(&sensors, diag, opened);
	const struct asterism_message *message;

	for (size_t i = 0; diag && (message = asterism_diag_get(diag, i)); i++)
		log_line(LOG_LEVEL_ERROR, "%s", message->text);
	asterism_diag_free(diag);
	if (!result)
		log_line(LOG_LEVEL_INFO, "the sensor registry is at %s", sensor_directory_path(*opened));
	return result;
}

void sensors_serve(struct sensor_directory *directory, bool *is_unreachable)
{
	struct sensor_directory_stats stats;
	int result = sensor_directory_dispatch(directory);

	sensor_directory_stats(directory, &stats);
	if (result)
		log_line(LOG_LEVEL_ERROR, "the sensor registry cannot wait for clients: %s", strerror(-result));
	if (stats.is_replaced && !*is_unreachable)
		log_line(LOG_LEVEL_ERROR,
			 "%s was removed or replaced: applications no longer find this sensor registry",
			 sensor_directory_path(directory));
	*is_unreachable = stats.is_replaced;
}

void sensors_look(const struct sensor_directory *sensors, uint64_t now_ns, struct sensors_told *told)
{
	struct sensor_directory_stats stats;

	sensor_directory_stats(sensors, &stats);
	if ((stats.lacking == told->lacking && stats.refused == told->refused) ||
	    (told->at_ns && now_ns - told->at_ns < PAUSE_NS))
		return;
	if (stats.lacking != told->lacking)
		log_line(LOG_LEVEL_WARNING, "sensors: %" PRIu64 " clients were disconnected so far: %s%s",
			 stats.lacking, strerror(-stats.lack),
			 stats.lack == -EMFILE ? " (LimitNOFILE: up to four descriptors for each process)" : "");
	if (stats.refused != told->refused)
		log_line(LOG_LEVEL_WARNING,
			 "sensors: %" PRIu64
			 " applications were refused so far because of their user's quota: they run without sensors",
			 stats.refused);
	*told = (struct sensors_told){ stats.lacking, stats.refused, now_ns };
}
