// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the files of a PMU: `type`, a number; `events/NAME`, terms such as "event=0x04,umask=3"; `format/TERM`, the
 * bits that a term's value goes to, such as "config:0-7,32-35"; `events/NAME.scale`; `cpumask`, the CPUs that
 * count for all, or `cpus`, those that it has. What is odd is refused, as it would count something else. Some files of
 * the kernel end with a newline and some do not.
 */

#include "counters/measure/pmu.h"

#include "base/alloc.h"
#include "base/proc.h"

#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 512, BITS = 64, DECIMAL = 10, HEXADECIMAL = 16 };

struct look {
	const char *folder, *pmu;
	char *reason;
	struct pmu_event *event;
	uint64_t set[PMU_CONFIGS]; /* bits that a term has set */
};

const char *pmu_folder(void)
{
	const char *folder = secure_getenv("ASTERISM_PMUS");

	return folder && *folder ? folder : "/sys/bus/event_source/devices";
}

__attribute__((format(printf, 2, 3))) static int refuse(const struct look *look, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(look->reason, METER_REASON_BYTES, format, args);
	va_end(args);
	return -EINVAL;
}

/* One line of text, which has something. -ENOENT without a reason: there is no such file. */
static int read_sysfs_line(const struct look *look, const char *under, const char *name, char line[LINE_BYTES])
{
	char path[2 * LINE_BYTES];
	ssize_t length;

	if ((size_t)snprintf(path, sizeof path, "%s/%s/%s%s", look->folder, look->pmu, under, name) >= sizeof path)
		return refuse(look, "PMU %.40s: the path of %.40s is too long", look->pmu, name);
	length = proc_read(path, line, LINE_BYTES);
	if (length == -ENOENT || length == -ENOTDIR)
		return -ENOENT;
	if (length < 0) {
		refuse(look, "PMU %.40s: %.40s: %s", look->pmu, name, strerror((int)-length));
		return (int)length;
	}
	if (length == LINE_BYTES - 1)
		return refuse(look, "PMU %.40s: %s%.40s is longer than %d bytes", look->pmu, under, name,
			      LINE_BYTES - 2);
	if (length && line[length - 1] == '\n')
		line[--length] = 0;
	for (ssize_t i = 0; i < length; i++) {
		if (!isprint((unsigned char)line[i]))
			return refuse(look, "PMU %.40s: %s%.40s is not one line of text", look->pmu, under, name);
	}
	return length ? 0 : refuse(look, "PMU %.40s: %s%.40s is empty", look->pmu, under, name);
}

/* All of the text; decimal, or hexadecimal with 0x. */
static bool to_whole_number(const char *text, uint64_t *number)
{
	bool is_hex = text[0] == '0' && text[1] == 'x';

	text += is_hex ? 2 : 0;
	if (!*text || text[strspn(text, is_hex ? "0123456789abcdefABCDEF" : "0123456789")])
		return false;
	errno = 0;
	*number = strtoull(text, NULL, is_hex ? HEXADECIMAL : DECIMAL);
	return !errno;
}

/* "3" or "3-7", up to most; *at is then behind it. */
static bool take_range(const char **at, unsigned most, unsigned *low, unsigned *high)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	unsigned long from = strtoul(*at, &end, DECIMAL), to = from;

	if (*end == '-') {
		if (!isdigit((unsigned char)end[1]))
			return false;
		to = strtoul(end + 1, &end, DECIMAL);
	}
	if (from > to || to > most || (*end && *end != ','))
		return false;
	*low = (unsigned)from;
	*high = (unsigned)to;
	*at = end;
	return true;
}

/* Spreads the number over the bits of a format, the lowest ones first. */
static int put_bits(struct look *look, const char *term, const char *format, uint64_t number)
{
	unsigned config = 0, low, high;
	uint64_t left = number;
	const char *at = format + strlen("config");

	if (strncmp(format, "config", strlen("config")) == 0 && *at >= '1' && *at <= '3')
		config = (unsigned)(*at++ - '0');
	if (strncmp(format, "config", strlen("config")) != 0 || *at != ':')
		return refuse(look, "PMU %.32s: cannot read the format of %.24s: %.32s", look->pmu, term, format);
	do {
		at++;
		if (!take_range(&at, BITS - 1, &low, &high))
			return refuse(look, "PMU %.32s: cannot read the format of %.24s: %.32s", look->pmu, term,
				      format);
		unsigned width = high - low + 1;
		uint64_t mask = UINT64_MAX >> (BITS - width);

		if (look->set[config] & mask << low)
			return refuse(look, "PMU %.32s: %.24s sets bits that are set already (%.32s)", look->pmu, term,
				      format);
		look->set[config] |= mask << low;
		look->event->configs[config] |= (left & mask) << low;
		left = width < BITS ? left >> width : 0;
	} while (*at == ',');
	return left ? refuse(look, "PMU %.32s: %.24s=%#llx does not fit into %.32s", look->pmu, term,
			     (unsigned long long)number, format)
		    : 0;
}

static bool is_pmu_name(const char *name)
{
	for (const char *at = name; *at; at++) {
		if (!isalnum((unsigned char)*at) && *at != '_' && *at != '-')
			return false;
	}
	return *name;
}

/* "umask=0x3", "inv" or "config1=7". */
static int put_term(struct look *look, char *term)
{
	char format[LINE_BYTES], *value = strchr(term, '=');
	uint64_t number = 1;
	int result = 0;

	if (value)
		*value++ = 0;
	if (!is_pmu_name(term) || (value && !to_whole_number(value, &number)))
		return refuse(look, "PMU %.32s: cannot read the term %.32s%s%.32s", look->pmu, term, value ? "=" : "",
			      value ? value : "");
	if (strcmp(term, "config") == 0 || (strncmp(term, "config", strlen("config")) == 0 &&
					    strchr("123", term[strlen("config")]) && !term[strlen("config1")]))
		snprintf(format, sizeof format, "%s:0-63", term);
	else
		result = read_sysfs_line(look, "format/", term, format);
	if (result == -ENOENT)
		return refuse(look, "PMU %.40s has no format for %.40s", look->pmu, term);
	return result ? result : put_bits(look, term, format, number);
}

static int put_terms(struct look *look, char *terms)
{
	int result = 0;

	for (char *term = terms, *next; !result && term; term = next) {
		next = strchr(term, ',');
		if (next)
			*next++ = 0;
		result = put_term(look, term);
	}
	return result;
}

static int read_scale(struct look *look, const char *event)
{
	char name[COUNTER_NAME_MAX + sizeof ".scale"], line[LINE_BYTES], *end;
	int result;

	snprintf(name, sizeof name, "%s.scale", event);
	result = read_sysfs_line(look, "events/", name, line);
	if (result)
		return result == -ENOENT ? 0 : result;
	look->event->scale = strtod(line, &end);
	if (!isdigit((unsigned char)*line) || *end || !isfinite(look->event->scale) || look->event->scale <= 0)
		return refuse(look, "PMU %.32s: the scale of %.32s is no number: %.32s", look->pmu, event, line);
	return 0;
}

static int read_pmu_event(struct look *look, const char *event)
{
	char terms[LINE_BYTES];
	int result;

	if (strchr(event, '=')) {
		if ((size_t)snprintf(terms, sizeof terms, "%s", event) >= sizeof terms)
			return refuse(look, "PMU %.40s: the terms are too long", look->pmu);
		return put_terms(look, terms);
	}
	result = read_sysfs_line(look, "events/", event, terms);
	if (result == -ENOENT)
		refuse(look, "PMU %.40s has no event %.40s", look->pmu, event);
	if (!result)
		result = put_terms(look, terms);
	return result ? result : read_scale(look, event);
}

static int read_cpus(struct look *look, const char *file)
{
	char line[LINE_BYTES];
	const char *at = line;
	unsigned low, high;
	int result = read_sysfs_line(look, "", file, line);

	if (result)
		return result;
	for (;; at++) {
		if (!take_range(&at, PMU_CPUS_MAX - 1, &low, &high))
			return refuse(look, "PMU %.40s: cannot read %s: %.40s", look->pmu, file, line);
		for (unsigned cpu = low; cpu <= high; cpu++)
			look->event->cpus[cpu / BITS] |= UINT64_C(1) << cpu % BITS;
		if (!*at)
			break;
	}
	look->event->has_cpus = true;
	return 0;
}

int pmu_find(const char *folder, const char *pmu, const char *event, char reason[METER_REASON_BYTES],
	     struct pmu_event *found)
{
	struct pmu_event made = { .scale = 1 };
	struct look look = { .folder = folder, .pmu = pmu, .reason = reason, .event = &made };
	char line[LINE_BYTES];
	uint64_t type;
	int result = read_sysfs_line(&look, "", "type", line);

	if (result == -ENOENT)
		refuse(&look, "this machine has no PMU %.64s", pmu);
	if (result)
		return result;
	if (!to_whole_number(line, &type) || type > UINT32_MAX)
		return refuse(&look, "PMU %.40s: its type is no number: %.40s", pmu, line);
	made.type = (uint32_t)type;
	result = read_pmu_event(&look, event);
	if (result)
		return result;
	result = read_cpus(&look, "cpumask");
	made.is_of_machine = !result;
	if (result == -ENOENT)
		result = read_cpus(&look, "cpus");
	if (result && result != -ENOENT)
		return result;
	*found = made;
	return 0;
}

/* The last name of a path that glob has found. */
static const char *pmu_name(const char *path)
{
	return strrchr(path, '/') + 1;
}

static int find_each(const char *folder, const glob_t *paths, const char *event, char reason[METER_REASON_BYTES],
		     struct pmu_event *found)
{
	for (size_t i = 0; i < paths->gl_pathc; i++) {
		struct look look = { .pmu = pmu_name(paths->gl_pathv[i]), .reason = reason };
		int result = pmu_find(folder, look.pmu, event, reason, &found[i]);

		if (result)
			return result;
		if (!found[i].is_of_machine)
			return refuse(&look, "PMU %.40s has no cpumask: only PMUs of the machine can be added up",
				      look.pmu);
		if (found[i].scale < found[0].scale || found[i].scale > found[0].scale)
			return refuse(&look, "PMU %.40s has another scale than %.40s", look.pmu,
				      pmu_name(paths->gl_pathv[0]));
	}
	return (int)paths->gl_pathc;
}

int pmu_find_alike(const char *folder, const char *pattern, const char *event, char reason[METER_REASON_BYTES],
		   struct pmu_event **found)
{
	struct look look = { .pmu = pattern, .reason = reason };
	char path[2 * LINE_BYTES];
	glob_t paths;
	int result;

	if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, pattern) >= sizeof path)
		return refuse(&look, "PMU %.40s: the path is too long", pattern);
	result = glob(path, GLOB_NOESCAPE, NULL, &paths);
	if (result && result != GLOB_NOMATCH)
		return refuse(&look, "PMU %.40s: cannot list %.60s", pattern, folder);
	if (result) {
		refuse(&look, "this machine has no PMU %.64s", pattern);
		return -ENOENT;
	}
	if (paths.gl_pathc > PMU_ALIKE_MAX)
		result = refuse(&look, "more than %d PMUs are called %.40s", PMU_ALIKE_MAX, pattern);
	*found = result ? NULL : alloc_zero(paths.gl_pathc, sizeof **found);
	if (!result && !*found) {
		refuse(&look, "out of memory");
		result = -ENOMEM;
	}
	if (!result)
		result = find_each(folder, &paths, event, reason, *found);
	if (result < 0)
		alloc_free(*found);
	globfree(&paths);
	return result;
}
