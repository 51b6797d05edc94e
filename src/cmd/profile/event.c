// SPDX-License-Identifier: BSD-2-Clause
/* Parses -e of `asterism profile record`: an event and, behind a colon, how it is sampled. */

#include "cli/print.h"
#include "cmd/options/options.h"
#include "cmd/options/status.h"
#include "cmd/profile/profile-priv.h"
#include "profile/sample/registers.h"
#include "profile/sample/sample.h"

#include <string.h>

enum { PRECISE_MAX = 3 };

static int refuse(const char *event, const char *why, const char *hint)
{
	cli_error("'%s' cannot be sampled: %s", event, why);
	cli_hint("%s", hint);
	return STATUS_USAGE;
}

static int take_modifiers(const char *typed, const char *modifiers, unsigned *precise)
{
	for (; *modifiers; modifiers++) {
		if (*modifiers == 'p' && ++*precise <= PRECISE_MAX)
			continue;
		if (*modifiers == 'k' || *modifiers == 'h')
			return refuse(typed, "time in the kernel or a hypervisor is not part of a profile",
				      "leave the modifier out; 'asterism run @top-syscalls -- COMMAND' is about the "
				      "kernel");
		if (*modifiers != 'u')
			return refuse(typed, "modifiers are u (user code, which is the default) and p to ppp (precise)",
				      "such as -e cycles:pp");
	}
	return STATUS_FINE;
}

int profile_choose_sampling(const struct cli_arguments *arguments, struct sample_options *options,
			    char name[PROFILE_EVENT_BYTES])
{
	const char *typed = arguments->options[OPTION_COST].text, *colon = typed ? strchr(typed, ':') : NULL;
	int status;

	options->event = typed;
	options->has_registers = cli_has(arguments, OPTION_SAMPLED_REGISTERS);
	if (options->has_registers && !sample_register_count)
		return refuse("--registers", "asterism does not know the registers of this processor",
			      "it knows those of x86-64 and arm64");
	if (options->has_registers && !cli_has(arguments, OPTION_SAMPLES)) {
		cli_error("--registers needs a file for the samples");
		cli_hint("asterism profile record --samples samples.csv --registers -o profile -- COMMAND");
		return STATUS_USAGE;
	}
	if (cli_has(arguments, OPTION_SAMPLES) && cli_has(arguments, OPTION_BETWEEN)) {
		cli_error("--samples and --between exclude each other: which samples count is known only when a match "
			  "ends");
		return STATUS_USAGE;
	}
	if (!colon)
		return STATUS_FINE;
	if (strncmp(typed, "mem:", 4) == 0)
		return refuse(typed, "samples are not taken by address of data or code, or by instruction",
			      "'perf record -e mem:ADDRESS:rw' takes those of one address; 'perf script' of it is a "
			      "profile");
	if ((size_t)(colon - typed) >= PROFILE_EVENT_BYTES)
		return refuse(typed, "the name is too long", "such as -e cycles:pp");
	status = take_modifiers(typed, colon + 1, &options->precise);
	memcpy(name, typed, (size_t)(colon - typed));
	name[colon - typed] = 0;
	options->event = name;
	options->label = typed;
	return status;
}
