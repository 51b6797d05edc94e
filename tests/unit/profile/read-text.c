// SPDX-License-Identifier: BSD-2-Clause
/* Profiles from texts, and what is in them. */

#include "read-text.h"

#include "profile/read.h"

#include <errno.h>
#include <math.h>
#include <string.h>

struct profile *read_text(const char *text)
{
	const struct diag_source source = { .file = "text", .text = text, .length = strlen(text) };
	struct asterism_diag *diag = asterism_diag_new();
	struct profile *profile = NULL;
	int result = profile_read(&source, diag, &profile);

	if (result || asterism_diag_count(diag, ASTERISM_NOTE))
		fail_msg("%s", asterism_diag_get(diag, 0)->text);
	asterism_diag_free(diag);
	return profile;
}

void expect_wrong(const char *text, unsigned line, const char *wanted)
{
	const struct diag_source source = { .file = "text", .text = text, .length = strlen(text) };
	struct asterism_diag *diag = asterism_diag_new();
	struct profile *profile = NULL;

	assert_int_equal(profile_read(&source, diag, &profile), -EINVAL);
	assert_null(profile);
	assert_int_equal(asterism_diag_count(diag, ASTERISM_NOTE), 1);
	assert_string_equal(asterism_diag_get(diag, 0)->text, wanted);
	assert_int_equal(asterism_diag_get(diag, 0)->line, line);
	asterism_diag_free(diag);
}

void near(double value, double wanted, double distance)
{
	if (!(fabs(value - wanted) <= distance))
		fail_msg("%.17g is not %.17g", value, wanted);
}

uint32_t function_of(const struct profile *profile, const char *name)
{
	size_t step = 0;
	uint32_t function = profile_find_name(profile, name, &step);

	if (function == HASH_NONE)
		fail_msg("there is no function %s", name);
	return function;
}

double inclusive_of(const struct profile *profile, const char *name)
{
	return *profile_inclusive(profile, function_of(profile, name));
}

double call_cost(const struct profile *profile, const char *caller, const char *callee)
{
	uint32_t edge = profile_find_edge(profile, function_of(profile, caller), function_of(profile, callee));

	return edge == HASH_NONE ? NAN : *profile_cost(profile, edge);
}
