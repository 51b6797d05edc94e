// SPDX-License-Identifier: BSD-2-Clause
/* Decides how a command is run to be sampled, and what its samples add up to. */

#include "profile/sample/sample.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "profile/sample/places.h"
#include "profile/sample/rings.h"
#include "session/live/launch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PAUSE_MS = 100, POLLED_MAX = 1024, SAMPLES_TO_JUDGE = 100 };

struct sampling {
	const struct sample_options *options;
	struct profile *profile;
	struct places *places;
	struct rings *rings;
	struct sample_outcome *outcome;
	struct launch launch;
	double weight; /* of all samples */
};

static int take(void *context, const struct sample_record *record)
{
	struct sampling *sampling = context;
	uint32_t function;
	int result;

	if (record->kind != RECORD_SAMPLE)
		return places_take(sampling->places, record);
	result = places_find(sampling->places, record->pid, record->address, &function);
	if (!result && function == HASH_NONE) {
		uint32_t name, object;

		sampling->outcome->elsewhere++;
		result = profile_text(sampling->profile, "[unknown]", strlen("[unknown]"), &name);
		result = result ? result : profile_text(sampling->profile, "[unknown]", strlen("[unknown]"), &object);
		result = result ? result : profile_function(sampling->profile, name, object, &function);
	}
	if (result)
		return result;
	*profile_self(sampling->profile, function) += record->weight;
	sampling->outcome->samples++;
	sampling->weight += record->weight;
	return 0;
}

static int set_number(struct profile *profile, const char *key, double number)
{
	char text[32];

	snprintf(text, sizeof text, "%.17g", number);
	return profile_set_info(profile, key, text);
}

static int set_command(struct profile *profile, char *const *command)
{
	struct text_buffer text = { 0 };
	char host[256] = "";
	int result;

	for (size_t i = 0; command[i]; i++) {
		text_append(&text, i ? " " : "");
		text_append(&text, command[i]);
	}
	result = text.failure ? -ENOMEM : profile_set_info(profile, "cmd", text.bytes);
	text_fini(&text);
	gethostname(host, sizeof host - 1);
	return result ? result : profile_set_info(profile, "host", host);
}

/* That of the keyboard the command has got itself. */
static void pass_signal(struct sampling *sampling, bool *is_passed)
{
	const volatile sig_atomic_t *stop = sampling->options->stop;

	if (*stop != SIGTERM || *is_passed)
		return;
	*is_passed = true;
	kill(sampling->launch.pid, SIGTERM);
}

static int follow(struct sampling *sampling)
{
	struct pollfd items[POLLED_MAX + 1] = { { .fd = sampling->launch.pidfd, .events = POLLIN } };
	size_t count = 1 + rings_poll(sampling->rings, items + 1, POLLED_MAX);
	bool is_passed = false, has_ended = false;
	int result = 0;

	while (!has_ended && !result) {
		poll(items, count, PAUSE_MS);
		pass_signal(sampling, &is_passed);
		has_ended = launch_reap(&sampling->launch, &sampling->outcome->status);
		result = rings_drain(sampling->rings, has_ended, take, sampling);
	}
	return result;
}

/* The period is what one sample stands for, on average. */
static int sum_up(struct sampling *sampling)
{
	struct sample_outcome *outcome = sampling->outcome;
	struct profile *profile = sampling->profile;
	double counted = rings_counted(sampling->rings);
	int result = set_command(profile, sampling->options->command);

	outcome->lost = rings_lost(sampling->rings);
	if (counted > sampling->weight && outcome->samples >= SAMPLES_TO_JUDGE)
		outcome->kernel = 1 - sampling->weight / counted;
	profile->samples = (double)outcome->samples;
	if (!result)
		result = set_number(profile, "samples", (double)outcome->samples);
	if (!result && outcome->samples)
		result = set_number(profile, "period", sampling->weight / (double)outcome->samples);
	return result;
}

static int run(struct sampling *sampling, struct asterism_diag *diag)
{
	const struct sample_options *options = sampling->options;
	const char *event;
	int result = launch_prepare(options->command, NULL, diag, &sampling->launch);
	uint64_t begin;

	if (result)
		return result;
	launch_settle(&sampling->launch);
	result = rings_open(options, sampling->launch.pid, diag, &sampling->rings);
	if (result)
		return result;
	event = rings_event(sampling->rings);
	if (profile_add_event(sampling->profile, event, strlen(event)))
		return diag_no_memory(diag);
	begin = clock_now_ns();
	result = launch_go(&sampling->launch, options->command[0], diag);
	if (result)
		return result;
	if (follow(sampling) || sum_up(sampling))
		return diag_no_memory(diag);
	sampling->outcome->seconds = (double)(clock_now_ns() - begin) / 1e9;
	return 0;
}

int sample_command(const struct sample_options *options, struct asterism_diag *diag, struct profile **profile,
		   struct sample_outcome *outcome)
{
	struct sampling sampling = { .options = options, .outcome = outcome, .profile = profile_new() };
	int result;

	*outcome = (struct sample_outcome){ 0 };
	sampling.launch = (struct launch){ .pidfd = -1, .go_fd = -1, .error_fd = -1, .listener = { .fd = -1 } };
	if (sampling.profile)
		sampling.places = places_new(sampling.profile);
	result = sampling.places ? run(&sampling, diag) : diag_no_memory(diag);
	launch_fini(&sampling.launch);
	rings_free(sampling.rings);
	places_free(sampling.places);
	if (result)
		profile_free(sampling.profile);
	else
		*profile = sampling.profile;
	return result;
}
