// SPDX-License-Identifier: BSD-2-Clause
/* `asterism profile complete`: samples get the calls of a simulation. */

#include "profile/complete.h"
#include "base/diag.h"
#include "cli/print.h"
#include "cmd/options/options.h"
#include "cmd/options/status.h"
#include "cmd/profile/profile-priv.h"
#include "profile/sample/surroundings.h"
#include "profile/write.h"

#include <string.h>

enum { SAMPLES_FEW = 1000, NAMES_SHOWN = 3 };

#define UNATTACHED_MUCH 0.05
#define DISTANCE_MUCH   0.4
#define CYCLE_MUCH      0.5
#define CACHE_MUCH      5
#define TOO_SHORT_MUCH  0.05
#define BY_CALLS_MUCH   0.001

/* The costliest functions that were sampled alone. */
static void name_unattached(const struct profile *profile)
{
	uint32_t shown[NAMES_SHOWN] = { 0 };
	unsigned count = 0;

	for (; count < NAMES_SHOWN; count++) {
		uint32_t best = HASH_NONE;

		for (uint32_t i = 0; i < profile->function_count; i++) {
			bool is_taken = !(profile->functions[i].flags & PROFILE_UNATTACHED);

			for (unsigned j = 0; j < count; j++)
				is_taken = is_taken || shown[j] == i;
			if (!is_taken &&
			    (best == HASH_NONE || *profile_self(profile, i) > *profile_self(profile, best)))
				best = i;
		}
		if (best == HASH_NONE)
			break;
		shown[count] = best;
	}
	cli_warning("%.1f %% of the cost was sampled in functions that were not simulated: %s%s%s%s%s",
		    100 * profile_info_number(profile, "unattached"), count ? profile_name(profile, shown[0]) : "",
		    count > 1 ? ", " : "", count > 1 ? profile_name(profile, shown[1]) : "", count > 2 ? ", " : "",
		    count > 2 ? profile_name(profile, shown[2]) : "");
	cli_hint("simulate the program that was sampled, with its symbols; what the kernel does is not simulated");
}

unsigned profile_warn(const struct profile *profile)
{
	double samples = profile->samples, cycle = profile_info_number(profile, "largest-cycle");
	double by_calls = profile_info_number(profile, "by-calls"), distance = profile_info_number(profile, "distance");
	double cache = profile_info_number(profile, "model cache");
	double too_short = profile_info_number(profile, "too-short");
	unsigned count = 0;

	if (profile_info_number(profile, "unattached") > UNATTACHED_MUCH && ++count)
		name_unattached(profile);
	if (samples > 0 && samples < SAMPLES_FEW && ++count) {
		cli_warning("only %.0f samples were taken: with fewer than %d, errors are large", samples, SAMPLES_FEW);
		cli_hint("sample a longer run, or more often");
	}
	if (distance > DISTANCE_MUCH && !profile_is_part(profile) && ++count) {
		cli_warning("%.0f %% of the samples lie elsewhere than in the simulation: the two runs may have done "
			    "different work",
			    100 * distance);
		cli_hint("simulate the same command with the same input; if it was the same, waiting for memory "
			 "may be the reason");
	}
	if (profile_pace_is_odd(profile) && ++count) {
		cli_warning("the simulation has %.3g instructions for each sampled nanosecond, where programs have "
			    "%.1f to %d: "
			    "the %s run did more work",
			    profile_info_number(profile, "pace"), PROFILE_PACE_LEAST, PROFILE_PACE_MOST,
			    profile_info_number(profile, "pace") < PROFILE_PACE_LEAST ? "sampled" : "simulated");
		cli_hint("simulate the same command with the same input; a program that waits for memory all the time "
			 "is as slow, too");
	}
	if (by_calls > BY_CALLS_MUCH && ++count) {
		cli_warning("%.1f %% of the cost is shared by numbers of calls, as the simulation has no cost there",
			    100 * by_calls);
		cli_hint("simulate the same work; 'report' marks these functions with #");
	}
	if (cycle > CYCLE_MUCH && strcmp(profile_get_info(profile, "method"), "contexts") != 0 && ++count) {
		cli_warning(
			"%.0f %% of the cost is in functions that call each other in a cycle, and in their callees: "
			"the inclusive cost of each is a guess",
			100 * cycle);
		if (profile_get_info(profile, "model contexts"))
			cli_hint("the simulation has contexts, which avoid this: complete it again with --by contexts");
		else
			cli_hint("use contexts: simulate with --contexts 30 (of valgrind: --separate-callers=30), and "
				 "complete --by contexts");
	}
	if (cache > CACHE_MUCH && ++count) {
		cli_warning("with the cost of cache misses included, costs are up to %.0f points away: they depend on "
			    "the caller",
			    cache);
		cli_hint("no simulation shares them well; use stacks of perf record -g if you can get them");
	}
	if (too_short > TOO_SHORT_MUCH && ++count) {
		cli_warning("the contexts of %.0f %% of the cost do not reach the outermost function: the callers "
			    "above are missing",
			    100 * too_short);
		cli_hint("simulate with more callers: valgrind --tool=callgrind --separate-callers=60");
	}
	return count;
}

/* Where both say which variables they had. */
static void compare_variables(const struct profile *sampled, const struct profile *simulated)
{
	const struct profile *from[] = { sampled, simulated };

	if (!profile_get_info(sampled, PROFILE_VARIABLES) || !profile_get_info(simulated, PROFILE_VARIABLES))
		return;
	for (size_t k = 0; k < sizeof from / sizeof *from; k++) {
		for (size_t i = 0; i < from[k]->info_count; i++) {
			const char *key = profile_get_text(from[k], from[k]->infos[i].key), *first, *second;

			if (strncmp(key, PROFILE_VARIABLE, strlen(PROFILE_VARIABLE)) != 0)
				continue;
			first = profile_get_info(sampled, key);
			second = profile_get_info(simulated, key);
			/* What both have is told once. */
			if ((k && first) || (first && second && strcmp(first, second) == 0))
				continue;
			cli_warning("the runs differ in the variable %s: sampled %s%s%s, simulated %s%s%s",
				    key + strlen(PROFILE_VARIABLE), first ? "with '" : "without it", first ? first : "",
				    first ? "'" : "", second ? "with '" : "without it", second ? second : "",
				    second ? "'" : "");
			cli_hint("sample and simulate in the same environment");
		}
	}
}

/* What both say of their runs must not differ. */
static void compare_runs(const struct profile *sampled, const struct profile *simulated)
{
	for (size_t i = 0; i < sampled->info_count; i++) {
		const char *key = profile_get_text(sampled, sampled->infos[i].key), *other;
		const char *value = profile_get_text(sampled, sampled->infos[i].value);

		if (strcmp(key, "cmd") != 0 && strcmp(key, "environment") != 0 && strcmp(key, PROFILE_INPUT) != 0 &&
		    strncmp(key, PROFILE_BUILD_ID, strlen(PROFILE_BUILD_ID)) != 0)
			continue;
		other = profile_get_info(simulated, key);
		if (!other || strcmp(other, value) == 0)
			continue;
		cli_warning("the runs differ in %s: '%s' was sampled, '%s' was simulated", key, value, other);
		cli_hint("sample and simulate the same program with the same work");
	}
	compare_variables(sampled, simulated);
}

static int write_result(const struct cli_arguments *arguments, const struct profile *completed)
{
	FILE *stream = profile_open(arguments);

	return stream ? profile_close(arguments, stream, profile_write(stream, completed)) : STATUS_USAGE;
}

int profile_join(const struct cli_arguments *arguments, const struct profile *sampled, const struct profile *simulated,
		 struct profile **completed)
{
	const struct profile_completion completion = {
		.by = (enum profile_by)arguments->options[OPTION_BY].number,
		.collapse = cli_has(arguments, OPTION_COLLAPSE),
	};
	struct asterism_diag *diag = asterism_diag_new();
	int result = profile_complete(sampled, simulated, &completion, diag, completed);

	cli_print(diag);
	asterism_diag_free(diag);
	if (result)
		return STATUS_USAGE;
	compare_runs(sampled, simulated);
	if (profile_is_part(sampled))
		cli_note("the simulation is of the whole run: callers get the shares that they have there, which may "
			 "be others within the %s",
			 profile_get_info(sampled, "between") ? "matches" : "thread");
	profile_warn(*completed);
	return STATUS_FINE;
}

int profile_complete_run(const struct cli_arguments *arguments, const char **operands)
{
	struct profile *sampled = NULL, *simulated = NULL, *completed = NULL;
	int first, second = STATUS_FINE, status = STATUS_USAGE;

	if (cli_has(arguments, OPTION_COLLAPSE) && arguments->options[OPTION_BY].number == PROFILE_BY_CONTEXTS) {
		cli_error("--collapse cannot be used with --by contexts, which does not need functions to be merged");
		return STATUS_USAGE;
	}
	first = profile_load(operands[0], &sampled);
	if (!first || first == STATUS_LOST)
		second = profile_load(operands[1], &simulated);
	if (sampled && simulated)
		status = profile_choose_thread(arguments, sampled);
	if (sampled && simulated && !status)
		status = profile_join(arguments, sampled, simulated, &completed);
	if (completed)
		status = write_result(arguments, completed);
	profile_free(completed);
	profile_free(sampled);
	profile_free(simulated);
	return status ? status : first ? first : second;
}
