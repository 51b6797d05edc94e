// SPDX-License-Identifier: BSD-2-Clause
/* Decides who may use the daemon's directory of sensors: whoever may use the daemon sees all of them. */

#include "daemon/sensors.h"

#include "daemon/log.h"
#include "sensor/directory.h"

#include <string.h>

int sensors_open(const struct options *options, struct sensor_directory **opened)
{
	const struct sensor_directory_options sensors = { .group = options->group };
	struct asterism_diag *diag = asterism_diag_new();
	int result = sensor_directory_open(&sensors, diag, opened);
	const struct asterism_message *message;

	for (size_t i = 0; diag && (message = asterism_diag_get(diag, i)); i++)
		log_line(LOG_LEVEL_ERROR, "%s", message->text);
	asterism_diag_free(diag);
	if (!result)
		log_line(LOG_LEVEL_INFO, "sensors register at %s", sensor_directory_path(*opened));
	return result;
}

void sensors_serve(struct sensor_directory *directory, bool *is_unreachable)
{
	struct sensor_directory_stats stats;
	int result = sensor_directory_dispatch(directory);

	sensor_directory_stats(directory, &stats);
	if (result)
		log_line(LOG_LEVEL_ERROR, "the directory of sensors cannot wait: %s", strerror(-result));
	if (stats.is_replaced && !*is_unreachable)
		log_line(LOG_LEVEL_ERROR,
			 "somebody has taken %s away or put something else there: applications do not find this "
			 "directory of sensors any more",
			 sensor_directory_path(directory));
	*is_unreachable = stats.is_replaced;
}
