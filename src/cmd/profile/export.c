// SPDX-License-Identifier: BSD-2-Clause
/* `asterism profile export`, `import`: profiles in the formats of others. */

#include "base/alloc.h"
#include "cli/print.h"
#include "cmd/options/options.h"
#include "cmd/options/status.h"
#include "cmd/profile/annotate-priv.h"
#include "cmd/profile/profile-priv.h"
#include "profile/formula.h"
#include "profile/stacks/paths.h"
#include "profile/write.h"

#include <errno.h>

/* Thinner paths are not shown. */
#define LEAST 1e-4

/* In the order of the choices of -t. */
static const struct {
	int (*write)(FILE *stream, const struct profile *profile);
	bool has_lines; /* where the profile has them */
	int (*write_stacks)(FILE *stream, const struct profile *profile, double least, double *left_out);
} types[] = {
	{ .write = profile_write_callgrind, .has_lines = true },
	{ .write = profile_write_csv },
	{ .write_stacks = profile_write_folded },
	{ .write_stacks = profile_write_pprof },
	{ .write_stacks = profile_write_speedscope },
	{ .write_stacks = profile_write_svg },
};

static int write_as(const struct profile *profile, unsigned type, FILE *stream)
{
	double left_out = 0, total = profile_total(profile, 0);
	int result;

	if (types[type].write)
		return types[type].write(stream, profile);
	result = types[type].write_stacks(stream, profile, LEAST, &left_out);
	if (!result)
		cli_note("the stacks are estimated: each function's cost is spread below it as if it did not matter "
			 "what called it");
	if (!result && total > 0 && left_out > 0.01 * total)
		cli_note("%.1f %% of the cost counts for the last function shown of its stack, because what is below "
			 "is too thin or recursive",
			 100 * left_out / total);
	return result;
}

/* Samples have addresses, whose lines are known where the object has them. */
static int locate_all(struct profile *profile)
{
	bool *all = alloc_zero(profile->function_count + 1, sizeof *all);
	int result = all ? 0 : -ENOMEM;

	for (uint32_t i = 0; all && i < profile->function_count; i++)
		all[i] = true;
	if (!result)
		result = annotate_locate(profile, all, "costs there are at no line");
	alloc_free(all);
	if (result)
		cli_error("out of memory");
	return result;
}

int profile_export_run(const struct cli_arguments *arguments, const char **operands)
{
	unsigned type = (unsigned)arguments->options[OPTION_EXPORT].number;
	struct profile *profile = NULL;
	int status = profile_load_completed(operands[0], types[type].has_lines, &profile), failed = STATUS_USAGE;
	FILE *stream;

	if (profile && (!status || status == STATUS_LOST)) {
		int event = cli_has(arguments, OPTION_COST) ? profile_chosen_event(arguments, profile) : PROFILE_NONE;

		if (event >= 0)
			profile_keep_event(profile, (unsigned)event);
		if (event < 0 && cli_has(arguments, OPTION_COST))
			failed = STATUS_USAGE;
		else if (types[type].write_stacks && !profile->is_completed)
			cli_error("%s has no calls, so there are no stacks in it", operands[0]);
		else if ((!types[type].has_lines || !locate_all(profile)) && (stream = profile_open(arguments)))
			failed = profile_close(arguments, stream, write_as(profile, type, stream));
	}
	profile_free(profile);
	return failed ? failed : status;
}

int profile_import_run(const struct cli_arguments *arguments, const char **operands)
{
	struct profile *profile = NULL;
	bool has_program = arguments->operand_count > 2;
	int status = has_program ? profile_load_of_program(operands[0], operands[1], &profile)
				 : profile_load(operands[0], &profile);
	int failed = STATUS_USAGE;
	FILE *stream;

	if (profile && (!status || status == STATUS_LOST)) {
		if (profile->context_count)
			cli_note("contexts are left out: --by contexts needs the simulation itself");
		stream = profile_open(arguments);
		if (stream)
			failed = profile_close(arguments, stream, profile_write(stream, profile));
	}
	profile_free(profile);
	return failed ? failed : status;
}
