// SPDX-License-Identifier: BSD-2-Clause
/* Chooses the unit in which costs are shown, and finds of which events they are times. */

#include "cli/print.h"
#include "cmd/options/options.h"
#include "cmd/options/status.h"
#include "cmd/profile/profile-priv.h"

#include <math.h>
#include <string.h>

/* What a sample stands for is no less, as no clock is faster. */
enum { SAMPLE_NS_LEAST = 1000 };

/* What one of the event's costs is in seconds; 0: it is no time. */
static double seconds_of(const struct profile *profile, unsigned event)
{
	const char *name = profile_get_text(profile, profile->events[event]);
	double rate = profile_info_number(profile, "samples-per-second");

	if (strcmp(name, "samples") == 0 && rate > 0)
		return 1 / rate;
	if (strncmp(name, "task-clock", 10) != 0 && strncmp(name, "cpu-clock", 9) != 0)
		return 0;
	/* Where perf script does not show periods, costs are numbers of samples. */
	return event || profile_total(profile, event) >= profile->samples * SAMPLE_NS_LEAST ? 1e-9 : 0;
}

int profile_chosen_unit(const struct cli_arguments *arguments, struct profile *profile, struct profile_unit *unit)
{
	int chosen = profile_chosen_event(arguments, profile);
	const char *name;
	double total;

	if (chosen < 0)
		return STATUS_USAGE;
	name = profile_get_text(profile, profile->events[chosen]);
	total = profile_total(profile, (unsigned)chosen);
	*unit = (struct profile_unit){ .event = (unsigned)chosen,
				       .kind = (int)arguments->options[OPTION_COST_UNIT].number,
				       .factor = 1,
				       .is_chosen = cli_has(arguments, OPTION_COST_UNIT) };
	if (unit->kind == UNIT_PERCENT)
		unit->factor = total > 0 ? 100 / total : 0;
	if (unit->kind != UNIT_SECONDS)
		return STATUS_FINE;
	unit->factor = seconds_of(profile, unit->event);
	if (unit->factor > 0)
		return STATUS_FINE;
	cli_error("--unit seconds does not apply: the costs of the profile in '%s' are not times", name);
	if (strcmp(name, "Ir") == 0)
		cli_hint("how long simulated instructions take is unknown: complete samples of task-clock with them");
	else
		cli_hint("sample time: asterism profile record -e task-clock, or perf script with the field period");
	return STATUS_USAGE;
}

/* Digits before the mark, and of the mark. */
static const struct {
	int value, mark;
} widths[] = { [UNIT_PERCENT] = { 9, 8 }, [UNIT_SECONDS] = { 14, 12 }, [UNIT_EVENTS] = { 15, 12 } };

int profile_share_width(const struct profile_unit *unit)
{
	return widths[unit->kind].value + widths[unit->kind].mark;
}

static void put_deviation(FILE *stream, double deviation, const struct profile_unit *unit)
{
	int width = widths[unit->kind].mark - 3;

	if (unit->kind == UNIT_PERCENT)
		fprintf(stream, " +-%-*.2f", width, deviation);
	else
		fprintf(stream, " +-%-*.3g", width, deviation);
}

void profile_put_share(FILE *stream, double value, const struct profile_unit *unit, enum profile_origin origin,
		       double deviation)
{
	double shown = value * unit->factor;
	int width = widths[unit->kind].mark - 1;

	if (unit->kind == UNIT_PERCENT)
		fprintf(stream, "%7.2f %%", shown);
	else if (unit->kind == UNIT_SECONDS)
		fprintf(stream, "%12.6f s", shown);
	else
		fprintf(stream, "%15.0f", shown);
	if (origin != PROFILE_ESTIMATED)
		fprintf(stream, " %-*s", width, origin == PROFILE_MEASURED ? "=" : "~");
	else if (isnan(deviation))
		fprintf(stream, " %-*s", width, "+-?");
	else
		put_deviation(stream, deviation * unit->factor, unit);
}

json_t *profile_cost_json(double value, const struct profile_unit *unit)
{
	return json_real(unit->is_chosen ? value * unit->factor : value);
}
