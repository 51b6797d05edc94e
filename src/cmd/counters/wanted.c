// SPDX-License-Identifier: BSD-2-Clause
/* Finds the type that a name means, and where its values are from. */

#include "base/diag.h"
#include "cli/print.h"
#include "cmd/counters/counters-priv.h"
#include "cmd/counters/fake.h"
#include "cmd/options/options.h"
#include "cmd/options/status.h"

bool counters_want_json(const struct cli_arguments *arguments)
{
	return arguments->options[OPTION_FORMAT_EVENTS].number == 1;
}

const struct counter_type *counters_wanted(const struct counters *counters, const char *name)
{
	const struct counter_type *type = counters_find(counters, name);
	const char *names[COUNTERS_MAX], *nearest;

	if (type)
		return type;
	for (size_t i = 0; i < counters->type_count; i++)
		names[i] = counters->types[i].name;
	nearest = diag_nearest(name, names, counters->type_count);
	cli_error("unknown counter '%s'", name);
	if (nearest)
		cli_hint("did you mean %s?", nearest);
	else
		cli_hint("'asterism counters list' shows all counters");
	return NULL;
}

int counters_fake(struct meter_fake **fake)
{
	struct asterism_diag *diag = asterism_diag_new();
	int result = meter_fake_of_environment(diag, fake);

	cli_print(diag);
	asterism_diag_free(diag);
	return result ? STATUS_USAGE : STATUS_FINE;
}
