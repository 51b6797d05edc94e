// SPDX-License-Identifier: BSD-2-Clause
/* Decides who may use the daemon's directory of sensors: whoever may use the daemon sees all of them. */

#include "daemon/sensors.h"

#include "daemon/log.h"
#include "sensor/directory.h"

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
