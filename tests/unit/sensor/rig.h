/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_SENSOR_RIG_H
#define TESTS_SENSOR_RIG_H

/* A directory, an observer and an application, all looked after by one loop. */

#include "ring/elements.h"
#include "sensor/directory.h"
#include "sensor/observer.h"

#include <stdio.h>
#include <sys/types.h>

enum { RIG_PROCESSES = 300, RIG_THREADS = 1200 };

struct rig_process {
	uint64_t number;
	uint32_t pid;
	struct sensor_mapping *area;
	struct ring_elements *readers; /* a ring each */
	uint32_t units[SENSOR_TYPES_MAX + 1];
	uint32_t types_due;
	uint32_t step, alarm, beat; /* ids */
	bool is_ended;
	uint64_t events, lost, unfinished;
	uint64_t (*next)[RIG_THREADS]; /* number of a thread's next event, per ring */
};

struct rig {
	struct sensor_directory *directory;
	struct sensor_observer *observer;
	struct rig_process *processes[RIG_PROCESSES];
	size_t process_count;
	uint64_t steps, alarms, beats, torn, disordered;
	uint64_t left_out; /* processes that were refused */
	bool has_end;
	char path[108];
};

/* A setup of cmocka: this case depends on nothing that the one before has left, as it failed perhaps. */
int rig_case(void **state);

/* options.path is the rig's own, the same throughout a case. */
void rig_open(struct rig *rig, const struct sensor_directory_options *options);
void rig_observe(struct rig *rig, const char *pattern, uint32_t flags);
void rig_close(struct rig *rig);

/* One turn: everything that is ready is done, everything that is written is read. */
void rig_turn(struct rig *rig);

/* So many ms of turns, or until what is asked holds. Returns whether it does. */
bool rig_until(struct rig *rig, bool (*holds)(const struct rig *rig), int ms);

uint64_t rig_lost(const struct rig *rig);
uint64_t rig_dropped(const struct rig *rig);
uint64_t rig_unfinished(const struct rig *rig);
bool rig_all_ended(const struct rig *rig);

/* An application, its output and its input. */
struct rig_app {
	pid_t pid;
	FILE *output;
	int input;
};

void rig_start(struct rig_app *app, const char *const *arguments);

/* Waits, turning, for the number that it says. */
unsigned long rig_count(struct rig *rig, struct rig_app *app);

/* Lets it end, or ends it by a signal, and waits until it has and the directory has noticed. */
void rig_end(struct rig *rig, struct rig_app *app, int signal_number);

#endif
