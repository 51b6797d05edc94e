// SPDX-License-Identifier: BSD-2-Clause
/* Loads profiles for `asterism profile`, and opens what it writes. */

#include "base/alloc.h"
#include "cli/print.h"
#include "cmd/options/options.h"
#include "cmd/options/status.h"
#include "cmd/profile/profile-priv.h"
#include "cmd/text/output.h"
#include "profile/complete.h"
#include "profile/formula.h"
#include "profile/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int load_no_memory(void)
{
	cli_error("out of memory");
	return STATUS_USAGE;
}

static int read_profile_file(const char *file, struct diag_source *source, struct asterism_diag *diag)
{
	bool is_input = strcmp(file, "-") == 0;
	int fd = is_input ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC), result;
	char *text = NULL;

	if (fd < 0)
		return diag_error(diag, NULL, -errno, "cannot read %s: %s", file, strerror(errno));
	result = profile_read_text(fd, file, diag, &text, &source->length);
	if (!is_input)
		close(fd);
	source->file = file;
	source->text = text;
	return result;
}

int profile_load_text(const char *file, struct diag_source *source)
{
	struct asterism_diag *diag = asterism_diag_new();
	int result = diag ? read_profile_file(file, source, diag) : -ENOMEM;

	cli_print(diag);
	asterism_diag_free(diag);
	return result ? STATUS_USAGE : STATUS_FINE;
}

int profile_load_of_program(const char *file, const char *program, struct profile **profile)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct diag_source source = { 0 };
	int result, fd = -1;

	if (!diag)
		return load_no_memory();
	result = read_profile_file(file, &source, diag);
	if (!result && !profile_is_gmon(&source)) {
		result = diag_error(diag, NULL, -EINVAL, "%s is not what a program built with -pg writes", file);
		diag_hint(diag, "other profiles need no program: asterism profile import FILE");
	}
	if (!result && (fd = open(program, O_RDONLY | O_CLOEXEC)) < 0)
		result = diag_error(diag, NULL, -errno, "cannot read %s: %s", program, strerror(errno));
	if (!result)
		result = profile_read_gmon(&source, fd, program, diag, profile);
	if (fd >= 0)
		close(fd);
	cli_print(diag);
	asterism_diag_free(diag);
	alloc_free((char *)source.text);
	return result ? STATUS_USAGE : STATUS_FINE;
}

static int load_profile_file(const char *file,
			     int (*read)(const struct diag_source *, struct asterism_diag *, struct profile **),
			     struct profile **profile)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct diag_source source = { 0 };
	int result;

	if (!diag)
		return load_no_memory();
	result = read_profile_file(file, &source, diag);
	if (!result)
		result = read(&source, diag, profile);
	cli_print(diag);
	asterism_diag_free(diag);
	alloc_free((char *)source.text);
	if (result)
		return STATUS_USAGE;
	return (*profile)->missing > 0 ? STATUS_LOST : STATUS_FINE;
}

int profile_load(const char *file, struct profile **profile)
{
	return load_profile_file(file, profile_read, profile);
}

/* Of a simulation, what the quotient heuristic makes of its own costs is what it says itself. */
static int complete_itself(struct profile **profile)
{
	const struct profile_completion completion = { .by = PROFILE_BY_QUOTIENT };
	struct profile *completed;
	const char *rate = profile_get_info(*profile, "samples-per-second");
	bool has_costs = false;

	for (size_t i = 0; i < (*profile)->edge_count * (*profile)->event_count; i++)
		has_costs = has_costs || (*profile)->costs[i] > 0;
	if (profile_complete(*profile, *profile, &completion, NULL, &completed))
		return load_no_memory();
	/* Where calls have no costs, as in gmon.out, numbers of calls have shared them: that is an estimate. */
	for (size_t i = 0; has_costs && i < completed->function_count; i++)
		completed->functions[i].origin = PROFILE_MEASURED;
	for (size_t i = 0; has_costs && i < completed->edge_count; i++)
		completed->edges[i].origin = PROFILE_MEASURED;
	completed->info_count = 0;
	if (profile_copy_descriptions(*profile, completed) ||
	    (rate && profile_set_info(completed, "samples-per-second", rate))) {
		profile_free(completed);
		return load_no_memory();
	}
	profile_free(*profile);
	*profile = completed;
	return STATUS_FINE;
}

int profile_load_completed(const char *file, bool with_places, struct profile **profile)
{
	int status = load_profile_file(file, with_places ? profile_read : profile_read_functions, profile), failed;

	if ((status && status != STATUS_LOST) || (*profile)->is_completed || !(*profile)->edge_count)
		return status;
	failed = complete_itself(profile);
	return failed ? failed : status;
}

static int derive_event(struct profile *profile, const char *text)
{
	struct asterism_diag *diag = asterism_diag_new();
	int event = diag ? profile_derive_event(profile, text, diag) : -ENOMEM;

	cli_print(diag);
	asterism_diag_free(diag);
	return event < 0 ? -1 : event;
}

int profile_chosen_event(const struct cli_arguments *arguments, struct profile *profile)
{
	const char *name = arguments->options[OPTION_COST].text, *names[PROFILE_EVENTS_MAX], *nearest;
	int event = name ? profile_find_event(profile, name) : 0;

	if (event >= 0)
		return event;
	if (profile_has_formula(profile, name))
		return derive_event(profile, name);
	for (unsigned i = 0; i < profile->event_count; i++)
		names[i] = profile_get_text(profile, profile->events[i]);
	nearest = diag_nearest(name, names, profile->event_count);
	cli_error("the profile has no costs in '%s'", name);
	cli_hint("it has %s%s", nearest ? nearest : names[0], profile->event_count > 1 ? ", and others" : "");
	return -1;
}

bool profile_wants_json(const struct cli_arguments *arguments)
{
	return arguments->options[OPTION_FORMAT_EVENTS].number == 1;
}

static const char *output_of(const struct cli_arguments *arguments)
{
	const char *file = arguments->options[OPTION_OUTPUT].text;

	return file && strcmp(file, "-") != 0 ? file : NULL;
}

FILE *profile_open(const struct cli_arguments *arguments)
{
	const char *file = output_of(arguments);
	FILE *stream;
	int fd;

	if (!file)
		return stdout;
	fd = cmd_output_open(arguments, file);
	if (fd < 0)
		return NULL;
	stream = fdopen(fd, "w");
	if (!stream) {
		close(fd);
		load_no_memory();
	}
	return stream;
}

int profile_close(const struct cli_arguments *arguments, FILE *stream, int result)
{
	const char *file = output_of(arguments);

	errno = 0;
	if (!result && fflush(stream))
		result = -errno;
	if (file && fclose(stream) && !result)
		result = -errno;
	if (result && result != -EPIPE)
		cli_error("cannot write %s: %s", file ? file : "standard output", strerror(-result));
	return result && result != -EPIPE ? STATUS_USAGE : STATUS_FINE;
}

double profile_info_number(const struct profile *profile, const char *key)
{
	const char *value = profile_get_info(profile, key);

	return value ? strtod(value, NULL) : 0;
}
