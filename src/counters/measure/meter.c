// SPDX-License-Identifier: BSD-2-Clause
/*
 * Opens sources and reads them. What the kernel has counted for a part of the time alone, as there were more events
 * than counters, is scaled since the last reading, each CPU's by its own share. The first meter of a group reads
 * all of it at one time; the others take theirs from what it has read.
 */

#include "counters/measure/meter.h"

#include "base/alloc.h"
#include "base/proc.h"
#include "counters/measure/meter-priv.h"
#include "counters/measure/pmu.h"
#include "event/tracefs.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CPUS_MAX = PMU_CPUS_MAX, FAKE_READING_NS = 1000000000 };

/* As the kernel writes it. */
struct counted {
	uint64_t value, enabled, running;
};

/* What a group reads as: three words, then two for each member. */
enum { GROUP_HEAD = 3 };

struct one {
	int fd;
	uint64_t id; /* by which it is known in its group */
	struct counted last;
	uint64_t *words; /* of a leader: the group as it was read last */
};

struct meter {
	const struct counter_source *source;
	struct meter_fake *fake;
	unsigned readings;
	bool is_gauge, is_of_user, is_of_machine, is_alone;
	double times; /* of perf: what one count stands for */
	double last;  /* of a file, a fake */
	size_t count, capacity;
	struct one *ones;     /* of perf: one per CPU or thread, or one */
	struct meter *leader; /* of perf: whose group it is in; itself */
	size_t members;       /* of a leader: all in its group */
};

/* The number of a tracepoint. */
static int tracepoint_id(const char *name, char reason[METER_REASON_BYTES], uint64_t *id)
{
	const char *folder = event_tracefs_folder(), *colon = strchr(name, ':');
	char path[512], text[32];
	ssize_t length;

	if (!folder) {
		int error = errno;

		snprintf(reason, METER_REASON_BYTES, "tracefs: %s", strerror(error));
		return error == EPERM ? -EACCES : -error;
	}
	snprintf(path, sizeof path, "%s/events/%.*s/%s/id", folder, (int)(colon - name), name, colon + 1);
	length = proc_read(path, text, sizeof text);
	if (length < 0) {
		snprintf(reason, METER_REASON_BYTES,
			 length == -ENOENT ? "the kernel has no such tracepoint" : "tracefs: %s",
			 strerror((int)-length));
		return (int)length;
	}
	*id = strtoull(text, NULL, 10);
	return 0;
}

static int explain_meter_error(int error, const struct counter_source *source, char reason[METER_REASON_BYTES])
{
	char level[16] = "?";

	if (error == EACCES || error == EPERM) {
		proc_read("/proc/sys/kernel/perf_event_paranoid", level, sizeof level);
		level[strcspn(level, "\n")] = 0;
		snprintf(reason, METER_REASON_BYTES, "not permitted: kernel.perf_event_paranoid is %s", level);
		return -EACCES;
	}
	snprintf(reason, METER_REASON_BYTES, "%s",
		 error == ENOENT && source->from == COUNTER_PERF && source->perf_type == PERF_TYPE_RAW
			 ? "no PMU of this machine takes raw events"
		 : error == ENOENT || error == EOPNOTSUPP || error == ENODEV
			 ? "the CPU does not count it for this process"
		 : error == E2BIG  ? "this kernel knows no config3, which came with Linux 6.3"
		 : error == EINVAL ? "the kernel does not support this way of counting"
				   : strerror(error));
	return -error;
}

/* With config3 behind what the headers may know, which kernels before 6.3 take where it is 0. */
union attributes {
	struct perf_event_attr attr;
	uint64_t words[PERF_ATTR_SIZE_VER7 / sizeof(uint64_t) + 1];
};

enum { CONFIG3 = PERF_ATTR_SIZE_VER7 / sizeof(uint64_t) };

static int open_meter_event(struct meter *meter, const struct perf_event_attr *attr, const struct meter_scope *scope,
			    pid_t pid, int cpu)
{
	int group = -1;
	int fd;

	if (scope->group && meter->count < scope->group->count)
		group = scope->group->ones[meter->count].fd;
	if (alloc_grow(&meter->ones, &meter->capacity, meter->count, sizeof *meter->ones))
		return -ENOMEM;
	fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, group, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	meter->ones[meter->count] = (struct one){ .fd = fd };
	return ioctl(fd, PERF_EVENT_IOC_ID, &meter->ones[meter->count++].id) ? -errno : 0;
}

static void close_meter(struct meter *meter)
{
	while (meter->count) {
		int fd = meter->ones[--meter->count].fd;

		if (fd >= 0)
			close(fd);
		alloc_free(meter->ones[meter->count].words);
	}
}

/* A thread that is gone has a place without a descriptor, so that groups have the same places. */
static int open_threads(struct meter *meter, const struct perf_event_attr *attr, const struct meter_scope *scope)
{
	size_t here = 0;

	for (size_t i = 0; i < scope->threads->count; i++) {
		bool is_gone = scope->group && i < scope->group->count && scope->group->ones[i].fd < 0;
		int result = is_gone ? -ESRCH : open_meter_event(meter, attr, scope, scope->threads->ids[i], -1);

		if ((result == -EINVAL || result == -ENODEV) &&
		    !measure_thread_lives(scope->pid, scope->threads->ids[i]))
			result = -ESRCH;
		if (result != -ESRCH) {
			here++;
		} else {
			result = alloc_grow(&meter->ones, &meter->capacity, i, sizeof *meter->ones) ? -ENOMEM : 0;
			if (!result)
				meter->ones[meter->count++] = (struct one){ .fd = -1 };
		}
		if (result)
			return result;
	}
	return here ? 0 : -ESRCH;
}

/* CPUs that are off are left out, and those that another one counts for. */
static int open_meter_cpus(struct meter *meter, const struct perf_event_attr *attr, const struct meter_scope *scope,
			   const struct pmu_event *pmu)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int result = 0;

	if (scope->threads)
		return open_threads(meter, attr, scope);
	if (scope->pid >= 0)
		return open_meter_event(meter, attr, scope, scope->pid, -1);
	for (int cpu = 0; !result && cpu < cpus && cpu < CPUS_MAX; cpu++) {
		if (pmu->has_cpus && !(pmu->cpus[cpu / 64] >> cpu % 64 & 1))
			continue;
		result = open_meter_event(meter, attr, scope, -1, cpu);
		if (result == -ENODEV && cpu)
			result = 0;
	}
	return result || meter->count ? result : -ENODEV;
}

/* Another member: the leader has room for it. */
static int grow_group(struct meter *leader)
{
	for (size_t i = 0; i < leader->count; i++) {
		uint64_t *words =
			alloc_resize(leader->ones[i].words, GROUP_HEAD + 2 * (leader->members + 1), sizeof *words);

		if (!words)
			return -ENOMEM;
		leader->ones[i].words = words;
	}
	leader->members++;
	return 0;
}

/* What the kernel calls the source: returns how many events it has, for the caller to free, or -errno. */
static int find_events(struct meter *meter, char reason[METER_REASON_BYTES], struct pmu_event **events)
{
	const struct counter_source *source = meter->source;
	struct pmu_event *event;
	int result = 0;

	if (source->from == COUNTER_PMU && strchr(source->path, '*'))
		return pmu_find_alike(pmu_folder(), source->path, source->field, reason, events);
	*events = event = alloc_zero(1, sizeof *event);
	if (!event) {
		snprintf(reason, METER_REASON_BYTES, "out of memory");
		return -ENOMEM;
	}
	event->type = source->perf_type;
	event->configs[0] = source->config;
	event->scale = 1;
	if (source->from == COUNTER_TRACEPOINT) {
		event->type = PERF_TYPE_TRACEPOINT;
		result = tracepoint_id(source->path, reason, &event->configs[0]);
	} else if (source->from == COUNTER_PMU) {
		result = pmu_find(pmu_folder(), source->path, source->field, reason, event);
	}
	if (result)
		alloc_free(event);
	return result ? result : 1;
}

/* Opens all, which are added up. */
static int open_events(struct meter *meter, union attributes *attributes, const struct meter_scope *scope,
		       const struct pmu_event *events, int count)
{
	struct perf_event_attr *attr = &attributes->attr;
	int result = 0;

	for (int i = 0; i < count && !result; i++) {
		attr->type = events[i].type;
		attr->config = events[i].configs[0];
		attr->config1 = events[i].configs[1];
		attr->config2 = events[i].configs[2];
		attributes->words[CONFIG3] = events[i].configs[3];
		result = open_meter_cpus(meter, attr, scope, &events[i]);
	}
	return result;
}

/* What counts on some CPUs alone is in no group with others, and for them all it counts the machine. */
static int open_found(struct meter *meter, const struct meter_scope *wanted, const struct pmu_event *events, int count)
{
	struct meter_scope own = *wanted, *scope = &own;

	if (events->is_of_machine) {
		own.pid = -1;
		own.threads = NULL;
	}
	meter->is_alone = events->has_cpus && own.pid < 0;
	if (meter->is_alone)
		own.group = NULL;
	meter->times = meter->source->times * events->scale;

	bool is_leader = !scope->group || !scope->group->count;
	bool waits = scope->pid > 0 && !scope->threads && is_leader;
	union attributes attributes = { .words = { 0 } };
	struct perf_event_attr *attr = &attributes.attr;
	int result;

	*attr = (struct perf_event_attr){
		.size = sizeof attributes,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_GROUP |
			       PERF_FORMAT_ID,
		.inherit = scope->pid >= 0,
		.disabled = waits,
		.enable_on_exec = waits,
	};

	meter->is_of_machine = scope->pid < 0;
	result = open_events(meter, &attributes, scope, events, count);
	if ((result == -EACCES || result == -EPERM) && scope->pid >= 0) {
		close_meter(meter);
		attr->exclude_kernel = attr->exclude_hv = 1;
		meter->is_of_user = true;
		result = open_events(meter, &attributes, scope, events, count);
	}
	meter->leader = is_leader ? meter : scope->group;
	return result ? result : grow_group(meter->leader);
}

static int open_perf(struct meter *meter, const struct meter_scope *wanted, char reason[METER_REASON_BYTES])
{
	struct pmu_event *events;
	int count = find_events(meter, reason, &events), result;

	if (count < 0)
		return count;
	result = open_found(meter, wanted, events, count);
	alloc_free(events);
	return result ? explain_meter_error(-result, meter->source, reason) : 0;
}

/* A child that was begun while the group was made has a part of it, and the kernel sums none. */
static int explain_read(int error, char reason[METER_REASON_BYTES])
{
	snprintf(reason, METER_REASON_BYTES, "it cannot be read: %s",
		 error == ECHILD ? "a process started while it was being opened" : strerror(error));
	return -error;
}

static int read_group(struct meter *leader, char reason[METER_REASON_BYTES])
{
	size_t room = GROUP_HEAD + 2 * leader->members;

	for (size_t i = 0; i < leader->count; i++) {
		const struct one *one = &leader->ones[i];
		ssize_t length;

		if (one->fd < 0)
			continue;
		length = read(one->fd, one->words, room * sizeof *one->words);
		if (length < 0)
			return explain_read(errno, reason);
		if (length < GROUP_HEAD * (ssize_t)sizeof *one->words || one->words[0] > leader->members ||
		    (size_t)length < (GROUP_HEAD + 2 * one->words[0]) * sizeof *one->words)
			return explain_read(EIO, reason);
	}
	return 0;
}

int meter_open(const struct counter_source *source, const struct meter_scope *scope, char reason[METER_REASON_BYTES],
	       struct meter **opened)
{
	struct meter *meter = alloc_zero(1, sizeof *meter);
	struct meter_reading reading;
	int result = 0;

	if (!meter) {
		snprintf(reason, METER_REASON_BYTES, "out of memory");
		return -ENOMEM;
	}
	meter->source = source;
	meter->fake = scope->fake;
	meter->is_gauge = scope->is_gauge;
	meter->is_of_machine = true;
	meter->is_alone = source->from == COUNTER_FILE;
	if (!meter->fake && source->from != COUNTER_FILE)
		result = open_perf(meter, scope, reason);
	if (!result && meter->leader && meter->leader != meter)
		result = read_group(meter->leader, reason);
	if (!result)
		result = meter_take(meter, reason, &reading);
	if (result)
		meter_free(meter);
	else
		*opened = meter;
	return result;
}

void meter_free(struct meter *meter)
{
	if (!meter)
		return;
	close_meter(meter);
	alloc_free(meter->ones);
	alloc_free(meter);
}

bool meter_is_of_user(const struct meter *meter)
{
	return meter->is_of_user;
}

bool meter_is_alone(const struct meter *meter)
{
	return meter->is_alone;
}

bool meter_is_of_machine(const struct meter *meter)
{
	return meter->is_of_machine;
}

/* What the group has of this member. */
static bool find_group_member(const struct one *leader, const struct one *one, struct counted *now)
{
	for (uint64_t i = 0; i < leader->words[0]; i++) {
		const uint64_t *member = leader->words + GROUP_HEAD + 2 * i;

		if (member[1] != one->id)
			continue;
		*now = (struct counted){ member[0], leader->words[1], leader->words[2] };
		return true;
	}
	return false;
}

static int take_perf(struct meter *meter, char reason[METER_REASON_BYTES], struct meter_reading *reading)
{
	double enabled = 0, running = 0;
	bool has_missed = false;
	int result = meter->leader == meter ? read_group(meter, reason) : 0;

	if (result)
		return result;
	reading->value = 0;
	for (size_t i = 0; i < meter->count; i++) {
		struct one *one = &meter->ones[i];
		struct counted now;

		if (one->fd < 0)
			continue;
		if (!find_group_member(&meter->leader->ones[i], one, &now)) {
			snprintf(reason, METER_REASON_BYTES, "its group has lost it");
			return -EIO;
		}
		double was_on = (double)(now.enabled - one->last.enabled);
		double ran = (double)(now.running - one->last.running);

		enabled += was_on;
		running += ran;
		has_missed = has_missed || (was_on > 0 && ran <= 0);
		if (ran > 0)
			reading->value += (double)(now.value - one->last.value) * (was_on / ran) * meter->times;
		one->last = now;
	}
	reading->running = enabled > 0 ? running / enabled : 1;
	reading->enabled_ns = enabled;
	reading->running_ns = running;
	if (has_missed)
		reading->value = NAN;
	return 0;
}

int meter_take(struct meter *meter, char reason[METER_REASON_BYTES], struct meter_reading *reading)
{
	struct meter_reading now = { .running = 1 };
	int result = 0;

	if (!meter->fake && meter->source->from != COUNTER_FILE)
		return take_perf(meter, reason, reading);
	if (meter->fake) {
		result = meter_fake_value(meter->fake, meter->source->text, meter->readings++, reason, &now);
		now.enabled_ns = FAKE_READING_NS;
		now.running_ns = now.enabled_ns * now.running;
	} else {
		result = meter_file_value(meter->source, reason, &now.value);
	}
	if (result)
		return result;
	*reading = now;
	reading->value = meter->is_gauge ? now.value : (now.value - meter->last) / now.running;
	if (now.running <= 0)
		reading->value = NAN;
	meter->last = now.value;
	return 0;
}
