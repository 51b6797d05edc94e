// SPDX-License-Identifier: BSD-2-Clause
/*
 * How long requests take, of whatever raises request_begin and request_end with an id, as sensor-server does:
 *
 *	monitor sensor:FILE COMMAND [ARGUMENT...]
 */

#include <asterism/asterism.h>
#include <stdio.h>

enum { PENDING = 4096 };

/* The monitor's thread writes, and main reads once it has ended. */
struct durations {
	int begin_id, end_id; /* where the fields are */
	uint64_t begun_ns[PENDING], ids[PENDING];
	uint64_t count, sum_ns, most_ns, lost;
};

static void on_begin(void *context, int ok, const struct asterism_element *element)
{
	struct durations *durations = context;
	uint64_t id = asterism_element_u64(element, durations->begin_id);

	if (!ok)
		return;
	durations->ids[id % PENDING] = id;
	durations->begun_ns[id % PENDING] = element->at_ns;
}

static void on_end(void *context, int ok, const struct asterism_element *element)
{
	struct durations *durations = context;
	uint64_t id = asterism_element_u64(element, durations->end_id);
	uint64_t ns = element->at_ns - durations->begun_ns[id % PENDING];

	if (!ok || durations->ids[id % PENDING] != id || !durations->begun_ns[id % PENDING])
		return;
	durations->count++;
	durations->sum_ns += ns;
	durations->most_ns = ns > durations->most_ns ? ns : durations->most_ns;
}

static void on_lost(void *context, uint64_t lost)
{
	((struct durations *)context)->lost += lost;
}

static void on_exit_of_command(void *context, pid_t pid, int status)
{
	(void)pid;
	(void)status;
	*(int *)context = 1;
}

int main(int count, char **arguments)
{
	static struct durations durations;
	int ended = 0, result;
	const char *const sensors[] = { count > 2 ? arguments[1] : "", NULL };
	const struct asterism_session_options scope = { .size = sizeof scope,
							.on_exit = on_exit_of_command,
							.context = &ended };
	const struct asterism_monitor_options options = { .size = sizeof options, .sensors = sensors };
	const struct asterism_update begin = { .size = sizeof begin, .commit = on_begin, .context = &durations };
	const struct asterism_update end = {
		.size = sizeof end, .commit = on_end, .lost = on_lost, .context = &durations
	};
	struct asterism_monitor_promise promise = { .size = sizeof promise };
	struct asterism_monitor_stats stats = { .size = sizeof stats };
	struct asterism_session *session;
	struct asterism_monitor *monitor = NULL;

	if (count < 3 || asterism_session_open(&scope, NULL, &session))
		return 2;
	result = asterism_monitor_open(session, &options, &monitor);
	if (!result) {
		durations.begin_id = asterism_monitor_field(monitor, "request_begin", "id");
		durations.end_id = asterism_monitor_field(monitor, "request_end", "id");
	}
	if (result || asterism_monitor_add_update(monitor, "request_begin", &begin) < 0 ||
	    asterism_monitor_add_update(monitor, "request_end", &end) < 0 ||
	    asterism_monitor_start(monitor, &promise) || asterism_session_launch(session, arguments + 2, NULL)) {
		fprintf(stderr, "monitor: %s\n", asterism_session_error(session));
		asterism_session_free(session);
		return 1;
	}
	if (!promise.is_guaranteed)
		fprintf(stderr, "monitor: no guarantee: %s\n", promise.no_guarantee);
	while (!ended && asterism_session_wait(session, -1) >= 0)
		;
	result = asterism_monitor_finish(monitor);
	asterism_monitor_stats(monitor, &stats);
	printf("%llu requests, %.3f ms on average, %.3f ms at most\n", (unsigned long long)durations.count,
	       durations.count ? (double)durations.sum_ns / 1e6 / (double)durations.count : 0,
	       (double)durations.most_ns / 1e6);
	printf("%llu elements, %llu lost\n", (unsigned long long)stats.elements, (unsigned long long)stats.lost);
	asterism_session_free(session);
	return result || stats.lost ? 3 : 0;
}
