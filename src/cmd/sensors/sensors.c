// SPDX-License-Identifier: BSD-2-Clause
/* `asterism sensors`: the sensors of running applications; or the directory that knows them. */

#include "base/proc.h"
#include "base/text.h"
#include "cli/print.h"
#include "cmd/options/commands.h"
#include "cmd/options/status.h"
#include "cmd/sensors/dump.h"
#include "cmd/sensors/live.h"
#include "cmd/text/json-text.h"
#include "cmd/text/signals.h"
#include "meaning/meaning.h"
#include "sensor/directory.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

static void put_safe(const char *text)
{
	text_write(stdout, text, TEXT_WORDS);
}

static const char *stands_for(const struct event_field *field)
{
	bool is_said = field->meaning && field->meaning != event_value_meaning(field->value);

	return is_said ? field->meaning->text : field->unit;
}

static void put_sensor_fields(const struct event_type *type)
{
	for (uint32_t i = 0; i < type->own_count; i++) {
		const struct event_field *field = &type->fields[i];

		printf("%s%s: %s", i ? ", " : "", field->name, event_value_name(field->value));
		if (field->value == EVENT_STRING)
			printf("[%u]", field->bytes);
		if (stands_for(field)) {
			putchar(' ');
			put_safe(stands_for(field));
		}
	}
}

static void put_live_type(const struct live_type *live)
{
	if (live->is_absent)
		return;
	printf("    %s(", live->type->name);
	put_sensor_fields(live->type);
	putchar(')');
	if (live->type->doc && *live->type->doc) {
		fputs(" - ", stdout);
		put_safe(live->type->doc);
	}
	if (live->readers)
		printf(" [%u reader%s]", live->readers, live->readers == 1 ? "" : "s");
	putchar('\n');
}

static void put_process(const struct live_sensors_process *process)
{
	const struct sensor_process *told = &process->told;

	put_safe(*told->path ? told->path : told->comm);
	printf("[%u]%s, user %u: ", told->pid, told->is_ended ? " (ended)" : "", told->uid);
	if (process->refusal)
		printf("refused, so its events are not read: %s", process->refusal);
	else if (process->is_damaged)
		printf("it has overwritten its counters, so the number of its events is unknown");
	else if (process->fault)
		printf("cannot read its memory (%s)", strerror(-process->fault));
	else
		printf("%" PRIu64 " events, %.0f/s", process->events, process->rate);
	if (process->dropped && !process->is_damaged)
		printf(", %" PRIu64 " dropped", process->dropped);
	if (told->is_ended && process->unfinished)
		printf(", %" PRIu64 " unfinished", process->unfinished);
	putchar('\n');
}

static void put_sensors_text(const struct live_sensors *live)
{
	size_t next = 0;

	for (size_t i = 0; i < live->process_count; i++) {
		put_process(&live->processes[i]);
		for (; next < live->type_count && live->types[next].process == i; next++)
			put_live_type(&live->types[next]);
	}
}

static json_t *fields_of(const struct event_type *type)
{
	json_t *fields = json_array();

	for (uint32_t i = 0; i < type->own_count; i++) {
		const struct event_field *field = &type->fields[i];

		json_array_append_new(fields,
				      json_pack("{s:s, s:s, s:I, s:o, s:o}", "field", field->name, "type",
						event_value_name(field->value), "bytes", (json_int_t)field->bytes,
						"unit", json_text(stands_for(field)), "doc", json_text(field->doc)));
	}
	return fields;
}

static json_t *type_object(const struct live_type *live)
{
	return json_pack("{s:s, s:o, s:i, s:o}", "sensor", live->type->name, "doc", json_text(live->type->doc),
			 "readers", (int)live->readers, "fields", fields_of(live->type));
}

static void put_sensors_json(const struct live_sensors *live)
{
	size_t next = 0;

	for (size_t i = 0; i < live->process_count; i++) {
		const struct live_sensors_process *process = &live->processes[i];
		json_t *types = json_array(), *object;

		for (; next < live->type_count && live->types[next].process == i; next++)
			if (!live->types[next].is_absent)
				json_array_append_new(types, type_object(&live->types[next]));
		object = json_pack("{s:I, s:o, s:o, s:I, s:b, s:I, s:f, s:I, s:I, s:o}", "pid",
				   (json_int_t)process->told.pid, "comm", json_text(process->told.comm), "path",
				   json_text(process->told.path), "uid", (json_int_t)process->told.uid, "ended",
				   (int)process->told.is_ended, "events", (json_int_t)process->events, "rate",
				   process->rate, "dropped", (json_int_t)process->dropped, "unfinished",
				   (json_int_t)process->unfinished, "sensors", types);
		if (process->is_damaged)
			json_object_set_new(object, "damaged", json_true());
		if (process->refusal)
			json_object_set_new(object, "refused", json_text(process->refusal));
		if (process->fault)
			json_object_set_new(object, "unreadable", json_string(strerror(-process->fault)));
		json_text_put(object);
	}
}

static int list_sensors(const struct cli_arguments *arguments, struct asterism_diag *diag)
{
	const char *pattern = arguments->operand_count ? arguments->operands[0] : "";
	bool is_json = arguments->options[OPTION_FORMAT_EVENTS].number == 1;
	struct live_sensors live;
	int result = live_sensors_read(arguments->options[OPTION_SENSOR_SOCKET].text, pattern, diag, &live);

	if (!result && cli_has(arguments, OPTION_DUMP))
		result = dump_sensors(&live, pattern, is_json ? "json" : "text", diag);
	else if (!result && is_json)
		put_sensors_json(&live);
	else if (!result)
		put_sensors_text(&live);
	if (!result && !live.process_count)
		cli_note(*pattern ? "no application has such a sensor" : "no application with sensors is running");
	live_sensors_fini(&live);
	return result;
}

static void report_directory_stats(const struct sensor_directory_stats *stats)
{
	cli_note("%" PRIu64 " processes registered, %" PRIu64 " were refused; %" PRIu64
		 " clients sent invalid messages, %" PRIu64 " were too slow",
		 stats->registered, stats->refused, stats->malformed, stats->slow);
	if (stats->displaced)
		cli_note("%" PRIu64 " were dropped to make room for other users", stats->displaced);
	if (!stats->lacking)
		return;
	cli_warning("%" PRIu64 " clients were disconnected: %s", stats->lacking, strerror(-stats->lack));
	if (stats->lack == -EMFILE)
		cli_hint("raise 'ulimit -n': the sensor registry needs up to four descriptors per process");
}

static int serve_sensors(const struct cli_arguments *arguments, struct asterism_diag *diag)
{
	struct sensor_directory_options options = { .path = arguments->options[OPTION_SENSOR_SOCKET].text,
						    .group = arguments->options[OPTION_GROUP].text,
						    .user_bytes_max = arguments->options[OPTION_QUOTA].number,
						    .always = cli_has(arguments, OPTION_ALWAYS) };
	const volatile sig_atomic_t *stop = signals_take();
	struct sensor_directory_stats stats;
	struct sensor_directory *directory;
	bool was_replaced = false;

	proc_allow_descriptors(); /* four for a process */
	int result = sensor_directory_open(&options, diag, &directory);

	if (result)
		return result;
	cli_note("the sensor registry is at %s", sensor_directory_path(directory));
	while (!*stop && !result) {
		struct pollfd ready = { .fd = sensor_directory_fd(directory), .events = POLLIN };

		if (poll(&ready, 1, -1) > 0)
			result = sensor_directory_dispatch(directory);
		sensor_directory_stats(directory, &stats);
		if (stats.is_replaced && !was_replaced)
			cli_warning("%s was removed or replaced: applications no longer find this sensor registry",
				    sensor_directory_path(directory));
		was_replaced = stats.is_replaced;
	}
	sensor_directory_stats(directory, &stats);
	report_directory_stats(&stats);
	sensor_directory_close(directory);
	return result;
}

static int run_sensors(const struct cli_arguments *arguments)
{
	bool serves = cli_has(arguments, OPTION_SERVE);

	if (cli_has(arguments, OPTION_ALWAYS) && !serves) {
		cli_error("--always needs --serve");
		return STATUS_USAGE;
	}
	if (cli_has(arguments, OPTION_QUOTA) && !serves) {
		cli_error("--quota needs --serve");
		return STATUS_USAGE;
	}
	if (cli_has(arguments, OPTION_DUMP) && serves) {
		cli_error("--dump and --serve exclude each other");
		return STATUS_USAGE;
	}
	struct asterism_diag *diag = asterism_diag_new();
	int result = serves ? serve_sensors(arguments, diag) : list_sensors(arguments, diag);

	cli_print(diag);
	asterism_diag_free(diag);
	if (!result)
		return STATUS_FINE;
	return result == -EACCES || result == -EPERM ? STATUS_KERNEL : STATUS_USAGE;
}

static const struct cli_example examples[] = {
	{ "asterism sensors", "Lists the sensors of all running applications." },
	{ "asterism sensors -f json server:request_end", "Lists one sensor of one program as JSON." },
	{ "asterism sensors --serve", "Runs the sensor registry where asterismd is not running." },
	{ "asterism sensors --serve --always",
	  "The same, but applications write even without a reader, as for a flight recorder." },
	{ "asterism sensors --dump server:*", "Shows the latest events of the server, even after it has ended." },
	{ NULL, NULL },
};

const struct cli_command cmd_sensors = {
	.name = "sensors",
	.summary = "list the sensors of running applications",
	.operands = "[PATTERN]",
	.operands_max = 1,
	.description =
		"Asks the sensor registry, a part of asterismd, for the applications that have sensors "
		"(asterism/sensor.h). Shows for each process how many events it has written and its current rate, how "
		"many events found no ring (dropped), and each sensor with its fields and the number of its readers. "
		"Applications that have ended are listed for a while; events that they began but did not commit are "
		"shown as unfinished.\n\nPATTERN is the name of a sensor, or PROGRAM:NAME. PROGRAM is the name of a "
		"process, or the file name or the path of its program; NAME may be '*'.\n\nWith -f json each process "
		"is one object on a line: pid, comm, path, uid, ended, events, rate, dropped, unfinished (also "
		"unreadable, why its memory cannot be read; refused, why the registry refused it; damaged, if it has "
		"overwritten its counters) and sensors, objects with sensor, doc, readers and fields.\n\n--dump writes "
		"the events that the rings of these processes still hold, in order of time, in the form of 'asterism "
		"dump'. A process writes nothing while no reader is attached, unless the registry was started with "
		"--always. A note says how many events were overwritten before.\n\nUsers see their own processes; root "
		"and the members of the registry's group see all.",
	.options = { OPTION_ALWAYS, OPTION_DUMP, OPTION_FORMAT_EVENTS, OPTION_GROUP, OPTION_QUOTA, OPTION_SENSOR_SOCKET,
		     OPTION_SERVE },
	.examples = examples,
	.run = run_sensors,
};
