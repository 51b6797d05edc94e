// SPDX-License-Identifier: BSD-2-Clause

#include "rig.h"

#include "app.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

struct payload {
	uint64_t thread, number, check;
	char word[16];
};

/* So far; a directory that a failed case left open does not stand in the way of the next one's. */
static int cases;

int rig_case(void **state)
{
	(void)state;
	cases++;
	unsetenv(SENSOR_RING_VARIABLE);
	return 0;
}

void rig_open(struct rig *rig, const struct sensor_directory_options *options)
{
	struct sensor_directory_options own = options ? *options : (struct sensor_directory_options){ 0 };

	if (!*rig->path)
		snprintf(rig->path, sizeof rig->path, "/tmp/asterism-sensors-%d-%d", (int)getpid(), cases);
	own.path = rig->path;
	setenv(SENSOR_SOCKET_VARIABLE, rig->path, 1);
	assert_int_equal(sensor_directory_open(&own, NULL, &rig->directory), 0);
}

void rig_observe(struct rig *rig, const char *pattern, uint32_t flags)
{
	if (!rig->observer)
		assert_int_equal(sensor_observer_open(rig->path, NULL, NULL, &rig->observer), 0);
	assert_int_equal(sensor_observer_ask(rig->observer, pattern, flags), 0);
	rig->has_end = false;
	for (int i = 0; i < 1000 && !rig->has_end; i++)
		rig_turn(rig);
	assert_true(rig->has_end);
}

void rig_close(struct rig *rig)
{
	sensor_observer_close(rig->observer);
	sensor_directory_close(rig->directory);
	for (size_t i = 0; i < rig->process_count; i++) {
		sensor_mapping_free(rig->processes[i]->area);
		free(rig->processes[i]->readers);
		free(rig->processes[i]->next);
		free(rig->processes[i]);
	}
}

static struct rig_process *find(struct rig *rig, uint64_t number)
{
	for (size_t i = 0; i < rig->process_count; i++) {
		if (rig->processes[i]->number == number)
			return rig->processes[i];
	}
	return NULL;
}

static void add_process(struct rig *rig, const struct sensor_notice *notice)
{
	struct rig_process *process = calloc(1, sizeof *process);

	assert_non_null(process);
	assert_true(rig->process_count < RIG_PROCESSES);
	rig->processes[rig->process_count++] = process;
	process->number = notice->number;
	process->pid = notice->process->pid;
	process->area = notice->area;
	process->types_due = notice->process->types;
	memset(process->units, 0xff, sizeof process->units);
	if (!notice->area)
		return;
	process->readers = calloc(notice->area->shape.slots, sizeof *process->readers);
	process->next = calloc(notice->area->shape.slots, sizeof *process->next);
	for (uint32_t i = 0; i < notice->area->shape.slots; i++) {
		struct ring ring = sensor_mapping_ring(notice->area, i), described;
		struct ring_memory memory = { ring.control, ring.data, sensor_data_offset(&notice->area->shape),
					      (uint64_t)ring.sub_units * ring.sub_count * RING_UNIT_BYTES };

		assert_int_equal(ring_describe(&memory, &described), 0);
		assert_int_equal(described.clock, ring.clock);
		assert_int_equal(described.sub_units, ring.sub_units);
		ring_elements_init(&process->readers[i], &ring, process->units, SENSOR_TYPES_MAX + 1);
	}
}

static void take(struct rig *rig, const struct sensor_notice *notice)
{
	struct rig_process *process = find(rig, notice->number);

	switch (notice->kind) {
	case SENSOR_PROCESS:
		assert_null(process);
		add_process(rig, notice);
		break;
	case SENSOR_TYPE:
		assert_non_null(process);
		process->types_due -= process->types_due != 0;
		process->units[notice->type->id] = notice->type->units;
		if (!strcmp(notice->type->name, "step"))
			process->step = notice->type->id;
		if (!strcmp(notice->type->name, "alarm_step"))
			process->alarm = notice->type->id;
		if (!strcmp(notice->type->name, "beat"))
			process->beat = notice->type->id;
		break;
	case SENSOR_ENDED:
		assert_non_null(process);
		process->is_ended = true;
		break;
	case SENSOR_LEFT_OUT:
		rig->left_out++;
		break;
	default:
		rig->has_end = true;
	}
}

static void judge(struct rig *rig, uint64_t *next, const struct payload *seen)
{
	if (seen->check != APP_CHECK(seen->thread, seen->number) || seen->thread >= RIG_THREADS) {
		rig->torn++;
		return;
	}
	rig->disordered += seen->number < next[seen->thread];
	next[seen->thread] = seen->number + 1;
}

static void read_ring(struct rig *rig, struct rig_process *process, struct ring_elements *reader)
{
	struct ring_element element;
	int result;

	while ((result = ring_elements_look(reader, &element)) == 1) {
		struct payload seen;
		bool is_beat = element.id == process->beat;

		if (!is_beat)
			memcpy(&seen, element.payload, sizeof seen);
		if (!ring_elements_take(reader))
			continue;
		process->events++;
		rig->beats += is_beat;
		rig->steps += element.id == process->step;
		rig->alarms += element.id == process->alarm;
		if (!is_beat)
			judge(rig, process->next[reader - process->readers], &seen);
	}
	assert_int_equal(result, 0);
}

static void read_process(struct rig *rig, struct rig_process *process)
{
	process->lost = process->unfinished = 0;
	for (uint32_t i = 0; process->area && !process->types_due && i < process->area->shape.slots; i++) {
		read_ring(rig, process, &process->readers[i]);
		process->lost += process->readers[i].lost;
		process->unfinished += ring_elements_in_flight(&process->readers[i]);
	}
}

void rig_turn(struct rig *rig)
{
	struct sensor_notice notice;

	if (rig->directory)
		assert_int_equal(sensor_directory_dispatch(rig->directory), 0);
	while (rig->observer && sensor_observer_next(rig->observer, 0, &notice) == 1)
		take(rig, &notice);
	for (size_t i = 0; i < rig->process_count; i++)
		read_process(rig, rig->processes[i]);
}

bool rig_until(struct rig *rig, bool (*holds)(const struct rig *rig), int ms)
{
	uint64_t until = clock_now_ns() + (uint64_t)ms * 1000000;

	do {
		rig_turn(rig);
		if (holds && holds(rig))
			return true;
		usleep(200);
	} while (clock_now_ns() < until);
	return false;
}

uint64_t rig_lost(const struct rig *rig)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < rig->process_count; i++)
		lost += rig->processes[i]->lost;
	return lost;
}

uint64_t rig_dropped(const struct rig *rig)
{
	uint64_t dropped = 0;

	for (size_t i = 0; i < rig->process_count; i++) {
		if (rig->processes[i]->area)
			dropped += ((const struct sensor_slot *)((char *)rig->processes[i]->area->memory +
								 sensor_slots_offset()))
					   ->dropped;
	}
	return dropped;
}

uint64_t rig_unfinished(const struct rig *rig)
{
	uint64_t unfinished = 0;

	for (size_t i = 0; i < rig->process_count; i++)
		unfinished += rig->processes[i]->unfinished;
	return unfinished;
}

bool rig_all_ended(const struct rig *rig)
{
	for (size_t i = 0; i < rig->process_count; i++) {
		if (!rig->processes[i]->is_ended)
			return false;
	}
	return true;
}

void rig_start(struct rig_app *app, const char *const *arguments)
{
	const char *hasty = strcmp(arguments[0], "fork-late") == 0 ? getenv("SENSOR_APP_HASTY") : NULL;
	const char *program = hasty ? hasty : getenv("SENSOR_APP");
	int output[2], input[2];

	assert_non_null(program);
	assert_int_equal(pipe2(output, O_CLOEXEC), 0);
	assert_int_equal(pipe2(input, O_CLOEXEC), 0);
	app->pid = fork();
	assert_true(app->pid >= 0);
	if (app->pid == 0) {
		char *list[8] = { (char *)program };

		for (int i = 0; i < 6 && arguments[i]; i++)
			list[i + 1] = (char *)arguments[i];
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(output[1], 1);
		dup2(input[0], 0);
		execv(program, list);
		_exit(127);
	}
	close(output[1]);
	close(input[0]);
	app->input = input[1];
	app->output = fdopen(output[0], "r");
	fcntl(output[0], F_SETFL, O_NONBLOCK);
}

/* The line that it says, waited for. */
static void hear(struct rig *rig, struct rig_app *app, char *line, int size)
{
	uint64_t until = clock_now_ns() + UINT64_C(60000000000);

	while (!fgets(line, size, app->output)) {
		clearerr(app->output);
		assert_true(clock_now_ns() < until);
		rig_turn(rig);
		usleep(100);
	}
}

unsigned long rig_count(struct rig *rig, struct rig_app *app)
{
	char line[64];

	hear(rig, app, line, sizeof line);
	return strtoul(line, NULL, 10);
}

void rig_end(struct rig *rig, struct rig_app *app, int signal_number)
{
	if (signal_number)
		kill(app->pid, signal_number);
	close(app->input);
	while (waitpid(app->pid, NULL, WNOHANG) == 0)
		rig_until(rig, NULL, 1);
	fclose(app->output);
	if (rig->observer && rig->directory)
		assert_true(rig_until(rig, rig_all_ended, 60000));
	rig_turn(rig);
}
