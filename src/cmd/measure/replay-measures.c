// SPDX-License-Identifier: BSD-2-Clause
/* Reads traces that are only measured. */

#include "cmd/input/inputs.h"
#include "cmd/input/rules.h"
#include "cmd/measure/measuring.h"
#include "cmd/options/status.h"
#include "cmd/text/filter.h"
#include "cmd/text/signals.h"

#include <errno.h>

static bool measures_want_type(void *context, const struct event_type *type)
{
	const struct measuring *measuring = context;

	return measures_wants(measuring->measures, type);
}

static bool measures_want_field(void *context, const struct event_type *type, uint32_t field)
{
	const struct measuring *measuring = context;

	return measures_wants_field(measuring->measures, type, field);
}

static int measure_all(struct measuring *measuring, struct inputs *inputs, struct filter *filter)
{
	const struct event_want want = { measures_want_type, measures_want_type, measures_want_field, measuring,
					 false };
	enum filter_verdict verdict = FILTER_SHOW;
	struct event event;
	int result = 0;

	event_source_want(inputs->source, &want);
	while (!result && verdict != FILTER_END && inputs_next(inputs, &event)) {
		verdict = filter_judge(filter, &event);
		if (verdict == FILTER_SHOW)
			result = measuring_take(measuring, inputs->source, &event);
	}
	for (size_t i = 0; i < inputs->count; i++)
		measures_know(measuring->measures, inputs->catalogs[i]);
	if (!result)
		result = measuring_end(measuring, inputs->source->lost);
	if (verdict != FILTER_END && !signals_came())
		filter_warn_of_end(filter);
	return result;
}

int measuring_replay(const struct cli_arguments *arguments)
{
	struct measuring measuring = { 0 };
	struct sink sink;
	struct inputs inputs = { .sink = &sink };
	struct filter filter = { 0 };
	int result, status = sink_open(&sink, arguments, NULL);

	if (status)
		return status;
	status = measuring_open(&measuring, arguments, &sink);
	if (!status)
		status = filter_open(&filter, arguments);
	if (!status)
		status = inputs_open(&inputs, arguments);
	if (!status) {
		result = measure_all(&measuring, &inputs, &filter);
		status = result && result != -EPIPE ? cmd_status_of(result) : signals_status(inputs_status(&inputs));
		if (measuring.is_wrong)
			status = STATUS_USAGE;
	}
	inputs_close(&inputs);
	filter_close(&filter);
	measuring_close(&measuring);
	sink_abandon(&sink);
	return status;
}
