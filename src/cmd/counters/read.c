// SPDX-License-Identifier: BSD-2-Clause
/* `asterism counters read`: values and rates of types, of the machine or of a command. */

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/print.h"
#include "cmd/counters/counters-priv.h"
#include "cmd/counters/fake.h"
#include "cmd/options/options.h"
#include "cmd/options/status.h"
#include "cmd/text/json-text.h"
#include "cmd/text/signals.h"
#include "counters/measure/tally.h"
#include "session/live/launch.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

enum { INTERVAL_NS = 1000000000, PAUSE_MS = 100, TYPES_READ_MAX = 32 };

struct reading {
	const struct cli_arguments *arguments;
	const struct counters *counters;
	struct tally_way *ways;
	struct tally *tallies[TYPES_READ_MAX];
	uint32_t types[TYPES_READ_MAX];
	size_t count;
	struct meter_scope scope;
	struct launch launch;
	const volatile sig_atomic_t *stop;
	uint64_t begin; /* of the first interval: before the command runs, as it may be short */
	unsigned looks;
	int command; /* the status with which it ended */
	bool has_ended, is_passed, is_cycles;
};

/* Cycles, and what they are lost to. */
static const char *const causes[] = { "CPU_CYCLES", "CYCLES_BPU_STALL", "CYCLES_INSTR_ACCESS", "CYCLES_EXEC_STALL",
				      "CYCLES_DATA_ACCESS" };

static int find_causes(struct reading *reading)
{
	for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
		const struct counter_type *type = counters_wanted(reading->counters, causes[i]);

		if (!type)
			return STATUS_USAGE;
		reading->types[reading->count++] = (uint32_t)(type - reading->counters->types);
	}
	return STATUS_FINE;
}

/* Causes that are not here count with what has no cause. */
static void drop_causes(struct reading *reading)
{
	size_t kept = 1;

	for (size_t i = 1; i < reading->count; i++) {
		const struct tally_way *way = &reading->ways[reading->types[i]];

		if (way->state != TALLY_NOT_HERE)
			reading->types[kept++] = reading->types[i];
		else
			cli_note("%s is not available on this machine: %s",
				 reading->counters->types[reading->types[i]].name, way->reason);
	}
	reading->count = kept;
}

static int find_read_types(struct reading *reading)
{
	const struct cli_arguments *arguments = reading->arguments;

	if (arguments->operand_count < 2 || arguments->operand_count > TYPES_READ_MAX + 1) {
		cli_error("'asterism counters read' takes 1 to %d types", TYPES_READ_MAX);
		cli_hint("'asterism counters --probe' shows which are available");
		return STATUS_USAGE;
	}
	for (size_t i = 1; i < arguments->operand_count; i++) {
		const struct counter_type *type = counters_wanted(reading->counters, arguments->operands[i]);

		if (!type)
			return STATUS_USAGE;
		reading->types[reading->count++] = (uint32_t)(type - reading->counters->types);
	}
	return STATUS_FINE;
}

/* Each type has to be here; what can only be counted of a command needs one. */
static int find_ways(struct reading *reading)
{
	bool wanted[COUNTERS_MAX] = { false };
	int status = STATUS_FINE;

	for (size_t i = 0; i < reading->count; i++)
		wanted[reading->types[i]] = true;
	tally_probe(reading->counters, wanted, &(struct meter_scope){ .pid = -1, .fake = reading->scope.fake },
		    reading->ways);
	if (reading->is_cycles)
		drop_causes(reading);
	for (size_t i = 0; i < reading->count; i++) {
		const struct tally_way *way = &reading->ways[reading->types[i]];
		const char *name = reading->counters->types[reading->types[i]].name;

		if (way->state == TALLY_NOT_HERE) {
			cli_error("%s is not available on this machine: %s", name, way->reason);
			cli_hint("'asterism counters --explain %s' shows where it comes from", name);
			status = STATUS_KERNEL;
		} else if (way->is_of_command && !reading->arguments->launched) {
			cli_error("permission denied: cannot count %s for the whole machine", name);
			cli_hint("count a command, after '--', or run it as root or with CAP_PERFMON");
			status = STATUS_KERNEL;
		}
	}
	return status;
}

static int open_counters(struct reading *reading)
{
	const struct tally_ways ways = { reading->counters, reading->ways };

	for (size_t i = 0; i < reading->count; i++) {
		const char *name = reading->counters->types[reading->types[i]].name;
		char reason[METER_REASON_BYTES] = "";

		if (tally_open(&ways, reading->types[i], &reading->scope, reason, &reading->tallies[i])) {
			cli_error("cannot count %s: %s", name, reason);
			return STATUS_KERNEL;
		}
		if (tally_is_apart(reading->tallies[i])) {
			cli_warning("%s: its operands are not counted at the same time", name);
			cli_hint("there are fewer counters than operands; read fewer types, or for longer");
		}
		if (tally_is_of_user(reading->tallies[i]))
			cli_note("%s counts user code only: no permission to count kernel code", name);
		if (reading->arguments->launched && tally_is_of_machine(reading->tallies[i]))
			cli_note("%s counts the whole machine: its source cannot count single commands", name);
	}
	return STATUS_FINE;
}

static void put_counter_value(const struct counter_type *type, const struct tally_way *way,
			      const struct tally_value *value, double seconds)
{
	bool has_rate = !type->is_ratio && type->kind != COUNTER_GAUGE;

	printf("  %-40s ", type->name);
	if (isnan(value->value))
		printf("%14s", value->running <= 0 ? "not counted" : "no result");
	else
		printf("%14.10g", value->value);
	if (!type->is_ratio) {
		fputs("  ", stdout);
		text_write(stdout, type->unit, TEXT_WORDS);
	}
	if (has_rate && !isnan(value->value) && seconds > 0)
		printf("  %.6g/s", value->value / seconds);
	if (value->running < 0.999)
		printf("  (counted %.1f %% of the time)", 100 * value->running);
	if (way->state == TALLY_APPROXIMATE)
		fputs("  (approximate)", stdout);
	putchar('\n');
}

static json_t *value_json(const struct counter_type *type, const struct tally_way *way, const struct tally_value *value,
			  double seconds)
{
	bool has_rate = !type->is_ratio && type->kind != COUNTER_GAUGE && seconds > 0 && !isnan(value->value);

	return json_pack("{s:o,s:o,s:o,s:o,s:f,s:b}", "name", json_text(type->name), "unit", json_text(type->unit),
			 "value", isnan(value->value) ? json_null() : json_real(value->value), "rate",
			 has_rate ? json_real(value->value / seconds) : json_null(), "running", value->running,
			 "approximate", way->state == TALLY_APPROXIMATE);
}

/* What is left when all causes have got their share; it is negative where they overlap. */
static void put_shares(const struct reading *reading, const double *values, json_t *all)
{
	double rest = 100;

	for (size_t i = 1; i < reading->count; i++) {
		const struct counter_type *type = &reading->counters->types[reading->types[i]];
		double share = *values > 0 ? 100 * values[i] / *values : NAN;

		if (isnan(share))
			continue;
		rest -= share;
		if (all)
			json_object_set_new(all, type->name, json_real(share));
		else
			printf("  %6.2f %% of cycles: %s\n", share, type->doc);
	}
	if (!(*values > 0))
		return;
	if (all)
		json_object_set_new(all, "rest", json_real(rest));
	else
		printf("  %6.2f %% of cycles: useful work, and cycles of unknown cause\n", rest);
	if (rest < 0)
		cli_note("causes overlap: their sources count some cycles twice");
}

static int look_at_reading(struct reading *reading, double seconds)
{
	json_t *values = counters_want_json(reading->arguments) ? json_array() : NULL, *line;
	double known[TYPES_READ_MAX] = { 0 };
	int status = STATUS_FINE;

	reading->looks++;
	if (!values)
		printf("%.3f s\n", seconds);
	for (size_t i = 0; i < reading->count; i++) {
		const struct counter_type *type = &reading->counters->types[reading->types[i]];
		const struct tally_way *way = &reading->ways[reading->types[i]];
		char reason[METER_REASON_BYTES] = "";
		struct tally_value value;

		known[i] = NAN;
		if (tally_take(reading->tallies[i], reason, &value)) {
			cli_error("%s: %s", type->name, reason);
			status = STATUS_KERNEL;
			continue;
		}
		known[i] = value.value;
		if (value.running <= 0)
			status = STATUS_LOST;
		if (values)
			json_array_append_new(values, value_json(type, way, &value, seconds));
		else
			put_counter_value(type, way, &value, seconds);
	}
	line = values ? json_pack("{s:f,s:o}", "elapsed", seconds, "values", values) : NULL;
	if (reading->is_cycles) {
		json_t *shares = line ? json_object() : NULL;

		put_shares(reading, known, shares);
		if (line)
			json_object_set_new(line, "shares", shares);
	}
	if (line)
		json_text_put(line);
	fflush(stdout);
	return status;
}

/* A command ends itself: it gets SIGTERM as we do, and of the keyboard's signals its own. */
static bool is_stopped(struct reading *reading)
{
	if (!reading->launch.pid)
		return *reading->stop != 0;
	if (*reading->stop == SIGTERM && !reading->is_passed) {
		reading->is_passed = true;
		kill(reading->launch.pid, SIGTERM);
	}
	return false;
}

/* Until the time is over, the command has ended, or a signal has come. */
static void pause_until(struct reading *reading, uint64_t end)
{
	struct pollfd item = { .fd = reading->launch.pidfd, .events = POLLIN };
	uint64_t now;

	while (!is_stopped(reading) && !reading->has_ended && (now = clock_now_ns()) < end) {
		uint64_t left_ms = (end - now) / 1000000 + 1;

		poll(&item, 1, left_ms < PAUSE_MS ? (int)left_ms : PAUSE_MS);
		if (reading->launch.pid)
			reading->has_ended = launch_reap(&reading->launch, &reading->command);
	}
}

static int follow_counters(struct reading *reading)
{
	const struct cli_value *options = reading->arguments->options;
	bool has_interval = cli_has(reading->arguments, OPTION_READ_INTERVAL);
	uint64_t interval = has_interval ? options[OPTION_READ_INTERVAL].number : INTERVAL_NS;
	uint64_t looks = options[OPTION_READS].number, begin = reading->begin, end = begin;
	int status = STATUS_FINE, failed;

	if (!looks && !has_interval && !reading->arguments->launched)
		looks = 1;
	if (reading->arguments->launched && !has_interval && !looks)
		interval = UINT64_MAX / 2;
	while (!is_stopped(reading) && !reading->has_ended && (!looks || reading->looks < looks)) {
		uint64_t now;

		end += interval;
		if (!reading->scope.fake || reading->arguments->launched)
			pause_until(reading, end);
		now = clock_now_ns();
		failed = look_at_reading(reading, (double)(reading->scope.fake ? interval : now - begin) / 1e9);
		begin = now;
		status = failed ? failed : status;
	}
	/* The command goes on without being looked at. */
	while (reading->launch.pid && !reading->has_ended)
		pause_until(reading, UINT64_MAX);
	return status;
}

static int prepare_reading(struct reading *reading, struct asterism_diag *diag)
{
	int status;

	if (reading->arguments->launched) {
		if (launch_prepare(reading->arguments->launched, NULL, diag, &reading->launch))
			return STATUS_USAGE;
		launch_settle(&reading->launch);
		reading->scope.pid = reading->launch.pid;
	}
	/* The child is there, and keeps its own ways; the command may have us end as soon as it runs. */
	reading->stop = signals_take();
	status = open_counters(reading);
	reading->begin = clock_now_ns();
	if (!status && reading->arguments->launched &&
	    launch_go(&reading->launch, reading->arguments->launched[0], diag))
		status = STATUS_USAGE;
	return status;
}

static int run_reading(struct reading *reading)
{
	struct asterism_diag *diag = asterism_diag_new();
	int status = prepare_reading(reading, diag);

	cli_print(diag);
	asterism_diag_free(diag);
	if (!status)
		status = follow_counters(reading);
	for (size_t i = 0; i < reading->count; i++)
		tally_free(reading->tallies[i]);
	launch_fini(&reading->launch);
	return status ? status : reading->command;
}

int counters_read_types(const struct cli_arguments *arguments, const struct counters *counters)
{
	struct reading reading = { .arguments = arguments, .counters = counters, .scope = { .pid = -1 } };
	int status;

	reading.launch = (struct launch){ .pidfd = -1, .go_fd = -1, .error_fd = -1, .listener = { .fd = -1 } };
	reading.ways = alloc_zero(counters->type_count, sizeof *reading.ways);
	reading.is_cycles = strcmp(arguments->operands[0], "cycles") == 0;
	status = !reading.ways ? STATUS_USAGE : reading.is_cycles ? find_causes(&reading) : find_read_types(&reading);
	if (!status)
		status = counters_fake(&reading.scope.fake);
	if (!status)
		status = find_ways(&reading);
	if (!status)
		status = run_reading(&reading);
	meter_fake_free(reading.scope.fake);
	alloc_free(reading.ways);
	return status;
}
