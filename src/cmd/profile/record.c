// SPDX-License-Identifier: BSD-2-Clause
/* `asterism profile record`, `run`: a command is sampled; `run` simulates it, too, and joins the two. */

#include "base/diag.h"
#include "cli/print.h"
#include "cmd/input/library.h"
#include "cmd/input/rules.h"
#include "cmd/options/options.h"
#include "cmd/options/status.h"
#include "cmd/profile/profile-priv.h"
#include "cmd/text/output.h"
#include "profile/complete.h"
#include "profile/sample/sample.h"
#include "profile/sample/surroundings.h"
#include "profile/write.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { FREQUENCY = 997, FREQUENCY_MAX = 100000, RECORDED_SAMPLES_FEW = 1000 };

/* Shares of what is told without being asked for. */
#define KERNEL_MUCH    0.1
#define ELSEWHERE_MUCH 0.01

static volatile sig_atomic_t stop;

static void profile_on_signal(int number)
{
	stop = number;
}

/* Whoever wants us to end has what was sampled written. The command keeps its own ways with signals. */
static void catch_signals(void)
{
	const struct sigaction action = { .sa_handler = profile_on_signal };

	struct sigaction before;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* nohup wants hangups ignored. */
	if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
}

static void tell_sample_outcome(const struct sample_outcome *outcome)
{
	if (outcome->lost) {
		cli_warning("%llu samples or records of what was mapped were lost: the profile is incomplete",
			    (unsigned long long)outcome->lost);
		cli_hint("sample less often (-F, -c), or give asterism a CPU of its own");
	}
	if (outcome->kernel > KERNEL_MUCH) {
		cli_note("%.0f %% of the time was in the kernel, and is not in the profile", 100 * outcome->kernel);
		cli_hint("'asterism run @top-syscalls -- COMMAND' says which system calls take it");
	}
	if ((double)outcome->elsewhere > ELSEWHERE_MUCH * (double)outcome->samples)
		cli_warning("%llu of %llu samples were in memory that no file is mapped to, such as code that was "
			    "made at run time: they are called [unknown]",
			    (unsigned long long)outcome->elsewhere, (unsigned long long)outcome->samples);
}

static void tell_between(const struct sample_between *between, uint64_t samples)
{
	cli_note("%llu samples, %llu within %llu matches", (unsigned long long)(samples + between->outside),
		 (unsigned long long)samples, (unsigned long long)between->matches);
	if (between->lost || between->is_cut) {
		cli_warning("%llu events or matches of the rules were lost%s: samples that lie between them are not in "
			    "the profile",
			    (unsigned long long)between->lost,
			    between->is_cut ? ", and the rules did not run to the end" : "");
		cli_hint("'asterism run' with the same rules and command says what was lost, and where");
	}
	if (between->late)
		cli_warning("%llu matches began so long ago that their first samples were not kept",
			    (unsigned long long)between->late);
	if (between->tainted)
		cli_warning("%llu matches may be wrong, as events were lost meanwhile",
			    (unsigned long long)between->tainted);
	if (between->unusable)
		cli_warning("%llu matches return no interval: `began` is missing, or later than `ended`, or this is "
			    "later than the match",
			    (unsigned long long)between->unusable);
	if (!between->matches) {
		cli_warning("the rules did not match, so the profile is empty");
		cli_hint("'asterism run -v' with the same rules and command shows how far they got");
	} else if (!samples) {
		cli_warning("no sample lies within a match, so the profile is empty");
		cli_hint("the matches take %.3g s in all: sample more often (-F)", between->seconds);
	}
}

static bool lacks_matches(const struct sample_between *between)
{
	return between->lost || between->late || between->is_cut || between->unusable || between->tainted;
}

/* --between: a file, a shipped rule, or a text; no name of a rule file has such brackets. *rules is NULL without. */
static int read_between_rules(const struct cli_arguments *arguments, struct session_rules **rules)
{
	const char *wanted = arguments->options[OPTION_BETWEEN].text;
	struct session_rules_file text = { .path = "--between", .text = wanted, .bare_rule = "rule" };
	struct library_files files = { 0 };
	int status;

	*rules = NULL;
	if (!wanted && cli_has(arguments, OPTION_SET)) {
		cli_error("--set is for the rules of --between");
		return STATUS_USAGE;
	}
	if (!wanted)
		return STATUS_FINE;
	text.length = strlen(wanted);
	if (strpbrk(wanted, "[{") && access(wanted, F_OK))
		status = library_add(&files, &text);
	else
		status = library_resolve(&wanted, 1, &files);
	if (!status)
		status = cmd_read_files(arguments, files.files, files.count, rules);
	library_files_fini(&files);
	return status;
}

static int fail_status(int error)
{
	return error == -EINVAL || error == -ENOMEM || error == -EAGAIN ? STATUS_USAGE : STATUS_KERNEL;
}

static FILE *open_samples(const struct cli_arguments *arguments)
{
	int fd = cmd_output_open(arguments, arguments->options[OPTION_SAMPLES].text);
	FILE *stream = fd < 0 ? NULL : fdopen(fd, "w");

	if (!stream && fd >= 0) {
		close(fd);
		cli_error("out of memory");
	}
	return stream;
}

static int close_samples(const struct cli_arguments *arguments, FILE *stream)
{
	bool has_failed = ferror(stream);

	if (!fclose(stream) && !has_failed)
		return STATUS_FINE;
	cli_error("cannot write %s: %s", arguments->options[OPTION_SAMPLES].text, strerror(errno));
	return STATUS_USAGE;
}

/* *sampled is there unless it returns STATUS_USAGE or STATUS_KERNEL and *has_failed. */
static int sample(const struct cli_arguments *arguments, const struct session_rules *rules, struct profile **sampled,
		  int *command_status)
{
	struct sample_options options = {
		.command = arguments->launched,
		.period = arguments->options[OPTION_COUNT_EVENTS].number,
		.frequency = arguments->options[OPTION_FREQUENCY].number,
		.has_jitter = cli_has(arguments, OPTION_JITTER),
		.rules = rules,
	};
	char event[PROFILE_EVENT_BYTES];
	struct asterism_diag *diag;
	struct sample_outcome outcome;
	int result, written = STATUS_FINE;

	if (profile_choose_sampling(arguments, &options, event))
		return STATUS_USAGE;
	if (!options.frequency)
		options.frequency = FREQUENCY;
	if (options.frequency > FREQUENCY_MAX) {
		cli_error("-F takes up to %d samples per second", FREQUENCY_MAX);
		return STATUS_USAGE;
	}
	if (cli_has(arguments, OPTION_SAMPLES)) {
		options.samples = open_samples(arguments);
		if (!options.samples)
			return STATUS_USAGE;
	}
	diag = asterism_diag_new();
	options.stop = &stop;
	catch_signals();
	result = diag ? sample_command(&options, diag, sampled, &outcome) : -ENOMEM;
	cli_print(diag);
	asterism_diag_free(diag);
	if (options.samples)
		written = close_samples(arguments, options.samples);
	if (result)
		return fail_status(result);
	if (written)
		return written;
	tell_sample_outcome(&outcome);
	if (rules)
		tell_between(&outcome.between, outcome.samples);
	*command_status = outcome.status;
	return outcome.lost || lacks_matches(&outcome.between) ? STATUS_LOST : STATUS_FINE;
}

int profile_record_run(const struct cli_arguments *arguments, const char **operands)
{
	struct session_rules *rules;
	struct profile *sampled = NULL;
	int command = STATUS_FINE, status, written;
	FILE *stream;

	(void)operands;
	if (!arguments->options[OPTION_OUTPUT].text) {
		cli_error("name the profile with -o: standard output belongs to the command");
		cli_hint("asterism profile record -o samples -- COMMAND");
		return STATUS_USAGE;
	}
	status = read_between_rules(arguments, &rules);
	if (status)
		return status;
	/* What cannot be written is found out before the command runs. */
	stream = profile_open(arguments);
	if (!stream) {
		session_rules_free(rules);
		return STATUS_USAGE;
	}
	status = sample(arguments, rules, &sampled, &command);
	written = profile_close(arguments, stream, sampled ? profile_write(stream, sampled) : 0);
	if (sampled && rules && !sampled->samples && !command)
		command = STATUS_MATCH; /* as of grep: nothing was found */
	if (sampled && sampled->samples < RECORDED_SAMPLES_FEW && (sampled->samples || !rules)) {
		cli_warning("only %.0f samples were taken: with fewer than %d, errors are large", sampled->samples,
			    RECORDED_SAMPLES_FEW);
		cli_hint("let it run longer, or sample more often (-F)");
	}
	profile_free(sampled);
	session_rules_free(rules);
	return written ? written : status ? status : command;
}

/* -o keeps it. */
static int show_profile(const struct cli_arguments *arguments, struct profile *profile)
{
	int status = profile_report(arguments, profile);
	FILE *stream;

	if (!status && arguments->options[OPTION_OUTPUT].text) {
		stream = profile_open(arguments);
		status = stream ? profile_close(arguments, stream, profile_write(stream, profile)) : STATUS_USAGE;
	}
	return status;
}

static int show_joined(const struct cli_arguments *arguments, const struct profile *sampled,
		       const struct profile *simulated)
{
	struct profile *completed = NULL;
	int status = profile_join(arguments, sampled, simulated, &completed);

	if (!status)
		status = show_profile(arguments, completed);
	profile_free(completed);
	return status;
}

/* What would be refused at the end is refused before the command runs, twice and slowly. */
static int check_contexts(const struct cli_arguments *arguments)
{
	if (arguments->options[OPTION_BY].number != PROFILE_BY_CONTEXTS || cli_has(arguments, OPTION_CONTEXTS))
		return STATUS_FINE;
	cli_error("--by contexts needs a simulation that has contexts");
	cli_hint("asterism profile run --by contexts --contexts 30 -- COMMAND");
	return STATUS_USAGE;
}

int profile_run_run(const struct cli_arguments *arguments, const char **operands)
{
	struct session_rules *rules;
	struct profile *sampled = NULL, *simulated = NULL;
	int command = STATUS_FINE, status, status_simulated = STATUS_FINE, failed = STATUS_USAGE;
	off_t input_begin = profile_input_begin();
	bool is_empty;

	(void)operands;
	if (check_contexts(arguments) || profile_check_valgrind())
		return STATUS_USAGE;
	status = read_between_rules(arguments, &rules);
	if (status)
		return status;
	status = sample(arguments, rules, &sampled, &command);
	if (stop == SIGTERM || stop == SIGHUP) {
		cli_note("interrupted while it was sampled: nothing is simulated");
		failed = STATUS_SIGNAL + stop;
		goto out;
	}
	is_empty = sampled && rules && !sampled->samples;
	if (sampled && command)
		cli_warning("the sampled run ended with status %d", command);
	if (sampled && !is_empty) {
		profile_rewind_input(input_begin);
		status_simulated = profile_simulate(arguments, &simulated);
	}
	if (is_empty) {
		failed = show_profile(arguments, sampled);
		status_simulated = STATUS_MATCH; /* as of grep: nothing was found, and there is nothing to share */
	} else if (sampled && simulated) {
		failed = show_joined(arguments, sampled, simulated);
	} else if (status && !sampled) {
		failed = status;
	} else if (status_simulated) {
		failed = status_simulated;
	}
out:
	profile_free(sampled);
	profile_free(simulated);
	session_rules_free(rules);
	return failed ? failed : status ? status : status_simulated;
}
