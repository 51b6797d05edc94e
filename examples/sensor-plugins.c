// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program that learns only when it runs which events there are: `sensor-plugins ROUNDS [stay]`. Its plug-ins say what
 * they raise, raise it, and are unloaded. Build it with `make sensor-plugins`.
 *
 * A rule must know fields before: from a catalog, EVENTS "sensor:sensor-plugins.events", or from what runs.
 */

#include "asterism/sensor.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct answer {
	uint32_t question;
	double seconds;
	char text[32];
};

static const struct asterism_sensor_field fields[] = { { "u32", "question", "", "counted from 1" },
						       { "f64", "seconds", "", "that it took" },
						       { "text32", "text", "", "" } };

static struct asterism_sensor *load(const char *name)
{
	struct asterism_sensor *sensor = asterism_sensor_register(name, "somebody knows it", fields, 3);

	if (!sensor)
		perror(name);
	return sensor;
}

static void run_plugin(unsigned rounds)
{
	struct asterism_sensor *sensor = load("answer");

	for (unsigned i = 1; sensor && i <= rounds; i++) {
		struct answer answer = { .question = i, .seconds = i / 4.0 };

		snprintf(answer.text, sizeof answer.text, "answer %u of %u", i, rounds);
		asterism_sensor_log(sensor, &answer, sizeof answer);
	}
	asterism_sensor_unregister(sensor);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	struct asterism_sensor *sensor;
	sigset_t change;
	int number;

	sigemptyset(&change);
	sigaddset(&change, SIGUSR1);
	sigprocmask(SIG_BLOCK, &change, NULL);
	for (unsigned i = 0; i < rounds; i++)
		run_plugin(i + 1);
	if (argc < 3 || strcmp(argv[2], "stay"))
		return 0;
	sensor = load("answer");
	sigwait(&change, &number);
	asterism_sensor_unregister(sensor);
	sensor = load("other");
	sigwait(&change, &number);
	asterism_sensor_unregister(sensor);
	return 0;
}
