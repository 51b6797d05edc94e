// SPDX-License-Identifier: BSD-2-Clause
/* Reads EVENTS "sensor:...": from a program's file, or from what the registry knows of those that run. */

#include "sensor/catalog.h"

#include "base/alloc.h"
#include "sensor/hook.h"
#include "sensor/observer.h"
#include "sensor/pattern.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ANSWER_MS = 2000 };

bool sensor_catalog_is_paragraph(const char *text)
{
	bool is_quoted = false;

	if (strncmp(text, "EVENT ", 6))
		return false;
	for (; *text; text++) {
		if (is_quoted && *text == '\\' && text[1])
			text++;
		else if (*text == '"')
			is_quoted = !is_quoted;
		else if (!is_quoted && *text == '#')
			return false;
		else if (!is_quoted && *text == '}')
			return text[1 + strspn(text + 1, " \t\n")] == 0;
	}
	return false;
}

/* What is read into, and what to call it in messages. */
struct reading {
	struct event_catalog *catalog;
	const char *name;
	struct asterism_diag *diag;
	size_t count;
};

static int read_paragraph(void *context, const char *text)
{
	struct reading *reading = context;

	if (!sensor_catalog_is_paragraph(text))
		return diag_error(reading->diag, NULL, -EINVAL, "%s: a note for a sensor is malformed", reading->name);
	reading->count++;
	return event_catalog_parse(reading->catalog, reading->name, text, strlen(text), reading->diag);
}

static int read_sensor_file(struct reading *reading, const char *path)
{
	int result = sensor_catalog_each(path, read_paragraph, reading);

	if (result > 0)
		return 0;
	if (result == 0) {
		diag_add(reading->diag, ASTERISM_ERROR, NULL,
			 "name the file that declares the sensors; it may be a shared library",
			 "%s declares no sensors (section .note.asterism)", path);
		return -EINVAL;
	}
	if (result == -ENOEXEC)
		return diag_error(reading->diag, NULL, -EINVAL, "%s is not an ELF file from which sensors can be read",
				  path);
	return result == -EINVAL || result == -ENOMEM
		       ? result
		       : diag_error(reading->diag, NULL, -EINVAL, "cannot read %s: %s", path, strerror(-result));
}

/* Which process has what cannot be read beside what others have. */
static void tell_who(const struct reading *reading, const struct sensor_process *process, const char *name)
{
	if (reading->count > 1)
		diag_add(reading->diag, ASTERISM_ERROR, NULL,
			 "name the program, too: EVENTS \"sensor:/path/of/program\" or \"sensor:PROGRAM:NAME\"",
			 "process %u (%s) declares sensor %s with other fields than an earlier process did",
			 process->pid, *process->path ? process->path : process->comm, name);
}

static int hear(struct sensor_observer *observer, const char *pattern, struct reading *reading)
{
	struct sensor_process process = { 0 };

	for (;;) {
		struct sensor_notice notice;
		int result = sensor_observer_next(observer, ANSWER_MS, &notice);

		if (result == 0)
			result = -ETIMEDOUT;
		if (result < 0)
			return diag_error(reading->diag, NULL, -EINVAL, "the sensor registry does not answer: %s",
					  sensor_observer_reason(observer, result));
		if (notice.kind == SENSOR_END)
			return 0;
		if (notice.kind == SENSOR_PROCESS)
			process = *notice.process;
		/* The directory also tells of those beside what is asked for. */
		if (notice.kind == SENSOR_TYPE && !notice.type->is_absent &&
		    sensor_pattern_means_name(pattern, notice.type->name))
			result = read_paragraph(reading, notice.text);
		if (result == -EINVAL)
			tell_who(reading, &process, notice.type->name);
		if (result < 0)
			return result;
	}
}

/* Sensors of a program that the pattern names are its alone. */
static int hear_of(struct sensor_observer *observer, const char *pattern, struct reading *reading)
{
	const char *colon = strrchr(pattern, ':');
	char program[SENSOR_PATH_BYTES];
	int result;

	if (colon && (size_t)(colon - pattern) < sizeof program) {
		memcpy(program, pattern, (size_t)(colon - pattern));
		program[colon - pattern] = 0;
		event_catalog_set_program(reading->catalog, program);
	}
	result = hear(observer, pattern, reading);
	event_catalog_set_program(reading->catalog, NULL);
	return result;
}

static int ask_directory(struct reading *reading, const char *pattern)
{
	struct sensor_observer *observer;
	int result = sensor_observer_open(NULL, NULL, reading->diag, &observer);

	if (result)
		return result == -ENOMEM ? result : -EINVAL;
	if (sensor_observer_is_own(observer))
		result = diag_error(reading->diag, NULL, -EINVAL,
				    "only a program's file can be named here, not the sensors of running applications");
	else if ((result = sensor_observer_ask(observer, pattern, 0)))
		diag_error(reading->diag, NULL, result, "cannot query the sensor registry: %s",
			   sensor_observer_reason(observer, result));
	else
		result = hear_of(observer, pattern, reading);
	sensor_observer_close(observer);
	if (!result && !reading->count) {
		diag_add(reading->diag, ASTERISM_ERROR, NULL,
			 "'asterism sensors' lists running applications; EVENTS \"sensor:/path/of/program\" works "
			 "without any",
			 "no running application has the sensor %s", pattern);
		result = -EINVAL;
	}
	return result;
}

/* Whether the access lets the file be read; one that is anybody's is as if it were not there. */
static bool may_read(const struct event_catalog_access *access, const char *path)
{
	struct stat status;

	if (access->files == EVENT_FILES_ALL)
		return true;
	return access->files == EVENT_FILES_OWN && !access->is_foreign && *path == '/' && !stat(path, &status) &&
	       S_ISREG(status.st_mode) && !(status.st_mode & (S_IWGRP | S_IWOTH)) &&
	       (status.st_uid == access->owner || status.st_uid == 0);
}

static int supply(struct event_catalog *catalog, const char *folder, const char *name, struct asterism_diag *diag)
{
	const char *rest = strchr(name, ':') + 1;
	struct reading reading = { .catalog = catalog, .name = name, .diag = diag };
	char path[4096];

	if (strchr(rest, ':') && !strncmp(name, SENSOR_CATALOG_KERNEL_PREFIX, strlen(SENSOR_CATALOG_KERNEL_PREFIX))) {
		diag_add(diag, ASTERISM_ERROR, NULL, "name the sensor only, and compare a.comm in WHERE",
			 "%s: the kernel does not know which program a sensor belongs to", name);
		return -EINVAL;
	}
	if (!strchr(rest, '/'))
		return event_catalog_access(catalog)->files == EVENT_FILES_ALL ? ask_directory(&reading, rest)
									       : -ENOENT;
	if (snprintf(path, sizeof path, "%s%s%s", folder && *rest != '/' ? folder : "",
		     folder && *folder && *rest != '/' ? "/" : "", rest) >= (int)sizeof path)
		return -ENOENT;
	return may_read(event_catalog_access(catalog), path) ? read_sensor_file(&reading, path) : -ENOENT;
}

void sensor_catalog_supply(struct event_catalog *catalog)
{
	static const struct event_catalog_supplier supplier = { SENSOR_CATALOG_PREFIX, SENSOR_CATALOG_KERNEL_PREFIX,
								sensor_hook, supply };

	event_catalog_set_supplier(catalog, &supplier);
}
