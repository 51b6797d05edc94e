// SPDX-License-Identifier: BSD-2-Clause
/* Reports measures: at the end, every TIME, and what heartbeats tell at once. */

#include "cmd/measure/measuring.h"

#include "cli/print.h"
#include "cmd/input/rules.h"
#include "cmd/options/status.h"
#include "session/measure/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool measuring_is_asked(const struct cli_arguments *arguments)
{
	return cli_has(arguments, OPTION_MEASURE) || cli_has(arguments, OPTION_HEARTBEAT);
}

int measuring_open(struct measuring *measuring, const struct cli_arguments *arguments, struct sink *sink)
{
	const struct cli_value *texts = &arguments->options[OPTION_MEASURE];
	const struct cli_value *heartbeats = &arguments->options[OPTION_HEARTBEAT];
	const struct measures_asked asked = {
		.measures = texts->texts,
		.measure_count = texts->count,
		.heartbeats = heartbeats->texts,
		.heartbeat_count = heartbeats->count,
	};
	int result;

	*measuring = (struct measuring){ .sink = sink, .every_ns = arguments->options[OPTION_EVERY].number };
	if (!measuring_is_asked(arguments)) {
		if (!measuring->every_ns)
			return STATUS_FINE;
		cli_error("--every needs --measure");
		return STATUS_USAGE;
	}
	measuring->diag = asterism_diag_new();
	result = measuring->diag ? measures_new(&asked, measuring->diag, &measuring->measures) : -ENOMEM;
	if (measuring->diag)
		cli_print(measuring->diag);
	else
		cli_error("out of memory");
	return cmd_status_of(result);
}

void measuring_close(struct measuring *measuring)
{
	measures_free(measuring->measures);
	asterism_diag_free(measuring->diag);
}

static int count_lines(const char *text)
{
	int count = 0;

	for (; (text = strchr(text, '\n')) != NULL; text++)
		count++;
	return count;
}

/* On a terminal over the table before, if nothing else was written since. */
static void draw_measures(struct measuring *measuring)
{
	FILE *stream = measuring->sink->lines.stream;
	char *text = NULL;
	size_t length;
	FILE *memory = open_memstream(&text, &length);

	if (!memory)
		return;
	measure_put_text(memory, measuring->measures);
	if (fclose(memory) == 0) {
		if (measuring->drawn_lines)
			fprintf(stream, "\033[%dA\033[J", measuring->drawn_lines);
		fputs(text, stream);
		measuring->drawn_lines = count_lines(text);
	}
	free(text);
}

static int put_measures(struct measuring *measuring)
{
	if (measuring->sink->json)
		measure_put_json(measuring->sink->lines.stream, measuring->measures);
	else if (measuring->draws)
		draw_measures(measuring);
	else
		measure_put_text(measuring->sink->lines.stream, measuring->measures);
	return sink_put(measuring->sink);
}

static int put_news(struct measuring *measuring)
{
	struct sink *sink = measuring->sink;

	if (!measure_put_news(sink->lines.stream, measuring->measures, sink->machine.wall_ns, sink->json))
		return 0;
	measuring->drawn_lines = 0;
	return sink_put(sink);
}

int measuring_tell(struct measuring *measuring, uint64_t now_ns)
{
	int result = put_news(measuring);

	if (result || !measuring->every_ns)
		return result;
	if (!measuring->next_ns)
		measuring->next_ns = now_ns + measuring->every_ns;
	if (now_ns < measuring->next_ns)
		return 0;
	measuring->next_ns += (now_ns - measuring->next_ns) / measuring->every_ns * measuring->every_ns;
	measuring->next_ns += measuring->every_ns;
	if (!measuring->sink->json && !measuring->draws)
		fprintf(measuring->sink->lines.stream, "up to %llu.%09llu\n", (unsigned long long)now_ns / 1000000000,
			(unsigned long long)now_ns % 1000000000);
	return put_measures(measuring);
}

int measuring_take(struct measuring *measuring, const struct event_source *source, const struct event *event)
{
	int result;

	measuring->sink->machine = source->machine;
	/* What came before this event is told before it counts. */
	result = measuring->every_ns ? measuring_tell(measuring, event->record->ts) : 0;
	if (!result)
		result = measures_take(measuring->measures, source, event, measuring->diag);
	if (result == -EINVAL || result == -ENOMEM) {
		cli_print(measuring->diag);
		asterism_diag_clear(measuring->diag);
	}
	return result ? result : put_news(measuring);
}

int measuring_finish(struct measuring *measuring)
{
	int result = put_news(measuring);

	return result ? result : put_measures(measuring);
}

int measuring_end(struct measuring *measuring, uint64_t lost)
{
	measuring->is_wrong = measures_end(measuring->measures, lost, measuring->diag) != 0;
	cli_print(measuring->diag);
	asterism_diag_clear(measuring->diag);
	return measuring_finish(measuring);
}

static bool tap_wants(void *context, const struct event_type *type)
{
	const struct measuring *measuring = context;

	return measures_wants(measuring->measures, type);
}

static bool tap_wants_field(void *context, const struct event_type *type, uint32_t field)
{
	const struct measuring *measuring = context;

	return measures_wants_field(measuring->measures, type, field);
}

static int tap_on_event(void *context, const struct event_source *source, const struct event *event)
{
	return measuring_take(context, source, event);
}

struct session_tap measuring_tap(struct measuring *measuring)
{
	return (struct session_tap){ tap_wants, tap_wants_field, tap_on_event, measuring };
}
