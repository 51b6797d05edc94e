// SPDX-License-Identifier: BSD-2-Clause
/* Runs a command to sample it, and adds its samples up. */

#include "profile/sample/sample.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "profile/sample/between.h"
#include "profile/sample/places.h"
#include "profile/sample/registers.h"
#include "profile/sample/rings.h"
#include "profile/sample/whose.h"
#include "profile/sample/surroundings.h"
#include "session/live/launch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PAUSE_MS = 100, POLLED_MAX = 1024, SAMPLES_TO_JUDGE = 100 };

struct sampling {
	const struct sample_options *options;
	struct profile *profile;
	struct places *places;
	struct whose *whose;
	struct rings *rings;
	struct sample_outcome *outcome;
	struct launch launch;
	struct between *between; /* NULL: all samples count */
	uint32_t unknown;        /* the spot of addresses without a file; HASH_NONE: there was none */
	double weight;           /* of samples that count */
	double all_weight;
};

/* A sample that counts. */
static int count_sample(void *context, const struct waiting_sample *sample)
{
	struct sampling *sampling = context;

	const struct profile *profile = sampling->profile;

	*profile_self(profile, profile->spots[sample->spot].function) += sample->weight;
	*profile_spot_self(profile, sample->spot) += sample->weight;
	sampling->outcome->samples++;
	sampling->outcome->elsewhere += sample->spot == sampling->unknown;
	sampling->weight += sample->weight;
	return whose_count(sampling->whose, sample->tid, profile->spots[sample->spot].function, sample->weight);
}

static int find_unknown(struct sampling *sampling, uint32_t *spot)
{
	struct profile_spot wanted = { .address = PROFILE_NO_ADDRESS };
	static const char name[] = "[unknown]";
	uint32_t text;
	int result = 0;

	if (sampling->unknown == HASH_NONE)
		result = profile_text(sampling->profile, name, strlen(name), &text);
	if (!result && sampling->unknown == HASH_NONE)
		result = profile_function(sampling->profile, text, text, &wanted.function);
	if (!result && sampling->unknown == HASH_NONE)
		result = profile_spot(sampling->profile, &wanted, &sampling->unknown);
	*spot = sampling->unknown;
	return result;
}

static void put_quoted(FILE *stream, const char *text)
{
	fputc('"', stream);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', stream);
		fputc((unsigned char)*text < ' ' ? '?' : *text, stream);
	}
	fputc('"', stream);
}

static void put_samples_head(const struct sampling *sampling)
{
	FILE *stream = sampling->options->samples;

	if (!stream)
		return;
	fputs("time,process,thread,cpu,function,object,address,weight", stream);
	for (unsigned i = 0; sampling->options->has_registers && i < sample_register_count; i++)
		fprintf(stream, ",%s", sample_registers[i]);
	fputc('\n', stream);
}

/* A line of CSV. Registers that a sample lacks are 0. */
static void put_sample(const struct sampling *sampling, const struct sample_record *record, uint32_t spot)
{
	const struct profile *profile = sampling->profile;
	const struct profile_function *function = &profile->functions[profile->spots[spot].function];
	FILE *stream = sampling->options->samples;

	fprintf(stream, "%" PRIu64 ",%u,%u,%u,", record->time, record->pid, record->tid, record->cpu);
	put_quoted(stream, profile_get_text(profile, function->name));
	fputc(',', stream);
	put_quoted(stream, profile_get_text(profile, function->object));
	fprintf(stream, ",%" PRIu64 ",%.17g", record->address, record->weight);
	for (unsigned i = 0; sampling->options->has_registers && i < sample_register_count; i++)
		fprintf(stream, ",%" PRIu64, record->registers ? record->registers[i] : 0);
	fputc('\n', stream);
}

static int take_sample_record(void *context, const struct sample_record *record)
{
	struct sampling *sampling = context;
	struct waiting_sample sample = { .time = record->time, .tid = record->tid, .weight = record->weight };
	int result = whose_take(sampling->whose, record);

	if (result || record->kind != RECORD_SAMPLE)
		return result ? result : places_take(sampling->places, record);
	result = places_find(sampling->places, record->pid, record->address, &sample.spot);
	if (!result && sample.spot == HASH_NONE)
		result = find_unknown(sampling, &sample.spot);
	if (result)
		return result;
	sampling->all_weight += sample.weight;
	if (sampling->options->samples)
		put_sample(sampling, record, sample.spot);
	return sampling->between ? between_keep(sampling->between, &sample) : count_sample(sampling, &sample);
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

	if ((*stop != SIGTERM && *stop != SIGHUP) || *is_passed)
		return;
	*is_passed = true;
	kill(sampling->launch.pid, SIGTERM);
}

static int follow_sampled(struct sampling *sampling)
{
	struct pollfd items[POLLED_MAX + 1] = { { .fd = sampling->launch.pidfd, .events = POLLIN } };
	size_t count = 1 + rings_poll(sampling->rings, items + 1, POLLED_MAX - 1);
	bool is_passed = false, has_ended = false;
	int result = 0;

	if (sampling->between)
		items[count++] = (struct pollfd){ .fd = between_fd(sampling->between), .events = POLLIN };
	while (!has_ended && !result) {
		poll(items, count, PAUSE_MS);
		pass_signal(sampling, &is_passed);
		has_ended = launch_reap(&sampling->launch, &sampling->outcome->status);
		result = rings_drain(sampling->rings, has_ended, take_sample_record, sampling);
		if (!result && sampling->between)
			result = between_step(sampling->between);
	}
	return result || !sampling->between ? result : between_end(sampling->between, &sampling->outcome->between);
}

/* What the profile says of what scoped it. */
static int note_between(struct sampling *sampling)
{
	const struct sample_between *between = &sampling->outcome->between;
	char *names = between_names(sampling->between);
	int result = names ? profile_set_info(sampling->profile, "between", names) : -ENOMEM;

	if (!result)
		result = set_number(sampling->profile, "matches", (double)between->matches);
	if (!result)
		result = set_number(sampling->profile, "matches-lost", (double)(between->lost + between->late));
	if (!result)
		result = set_number(sampling->profile, "matches-seconds", between->seconds);
	if (!result)
		result = set_number(sampling->profile, "samples-outside", (double)between->outside);
	alloc_free(names);
	return result;
}

/* The period is what one sample stands for, on average. */
static int sum_samples(struct sampling *sampling)
{
	struct sample_outcome *outcome = sampling->outcome;
	struct profile *profile = sampling->profile;
	double counted = rings_counted(sampling->rings);
	int result = set_command(profile, sampling->options->command);

	outcome->lost = rings_lost(sampling->rings);
	if (counted > sampling->all_weight && outcome->samples + outcome->between.outside >= SAMPLES_TO_JUDGE)
		outcome->kernel = 1 - sampling->all_weight / counted;
	profile->samples = (double)outcome->samples;
	if (!result)
		result = set_number(profile, "samples", (double)outcome->samples);
	if (!result && outcome->samples)
		result = set_number(profile, "period", sampling->weight / (double)outcome->samples);
	if (!result && sampling->between)
		result = note_between(sampling);
	return result;
}

static int run_sampling(struct sampling *sampling, struct asterism_diag *diag)
{
	const struct sample_options *options = sampling->options;
	const struct interval_taker taker = { count_sample, sampling };
	const char *event;
	int result = launch_prepare(options->command, NULL, diag, &sampling->launch);
	uint64_t begin;

	if (result)
		return result;
	launch_settle(&sampling->launch);
	result = rings_open(options, sampling->launch.pid, diag, &sampling->rings);
	if (result)
		return result;
	if (options->rules)
		result = between_open(options->rules, sampling->launch.pid, &taker, diag, &sampling->between);
	if (result)
		return result;
	event = options->label ? options->label : rings_event(sampling->rings);
	if (profile_add_event(sampling->profile, event, strlen(event)))
		return diag_no_memory(diag);
	if (profile_note_surroundings(sampling->profile, profile_input_begin()))
		return diag_no_memory(diag);
	put_samples_head(sampling);
	begin = clock_now_ns();
	result = launch_go(&sampling->launch, options->command[0], diag);
	if (result)
		return result;
	if (follow_sampled(sampling) || sum_samples(sampling))
		return diag_no_memory(diag);
	sampling->outcome->seconds = (double)(clock_now_ns() - begin) / 1e9;
	return 0;
}

int sample_command(const struct sample_options *options, struct asterism_diag *diag, struct profile **profile,
		   struct sample_outcome *outcome)
{
	struct sampling sampling = {
		.options = options, .outcome = outcome, .profile = profile_new(), .unknown = HASH_NONE
	};
	int result;

	*outcome = (struct sample_outcome){ 0 };
	sampling.launch = (struct launch){ .pidfd = -1, .go_fd = -1, .error_fd = -1, .listener = { .fd = -1 } };
	if (sampling.profile) {
		sampling.places = places_new(sampling.profile);
		sampling.whose = whose_new(sampling.profile);
	}
	result = sampling.places && sampling.whose ? run_sampling(&sampling, diag) : diag_no_memory(diag);
	launch_fini(&sampling.launch);
	between_free(sampling.between);
	rings_free(sampling.rings);
	places_free(sampling.places);
	whose_free(sampling.whose);
	if (result)
		profile_free(sampling.profile);
	else
		*profile = sampling.profile;
	return result;
}
