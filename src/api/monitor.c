// SPDX-License-Identifier: BSD-2-Clause
/* Monitors of a session: makes functions of a program their evaluations. */

#include "api/monitor-priv.h"

#include "api/sized.h"
#include "base/alloc.h"
#include "sensor/catalog.h"
#include "session/executor/kinds.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { USUAL_PERIODS = 3 };

/* ---- updates */

struct update {
	struct monitor_evaluation_kind kind; /* what of it there is */
	struct asterism_update own;
	char *name;
};

static struct asterism_element element_of(const struct monitor_element *element)
{
	return (struct asterism_element){
		.sensor = element->sensor,
		.pid = element->pid,
		.tid = element->tid,
		.is_late = element->is_late,
		.at_ns = element->at_ns,
		.data = element->data,
		.bytes = element->bytes,
	};
}

static bool prepare_update(void *context, const struct monitor_element *element)
{
	const struct update *update = context;
	const struct asterism_element shown = element_of(element);

	return update->own.prepare(update->own.context, &shown) != 0;
}

static void commit_processes(void *context, bool ok, const struct monitor_element *element)
{
	const struct update *update = context;
	const struct asterism_element shown = element_of(element);

	update->own.commit(update->own.context, ok, &shown);
}

static void lose_process_events(void *context, uint64_t lost)
{
	const struct update *update = context;

	update->own.lost(update->own.context, lost);
}

static void pass_processes(void *context, uint64_t now_ns)
{
	const struct update *update = context;

	update->own.passed(update->own.context, now_ns);
}

static void free_update(struct update *update)
{
	if (update)
		alloc_free(update->name);
	alloc_free(update);
}

static void release_processes(void *context)
{
	struct update *update = context;

	if (update->own.release)
		update->own.release(update->own.context);
	free_update(update);
}

static void *twin_processes(const void *context);

static struct update *make_update(const struct asterism_update *own)
{
	struct update *update = alloc_zero(1, sizeof *update);

	if (!update)
		return NULL;
	update->own = *own;
	update->name = alloc_text(own->name ? own->name : "update");
	if (!update->name) {
		free_update(update);
		return NULL;
	}
	update->own.name = update->name;
	update->kind = (struct monitor_evaluation_kind){
		.name = update->name,
		.prepare = own->prepare ? prepare_update : NULL,
		.commit = commit_processes,
		.lose = own->lost ? lose_process_events : NULL,
		.pass = own->passed ? pass_processes : NULL,
		.twin = own->twin ? twin_processes : NULL,
		.release = release_processes,
	};
	return update;
}

static void *twin_processes(const void *context)
{
	const struct update *update = context;
	struct update *made = make_update(&update->own);

	if (made)
		made->own.context = update->own.twin(update->own.context);
	if (made && made->own.context)
		return made;
	free_update(made);
	return NULL;
}

/* ---- the beginning */

static int read_monitor_sensors(struct asterism_monitor *monitor, const char *name)
{
	struct asterism_diag *diag = monitor->session->diag;
	char full[1024];
	int result;

	snprintf(full, sizeof full, "%s%s",
		 strncmp(name, SENSOR_CATALOG_PREFIX, sizeof SENSOR_CATALOG_PREFIX - 1) == 0 ? ""
											     : SENSOR_CATALOG_PREFIX,
		 name);
	result = event_catalog_read(monitor->catalog, ".", full, diag);
	return result == -ENOENT ? diag_error(diag, NULL, -EINVAL, "no sensor matches %s", full) : result;
}

/* All sensors that the catalog has by now. */
static int want_all(struct asterism_monitor *monitor)
{
	const struct event_type *type;
	size_t count = 0;

	for (size_t i = 0; (type = event_catalog_get(monitor->catalog, i)); i++)
		count += type->sensor != NULL;
	monitor->wants.items = alloc_zero(count + 1, sizeof *monitor->wants.items);
	if (!monitor->wants.items)
		return diag_no_memory(monitor->session->diag);
	for (size_t i = 0; (type = event_catalog_get(monitor->catalog, i)); i++) {
		uint32_t number = (uint32_t)monitor->wants.count;

		if (type->sensor)
			monitor->wants.items[monitor->wants.count++] =
				(struct stream_want){ .type = type, .name = type->sensor, .number = number };
	}
	return 0;
}

static int find_monitor_wants(struct asterism_monitor *monitor)
{
	const char *const *names = monitor->options.sensors;
	int result = session_catalog_new(monitor->session->diag, &monitor->catalog);

	if (!result && !names)
		result = diag_error(monitor->session->diag, NULL, -EINVAL, "no sensors were named");
	while (!result && *names)
		result = read_monitor_sensors(monitor, *names++);
	return result ? result : want_all(monitor);
}

static int declare_sensors(struct asterism_monitor *monitor)
{
	const struct asterism_monitor_options *options = &monitor->options;

	monitor->declared = alloc_zero(options->rate_count + 1, sizeof *monitor->declared);
	if (!monitor->declared)
		return diag_no_memory(monitor->session->diag);
	for (size_t i = 0; i < options->rate_count; i++) {
		const struct asterism_monitor_rate *rate = &options->rates[i];

		if (!rate->sensor || (rate->count && !rate->time_ns))
			return diag_error(monitor->session->diag, NULL, -EINVAL,
					  "rates[%zu]: the sensor's name or the interval is missing", i);
		monitor->declared[i] = (struct monitor_declared){
			.name = rate->sensor,
			.rate = { rate->count, rate->time_ns, rate->burst ? rate->burst : 1, rate->spacing_ns },
			.cost_ns = rate->cost_ns,
		};
	}
	return 0;
}

static bool monitored_in_scope(void *context, pid_t pid, pid_t parent)
{
	const struct asterism_monitor *monitor = context;

	return executor_had(monitor->scope, pid, parent);
}

/* What the core has for it. */
static const enum schedule_policy policies[] = {
	[ASTERISM_MONITOR_USUAL] = SCHEDULE_DEADLINE,
	[ASTERISM_MONITOR_DEADLINE] = SCHEDULE_DEADLINE,
	[ASTERISM_MONITOR_FIFO] = SCHEDULE_FIFO,
	[ASTERISM_MONITOR_BEST_EFFORT] = SCHEDULE_BEST_EFFORT,
};

static int open_monitor_engine(struct asterism_monitor *monitor)
{
	const struct asterism_monitor_options *options = &monitor->options;
	uint64_t period_ns = options->period_ns ? options->period_ns : MONITOR_PERIOD_NS;
	struct monitor_options engine = {
		.wants = monitor->wants,
		.declared = monitor->declared,
		.declared_count = options->rate_count,
		.period_ns = period_ns,
		.deadline_ns = options->deadline_ns,
		.latency_ns = options->latency_ns ? options->latency_ns : USUAL_PERIODS * period_ns,
		.hold_ns = options->hold_ns,
		.policy = policies[options->policy],
		.policy_is_demanded = options->policy != ASTERISM_MONITOR_USUAL,
		.needs_rate = options->policy == ASTERISM_MONITOR_DEADLINE || options->policy == ASTERISM_MONITOR_FIFO,
		.copies = options->copies != 0,
		.keeps_signals = true,
		.in_scope = monitored_in_scope,
		.context = monitor,
		.diag = monitor->diag,
	};

	for (size_t i = 0; i < engine.wants.count; i++)
		if (engine.wants.items[i].type->record_bytes > engine.record_bytes)
			engine.record_bytes = engine.wants.items[i].type->record_bytes;
	return monitor_new(&engine, monitor->session->diag, &monitor->engine);
}

static int open_scope(struct asterism_monitor *monitor)
{
	const struct asterism_session *session = monitor->session;
	const struct executor_options scope = { .scope = api_scope_of(session) };
	int result = bare_open(&scope, session->diag, &monitor->scope);

	for (size_t i = 0; i < session->processes.count && !result; i++) {
		result = executor_add(monitor->scope, session->processes.items[i].pid);
		result = result == -ESRCH ? 0 : result;
	}
	return result;
}

static int open_monitor(struct asterism_monitor *monitor)
{
	struct asterism_diag *diag = monitor->session->diag;
	int result;

	if (monitor->options.policy > ASTERISM_MONITOR_BEST_EFFORT)
		return diag_error(diag, NULL, -EINVAL, "invalid policy %d", (int)monitor->options.policy);
	if (live_filter_get(monitor->session->filter))
		return diag_error(diag, NULL, -EOPNOTSUPP,
				  "a monitor needs a session whose scope is not narrowed down by user, name or cgroup");
	monitor->diag = asterism_diag_new();
	monitor->news = asterism_diag_new();
	if (!monitor->diag || !monitor->news)
		return diag_no_memory(diag);
	result = find_monitor_wants(monitor);
	if (!result)
		result = declare_sensors(monitor);
	if (!result)
		result = open_scope(monitor);
	return result ? result : open_monitor_engine(monitor);
}

static void free_monitor(struct asterism_monitor *monitor)
{
	monitor_free(monitor->engine);
	executor_free(monitor->scope);
	alloc_free(monitor->declared);
	alloc_free(monitor->wants.items);
	event_catalog_free(monitor->catalog);
	asterism_diag_free(monitor->diag);
	asterism_diag_free(monitor->news);
	alloc_free(monitor);
}

int asterism_monitor_open(struct asterism_session *session, const struct asterism_monitor_options *options,
			  struct asterism_monitor **opened)
{
	struct asterism_monitor *monitor;
	int result;

	asterism_diag_clear(session->diag);
	monitor = alloc_zero(1, sizeof *monitor);
	if (!monitor)
		return diag_no_memory(session->diag);
	monitor->session = session;
	if (!options || sized_take(&monitor->options, sizeof monitor->options, options))
		result = sized_refuse(session->diag, "options", options, sizeof monitor->options);
	else if (!opened)
		result = diag_error(session->diag, NULL, -EINVAL, "the monitor to return is NULL");
	else
		result = open_monitor(monitor);
	if (result) {
		free_monitor(monitor);
		return result;
	}
	monitor->next = session->monitors;
	session->monitors = monitor;
	*opened = monitor;
	return 0;
}

/* ---- sensors, fields, updates */

static const struct stream_want *find_want(const struct asterism_monitor *monitor, const char *sensor)
{
	for (size_t i = 0; i < monitor->wants.count; i++) {
		const struct stream_want *want = &monitor->wants.items[i];

		if (sensor && (strcmp(want->type->name, sensor) == 0 || strcmp(want->name, sensor) == 0))
			return want;
	}
	return NULL;
}

int asterism_monitor_sensor(const struct asterism_monitor *monitor, const char *sensor)
{
	const struct stream_want *want = find_want(monitor, sensor);

	return want ? (int)want->number : -ENOENT;
}

int asterism_monitor_field(const struct asterism_monitor *monitor, const char *sensor, const char *field)
{
	const struct stream_want *want = find_want(monitor, sensor);

	for (uint32_t i = 0; want && field && i < want->type->field_count; i++)
		if (strcmp(want->type->fields[i].name, field) == 0)
			return (int)want->type->fields[i].offset;
	return -ENOENT;
}

static bool element_has_field(const struct asterism_element *element, int field)
{
	return field >= (int)sizeof(struct event_header) && (uint32_t)field + sizeof(uint64_t) <= element->bytes;
}

uint64_t asterism_element_u64(const struct asterism_element *element, int field)
{
	uint64_t value = 0;

	if (element_has_field(element, field))
		memcpy(&value, (const char *)element->data + field, sizeof value);
	return value;
}

double asterism_element_f64(const struct asterism_element *element, int field)
{
	double value = 0;

	if (element_has_field(element, field))
		memcpy(&value, (const char *)element->data + field, sizeof value);
	return value;
}

const char *asterism_element_text(const struct asterism_element *element, int field)
{
	return element_has_field(element, field) ? (const char *)element->data + field : "";
}

int64_t asterism_monitor_add_update(struct asterism_monitor *monitor, const char *sensor,
				    const struct asterism_update *update)
{
	struct asterism_diag *diag = monitor->session->diag;
	const struct stream_want *want = find_want(monitor, sensor);
	struct asterism_update own;
	struct update *made;
	int64_t name;

	asterism_diag_clear(diag);
	if (!update || sized_take(&own, sizeof own, update))
		return sized_refuse(diag, "update", update, sizeof own);
	if (!own.commit)
		return diag_error(diag, NULL, -EINVAL, "the update has no commit function");
	if (sensor && !want)
		return diag_error(diag, NULL, -ENOENT, "the monitor does not read a sensor %s", sensor);
	made = make_update(&own);
	if (!made)
		return diag_no_memory(diag);
	name = monitor_add(monitor->engine, want ? (int64_t)want->number : MONITOR_ANY_SENSOR, &made->kind, made);
	if (name >= 0)
		return name;
	free_update(made);
	return diag_no_memory(diag);
}

int asterism_monitor_remove_update(struct asterism_monitor *monitor, int64_t name)
{
	int result = monitor_remove(monitor->engine, name);

	asterism_diag_clear(monitor->session->diag);
	if (result == -ENOENT)
		return diag_error(monitor->session->diag, NULL, result, "no update with this number is pending");
	return result ? diag_no_memory(monitor->session->diag) : 0;
}

/* ---- while it runs */

static enum asterism_monitor_policy policy_of(enum schedule_policy policy)
{
	enum asterism_monitor_policy found = ASTERISM_MONITOR_DEADLINE;

	while (found < ASTERISM_MONITOR_BEST_EFFORT && policies[found] != policy)
		found++;
	return found;
}

static int give_promise(const struct asterism_monitor *monitor, struct asterism_monitor_promise *promise)
{
	const struct monitor_promise *made = &monitor->promise;
	const struct asterism_monitor_promise own = {
		.is_guaranteed = made->is_guaranteed,
		.no_guarantee = made->no_guarantee,
		.policy = policy_of(made->policy),
		.period_ns = made->period_ns,
		.deadline_ns = made->deadline_ns,
		.runtime_ns = made->runtime_ns,
		.latency_ns = made->latency_ns,
		.visible_ns = made->visible_ns,
		.hold_ns = made->hold_ns,
		.system_ns = made->system_ns,
		.bound_ns = made->bound_ns,
	};

	return sized_give(promise, &own, sizeof own);
}

int asterism_monitor_start(struct asterism_monitor *monitor, struct asterism_monitor_promise *promise)
{
	struct asterism_session *session = monitor->session;
	int result;

	asterism_diag_clear(session->diag);
	if (monitor->runs || monitor->has_ended)
		return diag_error(session->diag, NULL, -EINVAL, "the monitor is already running");
	if (promise && give_promise(monitor, promise))
		return sized_refuse(session->diag, "promise", promise, sizeof *promise);
	monitor->has_ended = true; /* one that could not be started is of no use any more */
	result = monitor_admit(monitor->engine, session->diag, &monitor->promise);
	if (!result)
		result = live_loop_watch(&session->loop, monitor_fd(monitor->engine), LIVE_WAKE_RULES, session->diag);
	if (result)
		return result;
	monitor_begin(monitor->engine);
	monitor->has_ended = false;
	monitor->runs = true;
	live_loop_arm(&session->loop, 0);
	return promise ? give_promise(monitor, promise) : 0;
}

int asterism_monitor_finish(struct asterism_monitor *monitor)
{
	struct asterism_session *session = monitor->session;
	bool is_whole;

	asterism_diag_clear(session->diag);
	if (!monitor->runs)
		return diag_error(session->diag, NULL, -EINVAL, "the monitor is not running");
	live_loop_forget(&session->loop, monitor_fd(monitor->engine));
	is_whole = monitor_end(monitor->engine);
	monitor->runs = false;
	monitor->has_ended = true;
	return is_whole ? 0 : diag_error(session->diag, NULL, -ETIMEDOUT, "some events were not evaluated within 10 s");
}

void asterism_monitor_stop(struct asterism_monitor *monitor)
{
	struct asterism_session *session;

	if (!monitor)
		return;
	session = monitor->session;
	for (struct asterism_monitor **link = &session->monitors; *link; link = &(*link)->next) {
		if (*link == monitor) {
			*link = monitor->next;
			break;
		}
	}
	if (monitor->runs)
		live_loop_forget(&session->loop, monitor_fd(monitor->engine));
	free_monitor(monitor);
}

int asterism_monitor_stats(const struct asterism_monitor *monitor, struct asterism_monitor_stats *stats)
{
	const struct watch *watch = monitor_watch(monitor->engine);
	struct intake_counts counts = { 0 };
	uint64_t unused;
	struct asterism_monitor_stats own = { .bound_ns = monitor->promise.bound_ns };

	if (monitor->promise.period_ns) {
		own.elements = atomic_load(&watch->elements);
		own.lost = atomic_load(&watch->lost);
		own.violations = atomic_load(&watch->violations);
		own.most_ns = atomic_load(&watch->most_ns);
		own.untold = api_monitor_rules_untold(monitor);
		own.mean_ns = own.elements ? atomic_load(&watch->sum_ns) / own.elements : 0;
		monitor_count_copies(monitor->engine, &own.uncopied, &unused);
	}
	if (monitor->promise.period_ns && monitor->has_ended)
		monitor_count(monitor->engine, &counts);
	own.late = counts.late;
	own.unfinished = counts.unfinished;
	own.processes = counts.processes;
	own.out_of_scope = counts.out_of_scope;
	own.failed = counts.failed;
	return sized_give(stats, &own, sizeof own);
}

const struct asterism_diag *asterism_monitor_news(struct asterism_monitor *monitor)
{
	asterism_diag_clear(monitor->news);
	diag_take(monitor->news, monitor->diag);
	return monitor->news;
}

/* ---- the session's */

int api_monitors_enter(struct asterism_session *session, pid_t pid)
{
	int result = 0;

	for (struct asterism_monitor *monitor = session->monitors; monitor && !result; monitor = monitor->next)
		result = executor_add(monitor->scope, pid);
	return result ? diag_error(session->diag, NULL, result, "cannot monitor process %d: %s", (int)pid,
				   strerror(-result))
		      : 0;
}

int api_monitors_poll(struct asterism_session *session, uint64_t *wait_ns)
{
	int result = 0;

	for (struct asterism_monitor *monitor = session->monitors; monitor && !result; monitor = monitor->next) {
		if (monitor->runs)
			result = monitor_step(monitor->engine);
		else
			monitor_idle(monitor->engine);
		result = result ? result : api_monitor_rules_take(monitor);
		if (monitor->runs)
			*wait_ns = *wait_ns < MONITOR_STEP_NS ? *wait_ns : MONITOR_STEP_NS;
	}
	return result ? diag_error(session->diag, NULL, result, "cannot read sensors: %s", strerror(-result)) : 0;
}
