// SPDX-License-Identifier: BSD-2-Clause
/* Prints what is said of a profile as a whole: its costs, what chose its samples, and how far it can be trusted. */

#include "base/text.h"
#include "cmd/profile/profile-priv.h"
#include "cmd/text/json-text.h"

#include <stdlib.h>
#include <string.h>

bool profile_is_part(const struct profile *profile)
{
	return profile_get_info(profile, "between") || profile_get_info(profile, "thread");
}

bool profile_pace_is_odd(const struct profile *profile)
{
	double pace = profile_info_number(profile, "pace");

	return !profile_is_part(profile) && pace > 0 && (pace < PROFILE_PACE_LEAST || pace > PROFILE_PACE_MOST);
}

const char *profile_verdict(const struct profile *profile)
{
	double distance = profile_info_number(profile, "distance");

	if (profile_is_part(profile))
		return "not judged";
	if (profile_pace_is_odd(profile))
		return "different in amount";
	return distance < 0.15 ? "alike" : distance < 0.4 ? "different in part" : "different";
}

/* "31.5 c": how far a model is from the chosen one, and where. */
static void put_models(FILE *stream, const struct profile *profile)
{
	for (size_t i = 0; i < profile->info_count; i++) {
		const char *key = profile_get_text(profile, profile->infos[i].key);
		const char *value = profile_get_text(profile, profile->infos[i].value);
		char *name;
		double points;

		if (strncmp(key, "model ", 6) != 0)
			continue;
		points = strtod(value, &name);
		fprintf(stream, "model        by %s up to %.2f points away: ", key + 6, points);
		text_write(stream, name + (*name == ' '), TEXT_WORDS);
		fputc('\n', stream);
	}
}

/* What chose the samples. */
static void put_between(FILE *stream, const struct profile *profile)
{
	const char *rules = profile_get_info(profile, "between"), *thread = profile_get_info(profile, "thread");
	double lost = profile_info_number(profile, "matches-lost");

	if (thread) {
		fputs("thread       ", stream);
		text_write(stream, thread, TEXT_WORDS);
		fputc('\n', stream);
	}
	if (!rules)
		return;
	fputs("between      ", stream);
	text_write(stream, rules, TEXT_WORDS);
	fprintf(stream, ": %.0f matches, %.3g s in all; %.0f samples were outside",
		profile_info_number(profile, "matches"), profile_info_number(profile, "matches-seconds"),
		profile_info_number(profile, "samples-outside"));
	if (lost > 0)
		fprintf(stream, "; %.0f events or matches were lost", lost);
	fputc('\n', stream);
}

void profile_put_head(FILE *stream, const struct profile *profile, unsigned event)
{
	const char *method = profile_get_info(profile, "method"), *by = profile_get_info(profile, "shared-by");
	double distance = profile_info_number(profile, "distance");

	fprintf(stream, "cost         %.6g ", profile_total(profile, event));
	text_write(stream, profile_get_text(profile, profile->events[event]), TEXT_WORDS);
	if (profile->samples > 0)
		fprintf(stream, ", of %.0f samples", profile->samples);
	fputc('\n', stream);
	put_between(stream, profile);
	if (!method)
		return;
	fprintf(stream, "unattached   %.2f %% was sampled in functions that were not simulated\n",
		100 * profile_info_number(profile, "unattached"));
	fprintf(stream, "workload     %s: %.1f %% of the samples lie elsewhere than in the simulation%s\n",
		profile_verdict(profile), 100 * distance,
		profile_is_part(profile) ? ", which is of the whole run" : "");
	if (!profile_is_part(profile) && profile_info_number(profile, "pace") > 0)
		fprintf(stream, "pace         %.3g simulated instructions in each sampled nanosecond\n",
			profile_info_number(profile, "pace"));
	fprintf(stream, "method       %s", method);
	if (by && strcmp(method, "calls") != 0) {
		fputs(", by the simulation's ", stream);
		text_write(stream, by, TEXT_WORDS);
	}
	fputc('\n', stream);
	put_models(stream, profile);
}

json_t *profile_models_json(const struct profile *profile)
{
	json_t *models = json_array();

	for (size_t i = 0; i < profile->info_count; i++) {
		const char *key = profile_get_text(profile, profile->infos[i].key);
		const char *value = profile_get_text(profile, profile->infos[i].value);
		char *name;
		double points;

		if (strncmp(key, "model ", 6) != 0)
			continue;
		points = strtod(value, &name);
		json_array_append_new(models, json_pack("{s:o,s:f,s:o}", "by", json_text(key + 6), "points", points,
							"function", json_text(name + (*name == ' '))));
	}
	return models;
}

json_t *profile_head_json(const struct profile *profile, const struct profile_unit *unit)
{
	static const char *const names[] = { "percent", "seconds", "events" };
	json_t *head = json_pack(
		"{s:o,s:o,s:f}", "event", json_text(profile_get_text(profile, profile->events[unit->event])), "total",
		profile_cost_json(profile_total(profile, unit->event), unit), "samples", profile->samples);

	if (unit->is_chosen)
		json_object_set_new(head, "unit", json_text(names[unit->kind]));
	return head;
}
