// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the sensors that measures mean: those that rules or --catalog name, those that the launched program's file
 * declares, those that running applications have.
 */

#include "cmd/monitor/measured.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/print.h"
#include "cmd/input/rules.h"
#include "cmd/options/status.h"
#include "session/measure/report.h"
#include "session/output/when.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Reads what a name stands for, if anything is known of it. Returns 0, also where nothing is; -EINVAL, -ENOMEM. */
static int read_measured_sensors(struct event_catalog *catalog, const char *name, struct asterism_diag *diag)
{
	struct text_buffer text = { 0 };
	size_t before = asterism_diag_count(diag, ASTERISM_NOTE);
	char *path;
	int result;

	text_printf(&text, "sensor:%s", name);
	if (text_take(&text, &path))
		return -ENOMEM;
	result = event_catalog_read(catalog, ".", path, diag);
	alloc_free(path);
	if (result == -ENOMEM)
		return result;
	if (result)
		diag_forget(diag, before);
	return 0;
}

static const struct event_type *find_measured_type(struct event_catalog *catalog, const char *name)
{
	for (size_t i = 0;; i++) {
		const struct event_type *type = event_catalog_get(catalog, i);

		if (!type || (type->sensor && strcmp(type->name, name) == 0))
			return type;
	}
}

static int no_sensor(struct event_catalog *catalog, const char *name, struct asterism_diag *diag)
{
	const struct event_type *type = event_catalog_find(catalog, name);
	bool is_kernel = type && type->hook_count;

	diag_error(diag, NULL, -EINVAL,
		   is_kernel ? "%s is a kernel event, but a monitor evaluates only sensors" : "there is no sensor '%s'",
		   name);
	diag_hint(diag, is_kernel ? "record it, and measure the trace: asterism replay --measure"
				  : "--catalog sensor:FILE reads the sensors of a program's file; 'asterism sensors' "
				    "lists those of running ones");
	return -EINVAL;
}

static int find_item(struct measured *measured, const struct cli_arguments *arguments, struct event_catalog *catalog,
		     const char *name)
{
	struct asterism_diag *diag = measured->measuring.diag;
	const struct event_type *type = find_measured_type(catalog, name);
	int result = 0;

	if (!type && arguments->launched && strchr(arguments->launched[0], '/'))
		result = read_measured_sensors(catalog, arguments->launched[0], diag);
	type = type ? type : find_measured_type(catalog, name);
	if (!type && !result)
		result = read_measured_sensors(catalog, name, diag);
	type = type ? type : find_measured_type(catalog, name);
	if (result)
		return result;
	if (!type)
		return no_sensor(catalog, name, diag);
	for (size_t i = 0; i < measured->type_count; i++)
		if (measured->types[i] == type)
			return 0;
	measured->types[measured->type_count++] = type;
	return measures_bind(measured->measuring.measures, type, diag);
}

static int find_all_measures(struct measured *measured, const struct cli_arguments *arguments,
			     struct event_catalog *catalog)
{
	const struct measures *measures = measured->measuring.measures;
	struct asterism_diag *diag = measured->measuring.diag;
	int result = cmd_add_catalogs(arguments, catalog, diag);

	measured->types = alloc_zero(measures_count(measures) + 1, sizeof *measured->types);
	if (!measured->types)
		return diag_no_memory(diag);
	for (size_t i = 0; i < measures_count(measures) && !result; i++)
		result = find_item(measured, arguments, catalog, measures_get(measures, i)->event);
	return result;
}

static void write_metrics(void *context, struct text_buffer *text)
{
	const struct measured *measured = context;

	measure_put_metrics(text, measured->measuring.measures);
}

static int serve_measured(struct measured *measured, const char *address)
{
	const struct expose_options options = { address, write_metrics, measured };

	return address ? expose_server_open(&options, measured->measuring.diag, &measured->server) : 0;
}

int measured_open(struct measured *measured, const struct cli_arguments *arguments, struct sink *sink,
		  const struct session_rules *rules)
{
	struct event_catalog *catalog = rules ? session_rules_catalog(rules) : NULL;
	struct measuring *measuring = &measured->measuring;
	int result, status = measuring_open(measuring, arguments, sink);

	measured->own = NULL;
	if (!status && !measuring->measures && cli_has(arguments, OPTION_METRICS)) {
		cli_error("--metrics needs --measure");
		return STATUS_USAGE;
	}
	if (status || !measuring->measures)
		return status;
	measuring->draws = !sink->json && !sink->file && isatty(STDOUT_FILENO);
	if (!catalog) {
		status = cmd_read_catalog(&measured->own);
		catalog = measured->own;
	}
	if (status)
		return status;
	result = find_all_measures(measured, arguments, catalog);
	if (!result)
		result = serve_measured(measured, arguments->options[OPTION_METRICS].text);
	cli_print(measuring->diag);
	asterism_diag_clear(measuring->diag);
	return cmd_status_of(result);
}

void measured_close(struct measured *measured)
{
	expose_server_close(measured->server);
	measuring_close(&measured->measuring);
	event_catalog_free(measured->own);
	alloc_free(measured->types);
}

int measured_add(struct measured *measured, struct monitor *monitor, struct asterism_diag *diag)
{
	const struct measures *measures = measured->measuring.measures;

	for (size_t i = 0; measures && i < measures_count(measures); i++) {
		const struct measures_item *item = measures_get(measures, i);
		int64_t sensor = monitor_sensor_find(monitor, item->type);
		void *context = measures_share(item);

		if (sensor < 0)
			sensor = MONITOR_ANY_SENSOR;
		if (monitor_add(monitor, sensor, item->kind, context) >= 0)
			continue;
		item->kind->release(context);
		return diag_no_memory(diag);
	}
	return 0;
}

int measured_tell(struct measured *measured)
{
	struct measuring *measuring = &measured->measuring;

	if (!measuring->measures)
		return 0;
	if (measured->server)
		expose_server_step(measured->server);
	when_take_machine(&measuring->sink->machine);
	return measuring_tell(measuring, clock_now_ns());
}

void measured_end(struct measured *measured)
{
	if (measured->measuring.measures)
		measuring_finish(&measured->measuring);
}
