// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rules within a monitor's promise, of whatever raises request_begin and request_end with an id, as sensor-server does:
 *
 *	monitor-rules sensor:FILE COMMAND [ARGUMENT...]
 *
 * says which requests took longer than 10 ms. There are at most 40,000 a second of them, 400 at once.
 */

#include <asterism/asterism.h>
#include <stdio.h>
#include <string.h>

static int on_match(void *context, const struct asterism_match *match)
{
	struct asterism_value id, took;

	(void)context;
	if (!asterism_match_value(match, 0, &id) && !asterism_match_value(match, 1, &took))
		printf("request %llu took %.3f ms%s\n", (unsigned long long)id.as.u64, (double)took.as.i64 / 1e6,
		       asterism_match_is_tainted(match) ? " (or some events were lost)" : "");
	return ASTERISM_CONTINUE;
}

static void on_exit_of_command(void *context, pid_t pid, int status)
{
	(void)pid;
	(void)status;
	*(int *)context = 1;
}

int main(int count, char **arguments)
{
	const char *sensors[] = { count > 2 ? arguments[1] : "", NULL };
	const struct asterism_monitor_rate rates[] = {
		{ .sensor = "request_begin", .count = 40000, .time_ns = 1000000000, .burst = 400 },
		{ .sensor = "request_end", .count = 40000, .time_ns = 1000000000, .burst = 400 },
	};
	const struct asterism_monitor_options options = {
		.size = sizeof options, .sensors = sensors, .rates = rates, .rate_count = 2
	};
	struct asterism_monitor_promise promise = { .size = sizeof promise };
	struct asterism_monitor_stats stats = { .size = sizeof stats };
	int ended = 0, result;
	const struct asterism_session_options scope = {
		.size = sizeof scope, .on_exit = on_exit_of_command, .on_match = on_match, .context = &ended
	};
	struct asterism_session *session;
	struct asterism_monitor *monitor;
	struct asterism_rules *rules;
	char text[1024];

	if (count < 3 || asterism_session_open(&scope, NULL, &session))
		return 2;
	snprintf(text, sizeof text,
		 "EVENTS \"%s\" RULE slow PATTERN { [request_begin:b, request_end:e] } "
		 "WHERE { [id], e.ts - b.ts > 10ms } RETURN { b.id, e.ts - b.ts AS took }",
		 arguments[1]);
	if (asterism_rules_load_text(session, text, strlen(text), "slow", &rules) ||
	    asterism_monitor_open(session, &options, &monitor) || asterism_monitor_add_rules(monitor, rules) < 0 ||
	    asterism_monitor_start(monitor, &promise) || asterism_session_launch(session, arguments + 2, NULL)) {
		fprintf(stderr, "monitor-rules: %s\n", asterism_session_error(session));
		asterism_session_free(session);
		return 1;
	}
	fprintf(stderr, "every request is judged within %.3f ms%s%s\n", (double)promise.bound_ns / 1e6,
		promise.is_guaranteed ? "" : ", but without a guarantee: ",
		promise.is_guaranteed ? "" : promise.no_guarantee);
	while (!ended && asterism_session_wait(session, -1) >= 0)
		;
	result = asterism_monitor_finish(monitor);
	asterism_session_dispatch(session); /* what was found until then */
	asterism_monitor_stats(monitor, &stats);
	printf("%llu elements, %llu lost, %llu late\n", (unsigned long long)stats.elements,
	       (unsigned long long)stats.lost, (unsigned long long)stats.violations);
	asterism_session_free(session);
	return result || stats.lost ? 3 : 0;
}
