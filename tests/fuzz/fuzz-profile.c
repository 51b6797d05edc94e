// SPDX-License-Identifier: BSD-2-Clause
/*
 * Profiles in any format: callgrind's, the project's own, CSV, perf script, pprof, gmon.out, and folded stacks.
 * Whatever the bytes are, reading comes to an end within bounded memory; what is refused has one error with a sentence.
 * What is read has costs that are numbers, can be completed by itself, restricted to a thread and to sums of events,
 * written in every format, and read again as the same.
 */

#include "base/diag.h"
#include "profile/complete.h"
#include "profile/formula.h"
#include "profile/read.h"
#include "profile/stacks.h"
#include "profile/stacks/paths.h"
#include "profile/threads.h"
#include "profile/write.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BYTES_MAX = 1 << 16, MEMORY_BYTES_MAX = 600 << 20, FUNCTIONS_MAX = 5000 };

static void expect(bool holds)
{
	if (!holds)
		abort();
}

/* Sanitizers map more than they use. */
static void bound_memory(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
	const struct rlimit limit = { MEMORY_BYTES_MAX, MEMORY_BYTES_MAX };

	expect(setrlimit(RLIMIT_AS, &limit) == 0);
#endif
}

/* -ENOMEM is none of the answers. */
static void expect_told(int result, struct asterism_diag *diag)
{
	size_t errors = asterism_diag_count(diag, ASTERISM_ERROR);
	const struct asterism_message *message;

	expect(result == 0 || result == -EINVAL);
	expect(errors == (result ? 1 : 0));
	for (size_t i = 0; (message = asterism_diag_get(diag, i)); i++)
		expect(message->text && *message->text);
	asterism_diag_free(diag);
}

static void check_costs(const struct profile *profile)
{
	for (size_t i = 0; i < profile->function_count * profile->event_count; i++)
		expect(profile->self[i] >= 0 && !isnan(profile->self[i]));
	for (size_t i = 0; i < profile->edge_count; i++)
		expect(profile->edges[i].caller < profile->function_count &&
		       profile->edges[i].callee < profile->function_count);
	for (size_t i = 0; i < profile->part_count; i++)
		expect(profile->parts[i].thread < profile->thread_count &&
		       profile->parts[i].function < profile->function_count);
}

/* In the project's own format nothing is lost. */
static void write_and_read(const struct profile *profile)
{
	struct diag_source source = { .file = "again" };
	struct profile *again = NULL;
	char *text = NULL;
	FILE *stream = open_memstream(&text, &source.length);

	expect(stream && profile_write(stream, profile) == 0 && fclose(stream) == 0);
	source.text = text;
	expect(profile_read(&source, NULL, &again) == 0);
	expect(again->event_count == profile->event_count && again->thread_count == profile->thread_count);
	for (unsigned i = 0; i < profile->event_count; i++) {
		double had = profile_total(profile, i), has = profile_total(again, i);

		expect(had == has || fabs(had - has) <= 1e-9 * had || !isfinite(had));
	}
	profile_free(again);
	free(text);
}

static void export_all(const struct profile *profile)
{
	static int (*const writers[])(FILE *, const struct profile *, double,
				      double *) = { profile_write_folded, profile_write_speedscope, profile_write_pprof,
						    profile_write_svg };
	FILE *nothing = fopen("/dev/null", "w");
	double left_out;

	expect(nothing && profile_write_callgrind(nothing, profile) == 0 && profile_write_csv(nothing, profile) == 0);
	for (size_t i = 0; profile->is_completed && i < sizeof writers / sizeof *writers; i++)
		expect(writers[i](nothing, profile, 1e-3, &left_out) == 0);
	fclose(nothing);
}

static void complete(const struct profile *profile, enum profile_by by)
{
	const struct profile_completion completion = { .by = by, .collapse = by == PROFILE_BY_CALL_COUNTS };
	struct asterism_diag *diag = asterism_diag_new();
	struct profile *completed = NULL;
	int result = profile_complete(profile, profile, &completion, diag, &completed);

	expect_told(result, diag);
	if (result)
		return;
	check_costs(completed);
	write_and_read(completed);
	export_all(completed);
	profile_free(completed);
}

/* Formulas that the file names, one column after the other. */
static void derive(struct profile *profile)
{
	size_t count = profile->info_count;

	for (size_t i = 0; i < count; i++) {
		const char *key = profile_get_text(profile, profile->infos[i].key);
		const char *name = key + strlen(PROFILE_EVENT);
		struct asterism_diag *diag = asterism_diag_new();
		int event = 0;

		if (profile_is_formula(key, profile_get_text(profile, profile->infos[i].value)) &&
		    profile_find_event(profile, name) < 0) {
			event = profile_derive_event(profile, name, diag);
			expect(event < (int)profile->event_count);
		}
		expect_told(event < 0 ? event : 0, diag);
	}
	check_costs(profile);
	profile_keep_event(profile, profile->event_count - 1);
	check_costs(profile);
	export_all(profile);
}

static void use(struct profile *profile)
{
	check_costs(profile);
	/* Contexts are left out there. */
	write_and_read(profile);
	if (profile->function_count > FUNCTIONS_MAX)
		return;
	for (enum profile_by by = PROFILE_BY_QUOTIENT; by <= PROFILE_BY_CONTEXTS; by++)
		complete(profile, by);
	if (profile->thread_count)
		expect(profile_keep_thread(profile, profile->threads[0].tid) == 0);
	derive(profile);
}

static int read_profile(const struct diag_source *source, struct asterism_diag *diag, struct profile **profile)
{
	int fd, result;

	if (!profile_is_gmon(source))
		return profile_read(source, diag, profile);
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	expect(fd >= 0);
	result = profile_read_gmon(source, fd, "fuzz-profile", diag, profile);
	close(fd);
	return result;
}

static void read_stacks(const struct diag_source *source, const struct profile *simulated)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct profile_stacks stacks = { 0 };
	int result = profile_check_stacks(source, simulated, diag, &stacks);

	expect_told(result, diag);
	expect(result || !(stacks.wrong > stacks.total));
	profile_free(stacks.calls);
}

static struct profile *simulate(void)
{
	static const char text[] = "events: Ir\nfn=main\n1 1\ncfn=f\ncalls=1 1\n1 2\nfn=f\n1 2\n";
	const struct diag_source source = { .file = "simulation", .text = text, .length = sizeof text - 1 };
	struct profile *simulated = NULL;

	expect(profile_read(&source, NULL, &simulated) == 0);
	return simulated;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct profile *simulated;
	struct asterism_diag *diag;
	struct profile *profile = NULL;
	/* Text ends with a NUL, as what is read from files does; what is read beyond it is to be seen. */
	char *text = size <= BYTES_MAX ? calloc(1, size + 1) : NULL;
	const struct diag_source source = { .file = "fuzz", .text = text, .length = size };
	int result;

	if (!text)
		return 0;
	if (!simulated) {
		bound_memory();
		simulated = simulate();
	}
	memcpy(text, data, size);
	diag = asterism_diag_new();
	result = read_profile(&source, diag, &profile);
	expect((result != 0) == (profile == NULL));
	expect_told(result, diag);
	if (profile)
		use(profile);
	profile_free(profile);
	read_stacks(&source, simulated);
	free(text);
	return 0;
}
