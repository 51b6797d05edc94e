// SPDX-License-Identifier: BSD-2-Clause
/* Monitors as a program sees them: updates that come and go while one runs, what is promised, what is refused. */

#include "fixture.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char declared[] = "EVENT request_begin { id: u64 \"number\", bytes: u32 bytes, path: string[16] }\n";
static char folder[] = "/tmp/api-monitor-XXXXXX", source[64], catalog[48], *plant;

/* What an update has seen. */
struct seen {
	_Atomic uint64_t elements, wrong, prepared;
	_Atomic int released;
	pid_t evaluator, releaser;
	int id, path;
};

struct found;

struct stage {
	struct asterism_session *session;
	struct asterism_monitor *monitor;
	struct seen first, second;
	struct found *found;
	int ended;
};

static int prepare(void *context, const struct asterism_element *element)
{
	((struct seen *)context)->prepared++;
	return element->bytes != 0;
}

static void commit(void *context, int ok, const struct asterism_element *element)
{
	struct seen *seen = context;

	seen->evaluator = gettid();
	if (!ok || strcmp(asterism_element_text(element, seen->path), "/index") != 0 ||
	    asterism_element_u64(element, seen->id) != seen->elements || seen->released ||
	    asterism_element_u64(element, -ENOENT) || asterism_element_u64(element, 1 << 20))
		seen->wrong++;
	seen->elements++;
}

static void commit_any(void *context, int ok, const struct asterism_element *element)
{
	struct seen *seen = context;

	(void)ok;
	(void)element;
	if (seen->released)
		seen->wrong++;
	seen->elements++;
}

static void release(void *context)
{
	struct seen *seen = context;

	seen->releaser = gettid();
	seen->released++;
}

static int twins;

static void *twin(const void *context)
{
	(void)context;
	twins++;
	return calloc(1, sizeof(struct seen));
}

static void release_twin(void *context)
{
	twins--;
	free(context);
}

static void on_exit_of_plant(void *context, pid_t pid, int status)
{
	(void)pid;
	(void)status;
	((struct stage *)context)->ended = 1;
}

static int set_up(void **state)
{
	struct stage *stage = calloc(1, sizeof *stage);
	const struct asterism_session_options options = { .size = sizeof options,
							  .on_exit = on_exit_of_plant,
							  .context = stage };

	*state = stage;
	return stage ? asterism_session_open(&options, NULL, &stage->session) : -1;
}

static int tear_down(void **state)
{
	struct stage *stage = *state;

	asterism_session_free(stage->session);
	free(stage);
	return 0;
}

static int open_with(struct stage *stage, struct asterism_monitor_options *options)
{
	const char *const sensors[] = { source, NULL };

	options->size = sizeof *options;
	options->sensors = sensors;
	return asterism_monitor_open(stage->session, options, &stage->monitor);
}

/* Dispatches until count has reached wanted; gives up after a time that is only ever needed by failures. */
static void await(struct stage *stage, const _Atomic uint64_t *count, uint64_t wanted)
{
	for (int i = 0; i < 2000 && *count < wanted; i++)
		assert_true(asterism_session_wait(stage->session, 20) >= 0);
	assert_true(*count >= wanted);
}

static void come_and_go(void **state)
{
	struct stage *stage = *state;
	struct asterism_monitor_options options = { 0 };
	struct asterism_monitor_stats stats = { .size = sizeof stats };
	struct asterism_update first = {
		.size = sizeof first, .prepare = prepare, .commit = commit, .release = release
	};
	struct asterism_update second = { .size = sizeof second, .commit = commit_any, .release = release };
	char *const command[] = { plant, "paced", "1000000", "500", NULL };
	int64_t name;
	pid_t pid;

	first.context = &stage->first;
	second.context = &stage->second;
	assert_int_equal(open_with(stage, &options), 0);
	stage->first.id = asterism_monitor_field(stage->monitor, "request_begin", "id");
	stage->first.path = asterism_monitor_field(stage->monitor, "request_begin", "path");
	assert_true(asterism_monitor_add_update(stage->monitor, "request_begin", &first) >= 0);
	assert_int_equal(asterism_monitor_start(stage->monitor, NULL), 0);
	assert_int_equal(asterism_monitor_start(stage->monitor, NULL), -EINVAL);
	assert_int_equal(asterism_session_launch(stage->session, command, &pid), 0);
	await(stage, &stage->first.elements, 20);

	name = asterism_monitor_add_update(stage->monitor, NULL, &second);
	assert_true(name >= 0);
	await(stage, &stage->second.elements, 20);
	assert_int_equal(asterism_monitor_remove_update(stage->monitor, name), 0);
	assert_int_equal(asterism_monitor_remove_update(stage->monitor, name), -ENOENT);
	for (int i = 0; i < 2000 && !stage->second.released; i++)
		assert_true(asterism_session_wait(stage->session, 20) >= 0);
	assert_int_equal(stage->second.released, 1);
	assert_int_equal(stage->second.releaser, gettid());
	await(stage, &stage->first.elements, stage->first.elements + 20);

	kill(pid, SIGKILL);
	for (int i = 0; i < 2000 && !stage->ended; i++)
		assert_true(asterism_session_wait(stage->session, 20) >= 0);
	assert_int_equal(asterism_monitor_finish(stage->monitor), 0);
	assert_int_equal(asterism_monitor_finish(stage->monitor), -EINVAL);
	assert_int_equal(asterism_monitor_stats(stage->monitor, &stats), 0);
	assert_int_equal(stats.elements, stage->first.elements);
	assert_int_equal(stats.lost, 0);
	assert_int_equal(stats.processes, 1);
	assert_int_equal(stage->first.wrong + stage->second.wrong, 0);
	assert_int_equal(stage->first.prepared, stage->first.elements);
	assert_int_not_equal(stage->first.evaluator, gettid());
	asterism_monitor_stop(stage->monitor);
	assert_int_equal(stage->first.released, 1);
	assert_int_equal(stage->second.released, 1);
}

struct found {
	uint64_t matches, wrong;
	struct asterism_rules *unit;
	int unloads; /* the unit, with the first match */
};

static int on_match(void *context, const struct asterism_match *match)
{
	struct found *found = ((struct stage *)context)->found;
	struct asterism_value value;

	found->wrong += asterism_match_unit(match) != found->unit || strcmp(asterism_match_rule(match), "pair") != 0 ||
			asterism_match_value(match, 0, &value) || value.as.u64 != found->matches;
	found->matches++;
	if (found->unloads)
		asterism_rules_unload(found->unit);
	return ASTERISM_CONTINUE;
}

static struct asterism_rules *load_rule(struct stage *stage, const char *sensors, const char *rest)
{
	struct asterism_rules *unit = NULL;
	char text[512];

	snprintf(text, sizeof text, "EVENTS \"%s\" %s", sensors, rest);
	assert_int_equal(asterism_rules_load_text(stage->session, text, strlen(text), NULL, &unit), 0);
	return unit;
}

#define PAIR                                                                                   \
	"RULE pair PATTERN { [request_begin:a, request_begin:b] } WHERE { b.id == a.id + 1 } " \
	"RETURN { a.id, b.path }"

static void open_with_matches(struct stage *stage, struct found *found)
{
	const struct asterism_session_options options = {
		.size = sizeof options, .on_exit = on_exit_of_plant, .on_match = on_match, .context = stage
	};
	struct asterism_monitor_options monitor = { 0 };

	asterism_session_free(stage->session);
	stage->found = found;
	assert_int_equal(asterism_session_open(&options, NULL, &stage->session), 0);
	assert_int_equal(open_with(stage, &monitor), 0);
}

/* Rules of a unit are evaluated as updates are, beside them, and their matches come with the dispatch. */
static void rules(void **state)
{
	struct stage *stage = *state;
	struct found found = { 0 };
	struct asterism_monitor_stats stats = { .size = sizeof stats };
	struct asterism_rule_info info = { .size = sizeof info };
	struct asterism_update update = { .size = sizeof update, .commit = commit_any, .context = &stage->first };
	char *const command[] = { plant, "paced", "100", "500", NULL };

	open_with_matches(stage, &found);
	found.unit = load_rule(stage, source, PAIR);
	assert_true(asterism_monitor_add_rules(stage->monitor, found.unit) >= 0);
	assert_true(asterism_monitor_add_update(stage->monitor, NULL, &update) >= 0);
	assert_int_equal(asterism_monitor_start(stage->monitor, NULL), 0);
	assert_int_equal(asterism_session_launch(stage->session, command, NULL), 0);
	for (int i = 0; i < 2000 && !stage->ended; i++)
		assert_true(asterism_session_wait(stage->session, 20) >= 0);
	assert_int_equal(asterism_monitor_finish(stage->monitor), 0);
	assert_true(asterism_session_dispatch(stage->session) >= 0);
	assert_int_equal(asterism_monitor_stats(stage->monitor, &stats), 0);
	assert_int_equal(stats.elements, 100);
	assert_int_equal(stats.untold, 0);
	assert_int_equal(stage->first.elements, 100);
	assert_int_equal(found.matches, 99);
	assert_int_equal(found.wrong, 0);
	asterism_monitor_stop(stage->monitor);
	assert_int_equal(asterism_rules_info(found.unit, 0, &info), 0);
	assert_int_equal(info.matches, 99);
	asterism_rules_unload(found.unit);
}

/* A unit may be unloaded while a monitor evaluates it, even by what it finds. */
static void rules_go(void **state)
{
	struct stage *stage = *state;
	struct found found = { .unloads = 1 };
	struct asterism_update update = { .size = sizeof update, .commit = commit_any, .context = &stage->first };
	char *const command[] = { plant, "paced", "1000000", "500", NULL };
	pid_t pid;

	open_with_matches(stage, &found);
	found.unit = load_rule(stage, source, PAIR);
	assert_true(asterism_monitor_add_rules(stage->monitor, found.unit) >= 0);
	assert_true(asterism_monitor_add_update(stage->monitor, NULL, &update) >= 0);
	assert_int_equal(asterism_monitor_start(stage->monitor, NULL), 0);
	assert_int_equal(asterism_session_launch(stage->session, command, &pid), 0);
	for (int i = 0; i < 2000 && !found.matches; i++)
		assert_true(asterism_session_wait(stage->session, 20) >= 0);
	found.unloads = 0;
	await(stage, &stage->first.elements, stage->first.elements + 100);
	assert_int_equal(found.wrong, 0);
	found.unit = load_rule(stage, source, PAIR);
	assert_true(asterism_monitor_add_rules(stage->monitor, found.unit) >= 0);
	await(stage, &stage->first.elements, stage->first.elements + 100);
	kill(pid, SIGKILL);
	asterism_rules_unload(found.unit);
	asterism_monitor_stop(stage->monitor);
}

static void wrong_rules(void **state)
{
	struct stage *stage = *state;
	struct found found = { 0 };
	const struct {
		const char *rest, *says;
		int result;
	} rows[] = {
		{ "RULE r PATTERN { [request_begin:a, sched_switch:b] }", "waits for an event of the kernel",
		  -EOPNOTSUPP },
		{ "RULE r PATTERN { [request_begin:a] } DO { CALL Kill(#PID) }",
		  "calls actions, which rules of a monitor cannot do", -EOPNOTSUPP },
		{ "RULE r PATTERN { [request_begin:a] } AGGREGATE { COUNT }", "AGGREGATE", -EOPNOTSUPP },
	};

	open_with_matches(stage, &found);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct asterism_rules *unit = load_rule(stage, source, rows[i].rest);

		assert_int_equal(asterism_monitor_add_rules(stage->monitor, unit), rows[i].result);
		assert_non_null(strstr(asterism_session_error(stage->session), rows[i].says));
		asterism_rules_unload(unit);
	}
	assert_int_equal(asterism_monitor_add_rules(stage->monitor, NULL), -EINVAL);
	asterism_monitor_stop(stage->monitor);
}

/* What an update costs is tried with a twin of it; without one it has to be said. */
static void promises(void **state)
{
	struct stage *stage = *state;
	const struct asterism_monitor_rate rate = { .sensor = "request_begin", .count = 100, .time_ns = 1000000000 };
	struct asterism_monitor_options options = { .rates = &rate,
						    .rate_count = 1,
						    .policy = ASTERISM_MONITOR_BEST_EFFORT };
	struct asterism_monitor_promise promise = { .size = sizeof promise };
	struct asterism_update update = {
		.size = sizeof update, .name = "mine", .commit = commit_any, .context = &stage->first
	};

	assert_int_equal(open_with(stage, &options), 0);
	assert_true(asterism_monitor_add_update(stage->monitor, "request_begin", &update) >= 0);
	assert_int_equal(asterism_monitor_start(stage->monitor, &promise), -ENOTSUP);
	assert_non_null(strstr(asterism_session_error(stage->session), "mine"));
	asterism_monitor_stop(stage->monitor);

	update.twin = twin;
	update.release = release_twin;
	update.context = twin(NULL);
	assert_int_equal(open_with(stage, &options), 0);
	assert_true(asterism_monitor_add_update(stage->monitor, "request_begin", &update) >= 0);
	assert_int_equal(asterism_monitor_start(stage->monitor, &promise), 0);
	assert_int_equal(twins, 1);
	assert_int_equal(promise.policy, ASTERISM_MONITOR_BEST_EFFORT);
	assert_int_equal(promise.is_guaranteed, 0);
	assert_non_null(promise.no_guarantee);
	assert_true(promise.latency_ns > 0);
	assert_true(promise.bound_ns == promise.latency_ns + promise.visible_ns + promise.hold_ns + promise.system_ns);
	asterism_monitor_stop(stage->monitor);
	assert_int_equal(twins, 0);
}

static void commit_slowly(void *context, int ok, const struct asterism_element *element)
{
	struct seen *seen = context;
	struct timespec used;
	uint64_t until = 0, now;

	(void)ok;
	(void)element;
	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
		now = (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
		until = until ? until : now + 5000000;
	} while (now < until);
	seen->elements++;
}

/* An update that takes far more than was said costs the promise, and not the program: nothing here takes SIGXCPU. */
static void too_slow(void **state)
{
	struct stage *stage = *state;
	const struct asterism_monitor_rate rate = {
		.sensor = "request_begin", .count = 1000, .time_ns = 1000000000, .cost_ns = 1000
	};
	struct asterism_monitor_options options = { .rates = &rate, .rate_count = 1 };
	struct asterism_monitor_stats stats = { .size = sizeof stats };
	struct asterism_update update = { .size = sizeof update, .commit = commit_slowly, .context = &stage->first };
	char *const command[] = { plant, "paced", "20", "2000", NULL };

	assert_int_equal(open_with(stage, &options), 0);
	assert_true(asterism_monitor_add_update(stage->monitor, "request_begin", &update) >= 0);
	assert_int_equal(asterism_monitor_start(stage->monitor, NULL), 0);
	assert_int_equal(asterism_session_launch(stage->session, command, NULL), 0);
	await(stage, &stage->first.elements, 20);
	assert_int_equal(asterism_monitor_finish(stage->monitor), 0);
	assert_int_equal(asterism_monitor_stats(stage->monitor, &stats), 0);
	assert_int_equal(stats.elements, 20);
	assert_true(stats.violations > 0);
	assert_true(stats.most_ns > stats.bound_ns);
}

/* Only copies are made in time: updates see them in the thread that dispatches. */
static void copies(void **state)
{
	struct stage *stage = *state;
	struct asterism_monitor_options options = { .copies = 1 };
	struct asterism_monitor_stats stats = { .size = sizeof stats };
	struct asterism_update update = { .size = sizeof update, .commit = commit, .context = &stage->first };
	char *const command[] = { plant, "paced", "50", "500", NULL };

	assert_int_equal(open_with(stage, &options), 0);
	stage->first.id = asterism_monitor_field(stage->monitor, "request_begin", "id");
	stage->first.path = asterism_monitor_field(stage->monitor, "request_begin", "path");
	assert_true(asterism_monitor_add_update(stage->monitor, "request_begin", &update) >= 0);
	assert_int_equal(asterism_monitor_start(stage->monitor, NULL), 0);
	assert_int_equal(asterism_session_launch(stage->session, command, NULL), 0);
	await(stage, &stage->first.elements, 50);
	assert_int_equal(stage->first.evaluator, gettid());
	assert_int_equal(asterism_monitor_finish(stage->monitor), 0);
	assert_int_equal(asterism_monitor_stats(stage->monitor, &stats), 0);
	assert_int_equal(stats.elements, 50);
	assert_int_equal(stats.uncopied, 0);
	assert_int_equal(stage->first.wrong, 0);
}

static void refusals(void **state)
{
	struct stage *stage = *state;
	const struct asterism_monitor_rate rate = { .sensor = "nobody", .count = 1, .time_ns = 1 };
	const char *const comms[] = { "sh", NULL };
	const struct asterism_session_options narrow = { .size = sizeof narrow, .comms = comms };
	struct asterism_monitor_options options = { .rates = &rate, .rate_count = 1 };
	struct asterism_monitor_stats stats = { .size = 3 };
	struct asterism_update update = { .size = sizeof update };
	struct stage other = { 0 };

	assert_int_equal(open_with(stage, &options), -EINVAL);
	options.rate_count = 0;
	options.policy = 9;
	assert_int_equal(open_with(stage, &options), -EINVAL);
	options.policy = ASTERISM_MONITOR_USUAL;
	assert_int_equal(asterism_session_open(&narrow, NULL, &other.session), 0);
	assert_int_equal(open_with(&other, &options), -EOPNOTSUPP);
	asterism_session_free(other.session);
	assert_int_equal(open_with(stage, &options), 0);
	assert_int_equal(asterism_monitor_add_update(stage->monitor, "request_begin", &update), -EINVAL);
	update.commit = commit_any;
	assert_int_equal(asterism_monitor_add_update(stage->monitor, "nobody", &update), -ENOENT);
	assert_int_equal(asterism_monitor_field(stage->monitor, "request_begin", "nothing"), -ENOENT);
	assert_int_equal(asterism_monitor_sensor(stage->monitor, "nobody"), -ENOENT);
	assert_int_equal(asterism_monitor_stats(stage->monitor, &stats), -EINVAL);
	assert_int_equal(asterism_monitor_finish(stage->monitor), -EINVAL);
	asterism_monitor_stop(NULL);
}

static int prepare_folder(void)
{
	char path[64];
	FILE *file;

	if (!mkdtemp(folder))
		return -1;
	snprintf(catalog, sizeof catalog, "%s/shop.events", folder);
	snprintf(source, sizeof source, "sensor:%s", catalog);
	snprintf(path, sizeof path, "%s/socket", folder);
	file = fopen(catalog, "w");
	if (!file)
		return -1;
	fputs(declared, file);
	return fclose(file) || setenv("ASTERISM_SENSORS", path, 1);
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(come_and_go, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rules, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rules_go, set_up, tear_down),
		cmocka_unit_test_setup_teardown(wrong_rules, set_up, tear_down),
		cmocka_unit_test_setup_teardown(promises, set_up, tear_down),
		cmocka_unit_test_setup_teardown(too_slow, set_up, tear_down),
		cmocka_unit_test_setup_teardown(copies, set_up, tear_down),
		cmocka_unit_test_setup_teardown(refusals, set_up, tear_down),
	};
	int failed;

	if (count != 2 || prepare_folder())
		return 2;
	if (getuid())
		return SKIPPED;
	plant = arguments[1];
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(catalog);
	rmdir(folder);
	return failed;
}
